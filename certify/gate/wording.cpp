#include "certify/gate/wording.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "certify/gate/report.hpp"
#include "certify/names.hpp"

namespace spatialcert::certify::gate {
namespace {

constexpr Cost kCounts[] = {Cost::ops, Cost::transitions, Cost::semaphores, Cost::fifo_pages,
                            Cost::phases};

std::string standing_text(const Side& side) {
  std::string text(to_string(side.standing));
  if (side.standing == Standing::certified || side.detail.empty()) return text;
  return text + (side.standing == Standing::refuted ? " " : ": ") + side.detail;
}

std::string cost_name(Cost cost) {
  std::string name(to_string(cost));
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// Names of spaces of any program, as they first occur.
std::vector<std::string> spaces_of(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const Pair& pair : comparison.pairs) {
    for (const auto* side : {&pair.baseline, &pair.candidate}) {
      if (!*side || !(*side)->costs) continue;
      for (const SpaceUse& use : (*side)->costs->memory) {
        if (std::find(names.begin(), names.end(), use.space) == names.end())
          names.push_back(use.space);
      }
    }
  }
  return names;
}

std::vector<std::optional<std::uint64_t>> figures(const std::optional<Side>& side,
                                                  const std::vector<std::string>& spaces) {
  std::vector<std::optional<std::uint64_t>> out(std::size(kCounts) + spaces.size());
  if (!side || !side->costs) return out;
  for (std::size_t i = 0; i < std::size(kCounts); ++i) out[i] = side->costs->figure(kCounts[i]);
  for (std::size_t i = 0; i < spaces.size(); ++i)
    out[std::size(kCounts) + i] = side->costs->figure(Cost::memory, spaces[i]);
  return out;
}

bool are_equal(const CostRow& row) {
  return std::all_of(row.cells.begin(), row.cells.end(),
                     [](const CostCell& cell) { return cell.before == cell.after; });
}

void add(std::optional<std::uint64_t>& total, std::optional<std::uint64_t> more, bool largest) {
  if (!more) return;
  const std::uint64_t old = total.value_or(0);
  const std::uint64_t sum = old > UINT64_MAX - *more ? UINT64_MAX : old + *more;
  total = largest ? std::max(old, *more) : sum;
}

}  // namespace

bool is_bad(Change change) {
  return change != Change::fixed && change != Change::added && change != Change::held;
}

std::string entry_text(const Comparison& comparison, const Entry& entry) {
  const Pair& pair = comparison.pairs[entry.pair];
  if (!pair.candidate) {
    std::string text = "not in the candidate; was " + standing_text(*pair.baseline);
    if (entry.exception)
      text += "; " + exception_text(comparison.policy.exceptions[*entry.exception]);
    return text;
  }
  std::string text = standing_text(*pair.candidate);
  if (entry.change == Change::lacking) text += ", but without a rule that the policy requires";
  if (!pair.baseline) return text + "; a new program";
  if (pair.baseline->standing != pair.candidate->standing ||
      pair.baseline->detail != pair.candidate->detail)
    text += "; was " + standing_text(*pair.baseline);
  return text;
}

std::string exception_text(const Exception& exception) {
  return fmt::format("excused until {}: {}", exception.until, exception.reason);
}

std::string open_text(const Comparison& comparison, const Entry& entry, const OpenRule& open) {
  const RuleState& state = comparison.pairs[entry.pair].candidate->rules[open.state];
  std::string text =
      fmt::format("{} {}{}{}", proofs::to_string(state.rule), to_string(state.verdict),
                  state.detail.empty() ? "" : ": ", state.detail);
  if (open.exception) text += "; " + exception_text(comparison.policy.exceptions[*open.exception]);
  return text;
}

std::vector<std::string> discarded_certificates(const Comparison& comparison) {
  std::vector<std::string> out;
  for (const Pair& pair : comparison.pairs) {
    for (const auto* side : {&pair.baseline, &pair.candidate}) {
      if (!*side) continue;
      const char* which = side == &pair.baseline ? "baseline" : "candidate";
      for (const std::string& why : (*side)->discarded)
        out.push_back(fmt::format("{} of the {}: {}", pair.name, which, why));
    }
  }
  return out;
}

std::string evidence_text(const Comparison& comparison) {
  std::size_t taken = 0, anew = 0;
  for (const Pair& pair : comparison.pairs) {
    if (!pair.candidate) continue;
    const Evidence evidence = pair.candidate->evidence;
    taken += evidence == Evidence::certificate || evidence == Evidence::twin_certificate;
    anew += evidence == Evidence::judged_anew;
  }
  return fmt::format("{} taken from certificates after a recheck, {} judged anew", taken, anew);
}

CostTable cost_table(const Comparison& comparison) {
  const std::vector<std::string> spaces = spaces_of(comparison);
  CostTable table;
  for (const Cost cost : kCounts) table.columns.push_back(cost_name(cost));
  for (const std::string& space : spaces) table.columns.push_back("memory " + space);
  table.total.cells.resize(table.columns.size());
  for (const Pair& pair : comparison.pairs) {
    const auto before = figures(pair.baseline, spaces);
    const auto after = figures(pair.candidate, spaces);
    const bool both = before[0].has_value() && after[0].has_value();
    CostRow row{pair.name, {}};
    for (std::size_t i = 0; i < before.size(); ++i) {
      row.cells.push_back({before[i], after[i]});
      if (!both) continue;
      const bool largest = i >= std::size(kCounts);
      add(table.total.cells[i].before, before[i], largest);
      add(table.total.cells[i].after, after[i], largest);
    }
    table.both += both ? 1 : 0;
    if (!before[0] && !after[0]) continue;  // refused, or a fault
    if (are_equal(row)) {
      ++table.unchanged;
    } else {
      table.rows.push_back(std::move(row));
    }
  }
  table.total.name = fmt::format("total of {} in both",
                                 count_text(static_cast<std::int64_t>(table.both), "program"));
  return table;
}

std::string cell_text(const CostCell& cell) {
  if (!cell.before && !cell.after) return "";
  if (!cell.before) return fmt::format("-> {}", *cell.after);
  if (!cell.after) return fmt::format("{} ->", *cell.before);
  if (*cell.before == *cell.after) return fmt::format("{}", *cell.after);
  std::string text = fmt::format("{} -> {}", *cell.before, *cell.after);
  if (*cell.before == 0) return text;
  const double change =
      100.0 * (static_cast<double>(*cell.after) / static_cast<double>(*cell.before) - 1.0);
  return text + fmt::format(" ({:+.1f} %)", change);
}

std::string headline(const Comparison& comparison) {
  std::string text;
  const auto add_count = [&](std::size_t count, std::string_view what) {
    if (count != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  for (std::size_t c = 0; c < kChanges; ++c) {
    const auto change = static_cast<Change>(c);
    std::size_t excused = 0;
    for (const Entry& entry : comparison.entries)
      excused += entry.change == change && entry.excused ? 1 : 0;
    add_count(comparison.totals.of[c] - excused, to_string(change));
  }
  add_count(comparison.totals.excused, "excused");
  add_count(comparison.violations.size(), comparison.violations.size() == 1
                                              ? "violation of the policy"
                                              : "violations of the policy");
  add_count(comparison.refusals.size(), comparison.refusals.size() == 1
                                            ? "unreadable folder or file"
                                            : "unreadable folders or files");
  add_count(comparison.faults.size(), "faults of spatialcert's own");
  if (comparison.exit_status == 64)
    text = fmt::format("nothing to compare: {} programs in the baseline, {} in the candidate",
                       comparison.totals.baseline, comparison.totals.candidate);
  return fmt::format("{}: {}", comparison.exit_status == 0 ? "passed" : "failed", text);
}

}  // namespace spatialcert::certify::gate
