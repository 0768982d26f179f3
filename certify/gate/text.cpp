#include <fmt/format.h>

#include <algorithm>

#include "certify/gate/report.hpp"
#include "certify/gate/wording.hpp"

namespace spatialcert::certify::gate {
namespace {

std::string indented(std::string_view text, std::string_view by) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) out += fmt::format("{}{}", by, text.substr(at, end - at));
    out += '\n';
    at = end + 1;
  }
  return out;
}

std::string entry_block(const Comparison& comparison, const Entry& entry) {
  const Pair& pair = comparison.pairs[entry.pair];
  std::string out = fmt::format("  {}: {}\n", pair.name, entry_text(comparison, entry));
  for (const OpenRule& open : entry.open) {
    out += fmt::format("    {}\n", open_text(comparison, entry, open));
    out += indented(pair.candidate->rules[open.state].text, "      ");
  }
  return out;
}

void append_lines(std::string& out, std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  out += fmt::format("\n{}:\n", title);
  for (const std::string& line : lines) out += fmt::format("  {}\n", line);
}

std::string table_text(const CostTable& table) {
  std::vector<std::vector<std::string>> lines;
  lines.push_back({"program"});
  lines.back().insert(lines.back().end(), table.columns.begin(), table.columns.end());
  const auto add = [&](const CostRow& row) {
    lines.push_back({row.name});
    for (const CostCell& cell : row.cells) lines.back().push_back(cell_text(cell));
  };
  for (const CostRow& row : table.rows) add(row);
  add(table.total);
  std::vector<std::size_t> widths(lines.front().size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string out;
  for (const auto& line : lines) {
    std::string text = " ";
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += i == 0 ? fmt::format(" {:<{}}", line[i], widths[i])
                     : fmt::format("  {:>{}}", line[i], widths[i]);
    }
    out += text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
  }
  return out;
}

}  // namespace

std::string gate_text(const Comparison& comparison, const Folders& folders) {
  std::string out = fmt::format("gate {}\n", headline(comparison));
  out += fmt::format("  baseline {}: {} programs\n", folders.baseline, comparison.totals.baseline);
  out += fmt::format("  candidate {}: {} programs; {}\n", folders.candidate,
                     comparison.totals.candidate, evidence_text(comparison));
  append_lines(out, "faults of spatialcert's own", comparison.faults);
  std::optional<Change> title;
  for (const Entry& entry : comparison.entries) {
    if (entry.change == Change::held) continue;
    if (title != entry.change) out += fmt::format("\n{}:\n", to_string(entry.change));
    title = entry.change;
    out += entry_block(comparison, entry);
  }
  std::vector<std::string> lines;
  for (const Violation& violation : comparison.violations)
    lines.push_back(fmt::format("{}: {}", to_string(violation.kind), violation.text));
  append_lines(out, "violations of the policy", lines);
  lines.clear();
  for (const ir::Refusal& refusal : comparison.refusals) lines.push_back(refusal.message());
  append_lines(out, "unreadable", lines);
  append_lines(out, "certificates that do not count", discarded_certificates(comparison));
  const CostTable table = cost_table(comparison);
  if (table.rows.empty() && table.unchanged == 0) return out;
  out += fmt::format("\ncosts: {} changed, {} as before\n", table.rows.size(), table.unchanged);
  if (!table.rows.empty()) out += table_text(table);
  return out;
}

}  // namespace spatialcert::certify::gate
