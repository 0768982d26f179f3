// What a comparison makes of what became of programs: changes, exceptions, budgets, exit status.
#include "certify/gate/comparison.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "certify/gate/report.hpp"

namespace spatialcert::tests {
namespace {

namespace gate = certify::gate;
using certify::Verdict;
using gate::Change;
using gate::Standing;
using proofs::Rule;

constexpr const char* kToday = "2026-12-01";

gate::Side side(Standing standing, std::vector<std::pair<Rule, Verdict>> rules = {}) {
  gate::Side s;
  s.file = "f.json";
  s.standing = standing;
  s.evidence = gate::Evidence::judged_anew;
  if (standing == Standing::refused || standing == Standing::fault) return s;
  s.costs = gate::Costs{10, 10, 1, 2, 1, {{"sram", 1000}}};
  for (const Rule rule : proofs::all_rules()) {
    const auto found = std::find_if(rules.begin(), rules.end(),
                                    [&](const auto& one) { return one.first == rule; });
    s.rules.push_back({rule, found == rules.end() ? Verdict::certified : found->second, {}, {}});
  }
  return s;
}
gate::Side good() { return side(Standing::certified); }
gate::Side refuted(Rule rule) { return side(Standing::refuted, {{rule, Verdict::refuted}}); }
gate::Side undecided(Rule rule) { return side(Standing::undecided, {{rule, Verdict::undecided}}); }

using MaybeSide = std::optional<gate::Side>;
gate::Pair pair(MaybeSide before, MaybeSide after, std::string name = "p") {
  return {std::move(name), std::move(before), std::move(after)};
}
gate::Exception exception(gate::Leave may, std::optional<Rule> rule, std::string until = kToday,
                          std::string program = "p") {
  return {std::move(program), rule, may, "known", std::move(until)};
}

struct Expected {
  Change change;
  int status;
};
Expected outcome(MaybeSide before, MaybeSide after, gate::Policy policy = {}) {
  // One that holds beside it, so that neither folder is without programs.
  const auto c =
      gate::compare({pair(good(), good(), "a"), pair(std::move(before), std::move(after))},
                    std::move(policy), kToday);
  for (const gate::Entry& entry : c.entries) {
    if (entry.pair == 1) return {entry.change, c.exit_status};
  }
  return {Change::fault, -1};
}
void check(const Expected& found, Change change, int status) {
  CHECK(gate::to_string(found.change) == gate::to_string(change));
  CHECK(found.status == status);
}

TEST_CASE("each change has its name and its exit status") {
  const Rule rule = Rule::flow;
  check(outcome(good(), good()), Change::held, 0);
  check(outcome({}, good()), Change::added, 0);
  check(outcome(refuted(rule), good()), Change::fixed, 0);
  check(outcome(undecided(rule), good()), Change::fixed, 0);
  check(outcome(side(Standing::refused), good()), Change::fixed, 0);
  check(outcome(good(), {}), Change::lost, 1);
  check(outcome(refuted(rule), {}), Change::lost, 1);
  check(outcome(good(), refuted(rule)), Change::newly_refuted, 1);
  check(outcome({}, refuted(rule)), Change::newly_refuted, 1);
  check(outcome(undecided(rule), refuted(rule)), Change::newly_refuted, 1);
  check(outcome(side(Standing::refused), refuted(rule)), Change::newly_refuted, 1);
  check(outcome(good(), undecided(rule)), Change::newly_undecided, 2);
  check(outcome({}, undecided(rule)), Change::newly_undecided, 2);
  check(outcome(good(), side(Standing::refused)), Change::newly_refused, 3);
  check(outcome({}, side(Standing::refused)), Change::newly_refused, 3);
  check(outcome(good(), side(Standing::fault)), Change::fault, 70);
  check(outcome(side(Standing::fault), good()), Change::fault, 70);
}

TEST_CASE("what is as bad as before fails as well") {
  check(outcome(refuted(Rule::flow), refuted(Rule::flow)), Change::still_refuted, 1);
  check(outcome(undecided(Rule::flow), undecided(Rule::flow)), Change::still_undecided, 2);
  check(outcome(refuted(Rule::flow), undecided(Rule::flow)), Change::still_undecided, 2);
  check(outcome(side(Standing::refused), side(Standing::refused)), Change::still_refused, 3);
}

TEST_CASE("another rule that fails is something new, though the verdict is the same") {
  check(outcome(refuted(Rule::memory), refuted(Rule::flow)), Change::newly_refuted, 1);
  check(outcome(undecided(Rule::memory), undecided(Rule::flow)), Change::newly_undecided, 2);
  check(outcome(refuted(Rule::memory), undecided(Rule::flow)), Change::newly_undecided, 2);
  // After a deadlock nothing is known of the other rules.
  const auto before = side(Standing::refuted, {{Rule::liveness, Verdict::refuted},
                                               {Rule::flow, Verdict::not_evaluated}});
  check(outcome(before, undecided(Rule::flow)), Change::still_undecided, 2);
}

TEST_CASE("a verdict that rests on no rule, and a program without ops, are never 0") {
  check(outcome(good(), side(Standing::undecided)), Change::newly_undecided, 2);
  gate::Side hollow = side(Standing::undecided, {{Rule::coverage, Verdict::undecided}});
  hollow.costs->ops = 0;
  gate::Policy policy;
  policy.exceptions = {exception(gate::Leave::undecided, Rule::coverage)};
  check(outcome(good(), hollow, policy), Change::newly_undecided, 2);
}

TEST_CASE("a program without ops is undecided, whatever a certificate or a report says of it") {
  ir::Program hollow;
  hollow.target.spaces = {{"sram", 64, 1}};
  proofs::Outcome valid;
  certify::ProgramReport report;
  report.verdict = Verdict::certified;
  for (const Rule rule : proofs::all_rules()) {
    valid.rules.push_back({rule, true, {}, 1, {}});
    report.rules.push_back({rule, Verdict::certified, "", 1, 1, 1, 0, 0, {}});
  }
  CHECK(gate::side_of(hollow, valid).standing == Standing::undecided);
  CHECK(gate::side_of(hollow, report).standing == Standing::undecided);
  check(outcome({}, gate::side_of(hollow, valid)), Change::newly_undecided, 2);

  ir::Program program = hollow;
  program.programs.emplace_back().ops.emplace_back().code = ir::OpCode::post;
  const gate::Side certified = gate::side_of(program, valid);
  CHECK(certified.standing == Standing::certified);
  CHECK(certified.evidence == gate::Evidence::certificate);
  CHECK(gate::side_of(program, report).standing == Standing::certified);
  report.verdict = Verdict::not_applicable;  // no verdict on a program
  CHECK(gate::side_of(program, report).standing == Standing::undecided);
}

TEST_CASE("an exception excuses one program, one rule and one verdict, to its last day") {
  gate::Policy policy;
  policy.exceptions = {exception(gate::Leave::refuted, Rule::flow)};
  check(outcome(good(), refuted(Rule::flow), policy), Change::newly_refuted, 0);
  check(outcome(good(), refuted(Rule::memory), policy), Change::newly_refuted, 1);
  check(outcome(good(), undecided(Rule::flow), policy), Change::newly_undecided, 1);  // unused
  const auto two =
      side(Standing::refuted, {{Rule::flow, Verdict::refuted}, {Rule::memory, Verdict::undecided}});
  check(outcome(good(), two, policy), Change::newly_refuted, 2);  // what is left is undecided
  policy.exceptions.push_back(exception(gate::Leave::undecided, Rule::memory));
  check(outcome(good(), two, policy), Change::newly_refuted, 0);

  policy.exceptions = {exception(gate::Leave::lost, std::nullopt)};
  check(outcome(good(), {}, policy), Change::lost, 0);
  check(outcome(good(), good(), policy), Change::held, 1);  // unused
  // Nothing excuses what cannot be read.
  policy.exceptions = {exception(gate::Leave::refuted, Rule::flow)};
  check(outcome(good(), side(Standing::refused), policy), Change::newly_refused, 3);
}

gate::Violation only_violation(MaybeSide before, MaybeSide after, gate::Policy policy) {
  const auto c =
      gate::compare({pair(good(), good(), "a"), pair(std::move(before), std::move(after))},
                    std::move(policy), kToday);
  REQUIRE(c.violations.size() == 1);
  CHECK(c.exit_status == 1);
  return c.violations.front();
}

TEST_CASE("an exception that expired or that nothing needs fails, and says what to do") {
  using Kind = gate::Violation::Kind;
  gate::Policy policy;
  policy.exceptions = {exception(gate::Leave::undecided, Rule::flow, "2026-11-30")};
  CHECK(only_violation(good(), undecided(Rule::flow), policy).kind == Kind::expired);
  const auto c = gate::compare({pair(good(), undecided(Rule::flow))}, policy, kToday);
  CHECK(c.totals.excused == 0);
  CHECK_FALSE(c.entries.front().excused);
  CHECK_FALSE(c.entries.front().open.front().exception.has_value());

  policy.exceptions = {exception(gate::Leave::undecided, Rule::flow)};
  auto unused = only_violation(good(), good(), policy);
  CHECK(unused.kind == Kind::unused);
  CHECK(unused.text.find("the rule holds; remove it") != std::string::npos);
  unused = only_violation(
      good(), side(Standing::certified, {{Rule::flow, Verdict::not_applicable}}), policy);
  CHECK(unused.text.find("does not apply") != std::string::npos);
  policy.exceptions = {exception(gate::Leave::undecided, Rule::flow, kToday, "q")};
  unused = only_violation(good(), good(), policy);
  CHECK(unused.text.find("there is no program of this name") != std::string::npos);
  policy.exceptions = {exception(gate::Leave::lost, std::nullopt)};
  CHECK(only_violation(good(), good(), policy).text.find("not lost") != std::string::npos);
  CHECK(only_violation({}, good(), policy).text.find("not in the baseline") != std::string::npos);
}

TEST_CASE("names of exceptions are exact: no wildcards, no prefixes") {
  for (const char* name : {"*", "p*", "P", "p ", "p.json", "./p", ""}) {
    CAPTURE(name);
    gate::Policy policy;
    policy.exceptions = {exception(gate::Leave::refuted, Rule::flow, kToday, name)};
    check(outcome(good(), refuted(Rule::flow), policy), Change::newly_refuted, 1);
  }
}

TEST_CASE("a required rule has to apply, or be excused") {
  gate::Policy policy;
  policy.required = {Rule::reduction};
  const auto without = side(Standing::certified, {{Rule::reduction, Verdict::not_applicable}});
  check(outcome(good(), good(), policy), Change::held, 0);
  check(outcome(good(), without, policy), Change::lacking, 1);
  check(outcome(without, without, policy), Change::lacking, 1);
  policy.exceptions = {exception(gate::Leave::not_applicable, Rule::reduction)};
  check(outcome(good(), without, policy), Change::lacking, 0);
  check(outcome(good(), without), Change::held, 0);
}

TEST_CASE("budgets: the percentage itself is allowed, a byte more is not") {
  const auto using_bytes = [](std::uint64_t bytes) {
    gate::Side s = good();
    s.costs->memory[0].bytes = bytes;
    return s;
  };
  gate::Policy policy;
  policy.budgets = {{gate::Cost::memory, "", 5}};
  check(outcome(good(), using_bytes(1050), policy), Change::held, 0);
  check(outcome(good(), using_bytes(1051), policy), Change::held, 1);
  check(outcome(good(), using_bytes(0), policy), Change::held, 0);
  check(outcome(using_bytes(0), using_bytes(1), policy), Change::held, 1);
  check(outcome({}, using_bytes(9999), policy), Change::added, 0);  // nothing to compare with
  check(outcome(using_bytes(UINT64_MAX / 2), using_bytes(UINT64_MAX), policy), Change::held, 1);
  policy.budgets = {{gate::Cost::memory, "sram", 5}};
  check(outcome(good(), using_bytes(1051), policy), Change::held, 1);
  // A slip in the name of the space would allow everything.
  policy.budgets = {{gate::Cost::memory, "sarm", 5}};
  check(outcome(good(), good(), policy), Change::held, 1);
  gate::Side more_ops = good();
  more_ops.costs->ops = 11;
  policy.budgets = {{gate::Cost::ops, "", 0}};
  check(outcome(good(), more_ops, policy), Change::held, 1);
  policy.budgets = {{gate::Cost::ops, "", 10}};
  check(outcome(good(), more_ops, policy), Change::held, 0);
}

TEST_CASE("over several programs: 70, then 1, 3, 2, 0; nothing to compare is 64") {
  const auto status = [](std::vector<gate::Pair> pairs, std::vector<ir::Refusal> refusals = {}) {
    return gate::compare(std::move(pairs), {}, kToday, std::move(refusals)).exit_status;
  };
  const auto bad = pair(good(), refuted(Rule::flow), "b");
  const auto open = pair(good(), undecided(Rule::flow), "c");
  const auto broken = pair(good(), side(Standing::refused), "d");
  const auto fault = pair(good(), side(Standing::fault), "e");
  const auto fine = pair(good(), good(), "f");
  CHECK(status({bad, open, broken, fault, fine}) == 70);
  CHECK(status({bad, open, broken, fine}) == 1);
  CHECK(status({open, broken, fine}) == 3);
  CHECK(status({open, fine}) == 2);
  CHECK(status({fine}) == 0);
  CHECK(status({fine}, {{"x", 0, "", "a folder that can be read", "none"}}) == 3);
  CHECK(status({}) == 64);
  CHECK(status({pair(good(), {}, "a")}) == 64);
  CHECK(status({pair({}, good(), "a")}) == 64);
  gate::Policy all_lost;
  all_lost.exceptions = {exception(gate::Leave::lost, std::nullopt)};
  CHECK(gate::compare({pair(good(), {})}, all_lost, kToday).exit_status == 64);
}

TEST_CASE("a fault that comes last still decides the exit status") {
  auto c = gate::compare({pair(good(), good())}, {}, kToday);
  CHECK(c.exit_status == 0);
  c.faults.emplace_back("--markdown: no space left");
  gate::conclude(c);
  CHECK(c.exit_status == 70);
}

TEST_CASE("docs/gate.md and docs/gate.schema.json name every change and every cost") {
  const auto document = [](const std::string& name) {
    std::ifstream in(std::string(SPATIALCERT_SOURCE_DIR) + "/docs/" + name);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string manual = document("gate.md"), schema = document("gate.schema.json");
  for (std::size_t c = 0; c < gate::kChanges; ++c) {
    const std::string name(gate::to_string(static_cast<Change>(c)));
    CAPTURE(name);
    CHECK(schema.find("\"" + name + "\"") != std::string::npos);
    if (static_cast<Change>(c) == Change::fault) continue;  // not a program's change
    CHECK(manual.find("`" + name + "`") != std::string::npos);
  }
  for (std::size_t c = 0; c <= static_cast<std::size_t>(gate::Cost::phases); ++c) {
    const std::string name(gate::to_string(static_cast<gate::Cost>(c)));
    CAPTURE(name);
    CHECK(schema.find("\"" + name + "\"") != std::string::npos);
    CHECK(manual.find("`" + name + "`") != std::string::npos);
  }
}

TEST_CASE("a summary has what got worse first, shows only text, and fits a comment") {
  std::vector<gate::Pair> pairs;
  for (int i = 0; i < 3000; ++i) {
    gate::Side after = refuted(Rule::flow);
    after.detail = "by flow";
    after.costs->ops = 20;
    for (gate::RuleState& state : after.rules) {
      if (state.verdict == Verdict::refuted)
        state.text = "````\n</details> @everyone \xff | " + std::string(9000, 'x') + "\n````\n";
    }
    std::string number = std::to_string(i);
    number.insert(0, 5 - number.size(), '0');
    pairs.push_back(pair(good(), after, "<img src=x>|" + number));
  }
  pairs.push_back(pair(undecided(Rule::flow), good(), "z"));
  const auto c = gate::compare(std::move(pairs), {}, kToday);
  const std::string text = gate::gate_markdown(c, {"a|b", "c"});
  CHECK(text.size() <= gate::kMostMarkdownBytes);
  CHECK(text.rfind("## spatialcert gate failed: 3000 newly refuted, 1 fixed\n", 0) == 0);
  CHECK(text.find("&lt;img src=x&gt;&#124;00000 | newly refuted") != std::string::npos);
  CHECK(text.find("<img") == std::string::npos);
  CHECK(text.find("left out here") != std::string::npos);

  const auto one = gate::compare({c.pairs[0], pair(good(), good(), "z")}, {}, kToday);
  const std::string small = gate::gate_markdown(one, {"a", "b"});
  CHECK(small.find("\n`````text\n") != std::string::npos);  // longer than any fence inside
  CHECK(small.find("\xff") == std::string::npos);
  CHECK(small.find("[...]") != std::string::npos);
  CHECK(small.find("| 20 -&gt; 30 (+50.0 %) |") != std::string::npos);  // the total of both
  CHECK(std::count(small.begin(), small.end(), '\n') > 20);
}

}  // namespace
}  // namespace spatialcert::tests
