#include "certify/gate/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "certify/report.hpp"
#include "ir/require.hpp"

namespace spatialcert::certify::gate {
namespace {

bool is_empty(const Side& side) { return side.costs && side.costs->ops == 0; }

const RuleState* state_of(const std::optional<Side>& side, proofs::Rule rule) {
  if (!side) return nullptr;
  for (const RuleState& state : side->rules) {
    if (state.rule == rule) return &state;
  }
  return nullptr;
}

/// The exceptions of a policy by what they are about.
class Exceptions {
 public:
  Exceptions(const Policy& policy, const std::string& today)
      : policy_(policy), today_(today), used_(policy.exceptions.size(), false) {
    for (std::size_t i = 0; i < policy.exceptions.size(); ++i) {
      const Exception& one = policy.exceptions[i];
      by_what_.emplace(std::tuple(one.program, one.rule), i);
    }
  }

  /// One that is in force and allows just this. One that has expired allows nothing, but has a use.
  std::optional<std::size_t> excuse(const std::string& program, std::optional<proofs::Rule> rule,
                                    Leave what) {
    const auto found = by_what_.find(std::tuple(program, rule));
    if (found == by_what_.end() || policy_.exceptions[found->second].may != what)
      return std::nullopt;
    used_[found->second] = true;
    if (is_expired(found->second)) return std::nullopt;
    return found->second;
  }
  [[nodiscard]] bool is_expired(std::size_t i) const {
    return policy_.exceptions[i].until < today_;
  }
  [[nodiscard]] bool is_used(std::size_t i) const { return used_[i]; }

 private:
  const Policy& policy_;
  const std::string& today_;
  std::vector<bool> used_;
  std::map<std::tuple<std::string, std::optional<proofs::Rule>>, std::size_t> by_what_;
};

class Comparer {
 public:
  Comparer(Comparison& out, const std::string& today)
      : out_(out), today_(today), exceptions_(out.policy, today) {}

  void run() {
    for (std::size_t i = 0; i < out_.pairs.size(); ++i) enter(i);
    std::stable_sort(out_.entries.begin(), out_.entries.end(),
                     [](const Entry& a, const Entry& b) { return a.change < b.change; });
    check_exceptions();
    for (const Budget& budget : out_.policy.budgets) check_budget(budget);
  }

 private:
  void enter(std::size_t index) {
    const Pair& pair = out_.pairs[index];
    SPATIALCERT_REQUIRE(pair.baseline || pair.candidate, "a program that is nowhere");
    Entry entry;
    entry.pair = index;
    if (pair.candidate) {
      find_open_rules(pair, entry);
    } else {
      entry.exception = exceptions_.excuse(pair.name, std::nullopt, Leave::lost);
    }
    entry.change = change_of(pair, entry);
    entry.excused = is_excused(pair, entry);
    out_.totals.baseline += pair.baseline ? 1 : 0;
    out_.totals.candidate += pair.candidate ? 1 : 0;
    ++out_.totals.of[static_cast<std::size_t>(entry.change)];
    out_.totals.excused += entry.excused ? 1 : 0;
    out_.entries.push_back(std::move(entry));
  }

  void find_open_rules(const Pair& pair, Entry& entry) {
    const std::vector<proofs::Rule>& required = out_.policy.required;
    for (std::size_t s = 0; s < pair.candidate->rules.size(); ++s) {
      const RuleState& state = pair.candidate->rules[s];
      Leave leave = Leave::undecided;
      if (state.verdict == Verdict::refuted) {
        leave = Leave::refuted;
      } else if (state.verdict == Verdict::not_applicable) {
        if (std::find(required.begin(), required.end(), state.rule) == required.end()) continue;
        leave = Leave::not_applicable;
      } else if (state.verdict != Verdict::undecided) {
        continue;  // it holds, or another rule's refutation has made it meaningless
      }
      OpenRule open{s, true, exceptions_.excuse(pair.name, state.rule, leave)};
      const RuleState* before = state_of(pair.baseline, state.rule);
      open.newly = before == nullptr || before->verdict != state.verdict;
      // What was not evaluated, or refuted, has not got worse by being undecided.
      if (before != nullptr && state.verdict == Verdict::undecided &&
          (before->verdict == Verdict::not_evaluated || before->verdict == Verdict::refuted)) {
        open.newly = false;
      }
      entry.open.push_back(open);
    }
  }

  static bool newly(const Pair& pair, const Entry& entry, Verdict verdict) {
    return std::any_of(entry.open.begin(), entry.open.end(), [&](const OpenRule& open) {
      return open.newly && pair.candidate->rules[open.state].verdict == verdict;
    });
  }

  static Change change_of(const Pair& pair, const Entry& entry) {
    const auto was = [&](Standing standing) {
      return pair.baseline && pair.baseline->standing == standing;
    };
    if (was(Standing::fault)) return Change::fault;
    if (!pair.candidate) return Change::lost;
    switch (pair.candidate->standing) {
      case Standing::fault:
        return Change::fault;
      case Standing::refuted:
        return newly(pair, entry, Verdict::refuted) || !was(Standing::refuted)
                   ? Change::newly_refuted
                   : Change::still_refuted;
      case Standing::refused:
        return was(Standing::refused) ? Change::still_refused : Change::newly_refused;
      case Standing::undecided:
        // From refuted to undecided is no change for the worse, if no other rule became so.
        return newly(pair, entry, Verdict::undecided) ||
                       !(was(Standing::undecided) || was(Standing::refuted))
                   ? Change::newly_undecided
                   : Change::still_undecided;
      case Standing::certified:
        break;
    }
    if (!entry.open.empty()) return Change::lacking;
    if (!pair.baseline) return Change::added;
    return was(Standing::certified) ? Change::held : Change::fixed;
  }

  /// Is everything that is wrong excused by name? Nothing excuses what was refused, a fault, a
  /// program without ops, or a verdict that rests on no rule.
  static bool is_excused(const Pair& pair, const Entry& entry) {
    if (entry.change == Change::lost) return entry.exception.has_value();
    if (entry.change == Change::fault || entry.open.empty() || is_empty(*pair.candidate))
      return false;
    return std::all_of(entry.open.begin(), entry.open.end(),
                       [](const OpenRule& open) { return open.exception.has_value(); });
  }

  void check_exceptions() {
    for (std::size_t i = 0; i < out_.policy.exceptions.size(); ++i) {
      const Exception& one = out_.policy.exceptions[i];
      if (exceptions_.is_expired(i)) {
        out_.violations.push_back(
            {Violation::Kind::expired, one.program,
             fmt::format("{} expired: its last day was {}, and it is {}; remove it, or decide anew",
                         describe(one), one.until, today_)});
      }
      if (exceptions_.is_used(i)) continue;
      const auto why = reason_unused(one);
      if (why) {
        out_.violations.push_back(
            {Violation::Kind::unused, one.program,
             fmt::format("{} is unused: {}; remove it", describe(one), *why)});
      }
    }
  }

  static std::string describe(const Exception& one) {
    if (!one.rule) return fmt::format("the exception that {} may be lost", one.program);
    return fmt::format("the exception that {} may be {} by {}", one.program, to_string(one.may),
                       proofs::to_string(*one.rule));
  }

  /// Nothing if that cannot be told, because the program was not judged.
  std::optional<std::string> reason_unused(const Exception& one) const {
    const auto pair =
        std::lower_bound(out_.pairs.begin(), out_.pairs.end(), one.program,
                         [](const Pair& p, const std::string& name) { return p.name < name; });
    if (pair == out_.pairs.end() || pair->name != one.program)
      return "there is no program of this name";
    if (!one.rule) return pair->baseline ? "it is not lost" : "it was not in the baseline";
    if (!pair->candidate) return "it is lost";
    const RuleState* state = state_of(pair->candidate, *one.rule);
    if (state == nullptr && (pair->candidate->standing == Standing::refused ||
                             pair->candidate->standing == Standing::fault))
      return std::nullopt;
    if (state == nullptr) return "the rule was not judged";
    if (state->verdict == Verdict::certified) return "the rule holds";
    if (state->verdict == Verdict::not_applicable) return "the rule does not apply";
    return fmt::format("the rule is {}", to_string(state->verdict));
  }

  // A budget that says nothing of any program is a slip of the pen, and would hold for ever.
  void check_budget(const Budget& budget) {
    bool looked = false;
    for (const Pair& pair : out_.pairs) {
      if (!pair.candidate || !pair.candidate->costs) continue;
      if (budget.cost != Cost::memory) {
        looked = true;
        check_growth(budget, pair, {});
        continue;
      }
      for (const SpaceUse& use : pair.candidate->costs->memory) {
        if (!budget.space.empty() && budget.space != use.space) continue;
        looked = true;
        check_growth(budget, pair, use.space);
      }
    }
    if (looked) return;
    out_.violations.push_back(
        {Violation::Kind::unused, "",
         budget.space.empty()
             ? fmt::format("the budget of {} is unused: no program of the candidate was read",
                           to_string(budget.cost))
             : fmt::format("the budget of memory {} is unused: no program has such a space",
                           budget.space)});
  }

  void check_growth(const Budget& budget, const Pair& pair, const std::string& space) {
    __extension__ using Wide = unsigned __int128;
    if (!pair.baseline || !pair.baseline->costs) return;
    const std::uint64_t before = pair.baseline->costs->figure(budget.cost, space).value_or(0);
    const std::uint64_t after = *pair.candidate->costs->figure(budget.cost, space);
    if (after <= before) return;
    if (Wide{after - before} * 100 <= Wide{before} * budget.percent) return;
    out_.violations.push_back(
        {Violation::Kind::over_budget, pair.name,
         fmt::format("{}: {}{}{} grew from {} to {}, by more than {} %", pair.name,
                     to_string(budget.cost), space.empty() ? "" : " ", space, before, after,
                     budget.percent)});
  }

  Comparison& out_;
  const std::string& today_;
  Exceptions exceptions_;
};

/// What one entry adds to the end of the run.
void count(const Comparison& comparison, const Entry& entry, certify::Totals& totals) {
  const Pair& pair = comparison.pairs[entry.pair];
  if (entry.change == Change::fault) {
    ++totals.faults;
    return;
  }
  if (entry.change == Change::lost) {
    totals.refuted += entry.excused ? 0 : 1;
    return;
  }
  if (entry.change == Change::newly_refused || entry.change == Change::still_refused) {
    ++totals.refused;
    return;
  }
  if (entry.excused) {
    ++totals.certified;
    return;
  }
  if (entry.open.empty()) {
    const bool certified = pair.candidate->standing == Standing::certified;
    // A verdict that no rule explains is as bad as it says.
    (certified                                         ? totals.certified
     : pair.candidate->standing == Standing::undecided ? totals.undecided
                                                       : totals.refuted) += 1;
    return;
  }
  if (is_empty(*pair.candidate)) ++totals.undecided;
  for (const OpenRule& open : entry.open) {
    if (open.exception) continue;
    const bool undecided = pair.candidate->rules[open.state].verdict == Verdict::undecided;
    ++(undecided ? totals.undecided : totals.refuted);
  }
}

}  // namespace

void conclude(Comparison& comparison) {
  certify::Totals totals;
  for (const Entry& entry : comparison.entries) count(comparison, entry, totals);
  totals.faults += comparison.faults.size();
  totals.refuted += comparison.violations.size();
  totals.refused += comparison.refusals.size();
  const bool missing = comparison.totals.baseline == 0 || comparison.totals.candidate == 0;
  comparison.exit_status = totals.exit_status();
  // Nothing was compared, whatever the policy says of what is not there.
  if (missing && totals.faults == 0 && totals.refused == 0) comparison.exit_status = 64;
}

Comparison compare(std::vector<Pair> pairs, Policy policy, const std::string& today,
                   std::vector<ir::Refusal> refusals) {
  Comparison out;
  out.pairs = std::move(pairs);
  out.policy = std::move(policy);
  out.refusals = std::move(refusals);
  Comparer(out, today).run();
  conclude(out);
  return out;
}

}  // namespace spatialcert::certify::gate
