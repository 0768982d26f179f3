// recheck denies what is not true of the program, each thing by its name, and takes the rest. The
// certificates are put together without the prover.
#include "proofs/recheck/recheck.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "ir/program_file.hpp"
#include "ir/search/justify.hpp"
#include "tests/certificate/forge.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/small_programs.hpp"

namespace spatialcert::tests {
namespace {

using proofs::Certificate;
using proofs::Denial;
using proofs::Rule;

/// Two posters of one semaphore, so that a place needs known order; a buffer handed over; a result.
Draft gathered() {
  Draft d("gathered");
  d.tensor("x", "external", 2, "i8").tensor("y", "undefined", 2, "i8");
  d.buffer("b").semaphore("s").sum("y", {"x"});
  return d.engine("load", {"run load x > b[0:32]", "post s"})
      .engine("compute", {"post s"})
      .engine("store", {"wait s 2", "run store b[0:32] > y"});
}

Certificate certificate_of(const Fixture& f) {
  Certificate c;
  c.producer = "test";
  c.program = ir::digest(f.program);
  c.target = ir::target_digest(f.program);
  c.justified = ir::justify(f.program, f.subject.one).places;
  c.liveness = potential(f.subject);
  c.ordering = paths(f.subject, f.position);
  c.memory = by_address(f.program);
  c.bounds.emplace();
  c.quiescence.emplace();
  c.flow.emplace();
  if (!f.program.postconditions.empty()) c.reduction.emplace();
  if (proofs::shard::applies(f.program)) c.shard.emplace();
  proofs::coverage::Witness& counts = c.coverage.emplace();
  for (const ir::EngineProgram& program : f.program.programs) {
    for (const ir::Op& op : program.ops) {
      counts.runs += op.code == ir::OpCode::run ? 1 : 0;
      counts.tests += op.code == ir::OpCode::wait ? 1 : 0;
      counts.supplies += op.code == ir::OpCode::post ? 1 : 0;
    }
  }
  return c;
}

const proofs::RuleOutcome& of(const proofs::Outcome& outcome, Rule rule) {
  for (const proofs::RuleOutcome& each : outcome.rules) {
    if (each.rule == rule) return each;
  }
  FAIL("no such rule");
  return outcome.rules.front();
}

/// `valid`, or the denial of the whole.
std::string verdict(const ir::Program& program, const Certificate& c,
                    const std::vector<Rule>& required = {}) {
  const proofs::Outcome outcome = proofs::recheck(program, c, required);
  CHECK(outcome.denial.has_value() == !outcome.detail.empty());
  return outcome.denial ? std::string(to_string(*outcome.denial)) : "valid";
}

std::string changed(const Fixture& f, const std::function<void(Certificate&)>& change) {
  Certificate c = certificate_of(f);
  change(c);
  return verdict(f.program, c);
}

}  // namespace

TEST_CASE("recheck: what is true is valid") {
  const Fixture f(gathered());
  const Certificate c = certificate_of(f);
  CHECK(c.justified.size() == 2);
  const proofs::Outcome outcome = proofs::recheck(f.program, c);
  INFO(outcome.detail);
  CHECK(!outcome.denial.has_value());
  REQUIRE(outcome.rules.size() == proofs::all_rules().size());
  for (std::size_t i = 0; i < outcome.rules.size(); ++i) {
    CHECK(outcome.rules[i].rule == proofs::all_rules()[i]);
    CHECK(outcome.rules[i].applicable == proofs::applies(outcome.rules[i].rule, f.program));
    CHECK(!outcome.rules[i].denial.has_value());
  }
  CHECK(outcome.rules[0].obligations > 0);
  CHECK(outcome.digest == ir::to_hex(c.program));
  std::vector<Rule> applicable;
  for (const Rule rule : proofs::all_rules()) {
    if (proofs::applies(rule, f.program)) applicable.push_back(rule);
  }
  CHECK(applicable.size() == 8);
  CHECK(verdict(f.program, c, applicable) == "valid");
}

TEST_CASE("recheck: a certificate is about one program and one target") {
  const Fixture f(gathered());
  CHECK(changed(f, [](Certificate& c) { c.program[31] ^= 1U; }) == "another program");
  CHECK(changed(f, [](Certificate& c) { c.target[0] ^= 1U; }) == "another target");
}

TEST_CASE("recheck: a place that is not justified denies everything") {
  const Fixture f(gathered());
  const auto denied = [&](const std::function<void(Certificate&)>& change) {
    Certificate c = certificate_of(f);
    change(c);
    const proofs::Outcome outcome = proofs::recheck(f.program, c);
    CHECK(outcome.rules.empty());
    return outcome.denial == Denial::unjustified;
  };
  CHECK(denied([](Certificate& c) { c.justified[0].counter = ir::CounterId(7U); }));
  CHECK(denied([](Certificate& c) { c.justified[0].credit = true; }));
  CHECK(denied([](Certificate& c) { c.justified[0].tokens = 1; }));
  CHECK(denied([](Certificate& c) { c.justified[0].tokens = -1; }));
  CHECK(denied([](Certificate& c) { c.justified[0].from = ir::TransitionId(99U); }));
  CHECK(denied([](Certificate& c) { c.justified[0].to = ir::TransitionId(99U); }));
  CHECK(denied([](Certificate& c) { c.justified[0].to = ir::TransitionId(0U); }));
  CHECK(denied([](Certificate& c) { c.justified[0].to = ir::TransitionId(4U); }));
  CHECK(denied([](Certificate& c) { c.justified.push_back({}); }));
  CHECK(changed(f, [](Certificate& c) { c.justified.clear(); }) == "witness rejected");
  CHECK(changed(f, [](Certificate& c) { c.justified.pop_back(); }) == "witness rejected");
}

TEST_CASE("recheck: a place that is not justified denies everything, whatever else is wrong") {
  Draft d("two issues");
  d.semaphore("s").semaphore("t", 1);
  const Fixture f(d.engine("load", {"wait t", "post s", "post t"})
                      .engine("compute", {"wait t", "post s", "post t"})
                      .engine("store", {"wait s"}));
  CHECK(f.subject.net.issues.front().kind == ir::TestIssue::Kind::inexact);
  CHECK(changed(f, [](Certificate& c) {
          c.liveness.emplace();
          const ir::CounterId s(0U);
          c.justified = {{ir::TransitionId(1U), ir::TransitionId(6U), 0, s, false}};
        }) == "unjustified place");
}

TEST_CASE("recheck: every rule needs its witness, and a right one") {
  const Fixture f(gathered());
  const std::string missing = "missing obligation", wrong = "witness rejected";
  CHECK(changed(f, [](Certificate& c) { c.liveness.reset(); }) == missing);
  CHECK(changed(f, [](Certificate& c) { c.bounds.reset(); }) == missing);
  CHECK(changed(f, [](Certificate& c) { c.quiescence.reset(); }) == missing);
  CHECK(changed(f, [](Certificate& c) { c.ordering.reset(); }) == missing);
  CHECK(changed(f, [](Certificate& c) { c.flow.reset(); }) == missing);
  CHECK(changed(f, [](Certificate& c) { c.memory.reset(); }) == missing);
  CHECK(changed(f, [](Certificate& c) { c.reduction.reset(); }) == missing);
  CHECK(changed(f, [](Certificate& c) { c.coverage.reset(); }) == missing);
  CHECK(changed(f, [](Certificate& c) { c.liveness->potential[1] = 0; }) == wrong);
  CHECK(changed(f, [](Certificate& c) { c.ordering->places.clear(); }) == wrong);
  CHECK(changed(f, [](Certificate& c) { c.memory->order.clear(); }) == wrong);
  CHECK(changed(f, [](Certificate& c) { ++c.coverage->runs; }) == wrong);
}

TEST_CASE("recheck: checks without numbers of their own are made all the same") {
  const auto answer = [](const Draft& draft) {
    const Fixture f(draft);
    return verdict(f.program, certificate_of(f));
  };
  CHECK(answer(gathered()) == "valid");
  CHECK(answer(gathered().semaphore("t", 0, 1).engine("move", {"post t 2"})) != "valid");  // bounds
  CHECK(answer(gathered().semaphore("t").engine("move", {"post t"})) != "valid");  // quiescence
  CHECK(answer(gathered().without("load", 0)) != "valid");                         // flow
  CHECK(answer(gathered().sum("y", {"y"})) != "valid");                            // reduction
}

TEST_CASE("recheck: the first rule that is denied is named, the others are judged") {
  const Fixture f(gathered());
  Certificate c = certificate_of(f);
  c.bounds.reset();
  c.memory->order.clear();
  const proofs::Outcome outcome = proofs::recheck(f.program, c);
  CHECK(outcome.denial == Denial::missing);
  CHECK(outcome.detail.starts_with("bounds"));
  CHECK(of(outcome, Rule::memory).denial == Denial::rejected);
  CHECK(!of(outcome, Rule::coverage).denial.has_value());
}

TEST_CASE("recheck: a rule that does not apply is neither shown nor required") {
  const auto unspecified = [] {
    Draft d = hand_offs().front();
    d.member("postconditions", "[]");
    return d;
  };
  const Fixture f(unspecified());
  CHECK(!proofs::applies(Rule::reduction, f.program));
  const Certificate c = certificate_of(f);
  const proofs::Outcome outcome = proofs::recheck(f.program, c);
  CHECK(!of(outcome, Rule::reduction).applicable);
  CHECK(!of(outcome, Rule::reduction).denial.has_value());
  const proofs::Outcome asked = proofs::recheck(f.program, c, {Rule::reduction});
  CHECK(of(asked, Rule::reduction).denial == Denial::not_applicable);
  CHECK(asked.denial.has_value());
  Certificate more = c;
  more.reduction.emplace();
  CHECK(of(proofs::recheck(f.program, more), Rule::reduction).denial == Denial::not_applicable);
}

TEST_CASE("recheck: shard is required where something belongs to one chip") {
  Draft d = gathered();
  const Fixture plain(d);
  CHECK(!proofs::applies(Rule::shard, plain.program));
  const proofs::Outcome asked =
      proofs::recheck(plain.program, certificate_of(plain), {Rule::shard});
  CHECK(of(asked, Rule::shard).denial == Denial::not_applicable);
  CHECK(of(asked, Rule::shard).detail == "it is required, but nothing belongs to one chip");
  const Fixture f(d.tensor("own", "external", 4, "f32", R"("owner": 0)"));
  CHECK(proofs::applies(Rule::shard, f.program));
  CHECK(verdict(f.program, certificate_of(f), {Rule::shard}) == "valid");
  CHECK(changed(f, [](Certificate& c) { c.shard.reset(); }) == "missing obligation");
  CHECK(changed(f, [](Certificate& c) { c.shard->rounds = 0; }) == "witness rejected");
}

TEST_CASE("recheck: a program that unrolls too far is not checked") {
  Draft d("long");
  d.semaphore("s");
  const Fixture f(d.engine("load", {"post s"}));
  ir::Program program = f.program;
  Draft endless("endless");
  endless.semaphore("s").engine("load", {"repeat 1000000000", "post s", "wait s", "end"});
  const ir::Program far = endless.program();
  Certificate c = certificate_of(f);
  c.program = ir::digest(far);
  c.target = ir::target_digest(far);
  CHECK(verdict(far, c) == "too large to be checked");
}

}  // namespace spatialcert::tests
