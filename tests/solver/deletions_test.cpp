// Z3 is no ornament: without one of its hand-offs a certified program is refuted, and the answer to
// a query flips.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "certify/pipeline.hpp"
#include "compose/collectives/collectives.hpp"
#include "ir/import/msccl.hpp"
#include "solvers.hpp"
#include "tests/proofs/samples.hpp"

namespace spatialcert::tests {
namespace {

using certify::Verdict;

/// Queries that certify asks must be those of all_queries: same text, same order within a rule.
void check_exported(const ir::Program& program, const std::vector<AskedQuery>& queries) {
  std::map<std::string, std::vector<std::string>> exported, collected;
  certify::Options options;
  options.on_query = [&](std::string_view rule, std::uint64_t, const std::string& text) {
    exported[std::string(rule)].push_back(text);
  };
  CHECK(certify::certify(program, options).verdict == Verdict::certified);
  for (const AskedQuery& q : queries)
    collected[std::string(proofs::to_string(q.rule))].push_back(q.text);
  CHECK(exported == collected);
}

/// A program without one op of one engine program. Loops must not enclose it.
ir::Program without(ir::Program program, std::size_t engine, std::size_t op) {
  ir::EngineProgram& p = program.programs[engine];
  p.ops.erase(p.ops.begin() + static_cast<std::ptrdiff_t>(op));
  for (ir::Span& span : p.spans) {
    if (span.begin > op) --span.begin;
    if (span.end > op) --span.end;
  }
  return program;
}

/// The same inside loops: their bodies become shorter.
ir::Program without_in_loops(ir::Program program, std::size_t engine, std::size_t op) {
  ir::EngineProgram& p = program.programs[engine];
  for (std::size_t i = 0; i < op; ++i) {
    if (p.ops[i].code == ir::OpCode::repeat && i + p.ops[i].body >= op) --p.ops[i].body;
  }
  return without(std::move(program), engine, op);
}

struct Tally {
  int deletions = 0;
  int undecided = 0;
  int flips = 0;
  std::map<std::string, int> by_rule;
};

/// What may keep every query's answer: a page touched outside any window is a matter of one engine
/// program alone, and a test above all supply has no place in the net. Both are refuted by the play
/// that meets them.
bool refuted_by_play(const certify::ProgramReport& report) {
  return std::any_of(report.rules.begin(), report.rules.end(), [](const certify::RuleReport& rule) {
    if (!rule.counterexample) return false;
    const proofs::Kind kind = rule.counterexample->kind;
    return kind == proofs::Kind::misuse || kind == proofs::Kind::starved;
  });
}

void check_deletion(const ir::Program& damaged, Tally& tally) {
  const auto report = certify::certify(damaged);
  // In a persistent program another engine may run for ever, so that no play of finite length is
  // stuck.
  const bool endless = damaged.execution == ir::Execution::persistent;
  CHECK((report.verdict == Verdict::refuted || (endless && report.verdict == Verdict::undecided)));
  ++tally.deletions;
  tally.undecided += report.verdict == Verdict::undecided ? 1 : 0;
  for (const auto& rule : report.rules) {
    if (rule.verdict == Verdict::refuted)
      ++tally.by_rule[std::string(proofs::to_string(rule.rule))];
  }
  if (!z3_command().installed()) return;
  const auto queries = all_queries(damaged);
  const AskedQuery* const query = flipped(queries, z3_command());
  if (query == nullptr) {
    CHECK((refuted_by_play(report) || endless));
    return;
  }
  ++tally.flips;
  if (cvc5_command().installed())
    CHECK(cvc5_command().answer(query->text) != certified_answer(query->rule));
}

TEST_CASE("small programs: every op of every hand-off is needed") {
  if (!z3_command().installed())
    MESSAGE("there is no " << z3_command().path() << ": answers are not compared");
  Tally tally;
  for (const Draft& draft : all_samples()) {
    const ir::Program program = draft.program();
    CAPTURE(draft.name());
    check_exported(program, all_queries(program));
    for (std::size_t p = 0; p < program.programs.size(); ++p) {
      for (std::size_t i = 0; i < program.programs[p].ops.size(); ++i) {
        const ir::OpCode code = program.programs[p].ops[i].code;
        if (code == ir::OpCode::run || code == ir::OpCode::repeat) continue;
        CAPTURE(p);
        CAPTURE(i);
        check_deletion(without_in_loops(program, p, i), tally);
      }
    }
  }
  std::string rules;
  for (const auto& [rule, count] : tally.by_rule) rules += fmt::format(", {} {}", count, rule);
  MESSAGE(tally.deletions << " deletions, " << tally.undecided << " undecided, the others refuted; "
                          << tally.flips << " flips" << rules);
}

TEST_CASE("small programs: a hand-off that is missing on both sides is a race") {
  const std::vector<std::pair<Draft, std::vector<std::pair<std::string, std::size_t>>>> cases{
      {semaphore_handoff(), {{"load", 1}, {"store", 0}}},
      {semaphore_handoff(), {{"load", 2}, {"store", 2}}},
      {semaphore_handoff(), {{"load", 4}, {"store", 3}}},
      {double_buffer(), {{"load", 0}, {"store", 2}}},
      {double_buffer(), {{"load", 2}, {"store", 0}}},
      {added_up(), {{"compute", 3}, {"store", 0}}}};
  for (const auto& example : cases) {
    Draft damaged = example.first;
    for (const auto& [engine, op] : example.second) damaged.without(engine, op);
    CAPTURE(damaged.name());
    const auto program = damaged.program();
    const auto report = certify::certify(program);
    CHECK(report.verdict == Verdict::refuted);
    for (const auto& rule : report.rules) {
      if (rule.rule == proofs::Rule::liveness) CHECK(rule.verdict == Verdict::certified);
      if (rule.rule == proofs::Rule::ordering) CHECK(rule.verdict == Verdict::refuted);
    }
    if (!z3_command().installed()) continue;
    const auto queries = all_queries(program);
    const AskedQuery* const query = flipped(queries, z3_command());
    REQUIRE(query != nullptr);
    CHECK(query->rule == proofs::Rule::ordering);
  }
}

ir::Program collective(compose::Algorithm algorithm, compose::Collective kind,
                       std::uint32_t ranks) {
  compose::CollectiveOptions options;
  options.algorithm = algorithm;
  options.collective = kind;
  options.ranks = ranks;
  options.ranks_per_node = 2;
  const auto text = compose::generate_collective(options);
  REQUIRE(text.has_value());
  ir::MscclOptions import;
  import.transfers = ir::MscclTransfers{};
  auto imported = ir::import_msccl_text(*text, "generated.xml", import);
  REQUIRE(imported.has_value());
  return std::move(imported->variants.front().program);
}

TEST_CASE("collectives: hand-offs of every kind are needed") {
  using compose::Algorithm, compose::Collective;
  struct Example {
    Algorithm algorithm;
    Collective kind;
    std::uint32_t ranks;
  };
  for (const Example& example : {Example{Algorithm::ring, Collective::allreduce, 3},
                                 Example{Algorithm::allpairs, Collective::allreduce, 3},
                                 Example{Algorithm::recursive_doubling, Collective::allgather, 4},
                                 Example{Algorithm::hierarchical, Collective::allreduce, 4}}) {
    const ir::Program program = collective(example.algorithm, example.kind, example.ranks);
    CAPTURE(to_string(example.algorithm));
    check_exported(program, all_queries(program));
    Tally tally;
    std::map<ir::OpCode, int> tried;
    for (std::size_t p = 0; p < program.programs.size(); ++p) {
      for (std::size_t i = 0; i < program.programs[p].ops.size(); ++i) {
        const ir::OpCode code = program.programs[p].ops[i].code;
        if (code == ir::OpCode::run || ++tried[code] % 4 != 1 || tried[code] > 16) continue;
        CAPTURE(p);
        CAPTURE(i);
        CAPTURE(to_string(code));
        check_deletion(without(program, p, i), tally);
      }
    }
    MESSAGE(to_string(example.algorithm)
            << ": " << tally.deletions << " deletions, " << tally.flips << " flips");
  }
}

}  // namespace
}  // namespace spatialcert::tests
