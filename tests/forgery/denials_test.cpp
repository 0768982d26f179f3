// Every way to be denied, one by one: certificates about something else, unreadable ones, and
// witnesses that do not belong to what they are put to.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "ir/program_file.hpp"
#include "ir/require.hpp"
#include "proofs/recheck/recheck.hpp"
#include "tests/certificate/forge.hpp"
#include "tests/command/child.hpp"
#include "tests/forgery/claims.hpp"
#include "tests/forgery/payload.hpp"
#include "tests/forgery/specimen.hpp"
#include "tests/proofs/draft.hpp"

namespace spatialcert::tests {
namespace {

using command::test::contains;
using proofs::Certificate;
using proofs::Denial;
using proofs::Outcome;
using proofs::Rule;
using Reason = proofs::Unreadable::Reason;

Specimen named(const std::string& name) {
  for (Specimen& s : named_specimens()) {
    if (s.name == name) return std::move(s);
  }
  FAIL("no specimen " << name);
  return {};
}

/// The outcome for one rule; all of them must have been looked at.
const proofs::RuleOutcome& of(const Outcome& outcome, Rule rule) {
  REQUIRE(outcome.rules.size() == proofs::all_rules().size());
  const auto at = std::find_if(outcome.rules.begin(), outcome.rules.end(),
                               [&](const proofs::RuleOutcome& o) { return o.rule == rule; });
  REQUIRE(at != outcome.rules.end());
  return *at;
}

void check_denied(const Outcome& outcome, Denial denial, const std::string& detail) {
  REQUIRE(outcome.denial.has_value());
  CHECK(*outcome.denial == denial);
  CAPTURE(outcome.detail);
  CHECK(contains(outcome.detail, detail));
}

Reason refused(const std::string& bytes) { return proofs::test::refusal(bytes); }

}  // namespace

TEST_CASE("what certify says of the specimens is accepted, rule by rule") {
  for (const Specimen& s : named_specimens()) {
    CAPTURE(s.name);
    const Outcome outcome = proofs::recheck(s.program, s.certificate);
    CHECK_FALSE(outcome.denial.has_value());
    CHECK(outcome.detail.empty());
    CHECK(outcome.digest == ir::to_hex(s.certificate.program));
    for (const Rule rule : proofs::all_rules()) {
      CHECK_FALSE(of(outcome, rule).denial.has_value());
      CHECK(of(outcome, rule).applicable == proofs::applies(rule, s.program));
    }
  }
}

TEST_CASE("the certificate of another program, for the same target") {
  const Specimen one = named("fifo-pipeline");
  const Specimen other = named("double-buffer");
  REQUIRE(one.certificate.target == other.certificate.target);
  const Outcome outcome = proofs::recheck(other.program, one.certificate);
  check_denied(outcome, Denial::foreign_program, ir::to_hex(one.certificate.program));
  check_denied(outcome, Denial::foreign_program, ir::to_hex(other.certificate.program));
  CHECK(outcome.rules.empty());
}

TEST_CASE("an earlier version of the same program") {
  Specimen s = named("fifo-pipeline");
  s.program.programs[0].ops[0].count -= 1;
  check_denied(proofs::recheck(s.program, s.certificate), Denial::foreign_program,
               "the certificate is about program");
}

TEST_CASE("the same program for another target") {
  Specimen s = named("fifo-pipeline");
  s.program.target.spaces[0].bytes *= 2;
  check_denied(proofs::recheck(s.program, s.certificate), Denial::foreign_target,
               "the certificate is about target");
  Certificate half = claimed_for(s.program, s.certificate);
  half.program = s.certificate.program;
  check_denied(proofs::recheck(s.program, half), Denial::foreign_program, "about program");
}

TEST_CASE("a program that is too large to be checked") {
  Specimen s = named("fifo-pipeline");
  for (ir::EngineProgram& p : s.program.programs) p.ops[0].count = 100'000'000;
  check_denied(proofs::recheck(s.program, claimed_for(s.program, s.certificate)), Denial::too_large,
               "op 0 of engine program 0 unrolls to more than");
}

TEST_CASE("a missing obligation is rejected by name") {
  const Specimen s = named("added-up");
  const auto check = [&](Rule rule, auto member) {
    Certificate c = s.certificate;
    REQUIRE((c.*member).has_value());
    (c.*member).reset();
    const std::string name(to_string(rule));
    CAPTURE(name);
    const Outcome outcome = proofs::recheck(s.program, c);
    check_denied(outcome, Denial::missing, name + ": the certificate has no witness");
    for (const Rule each : proofs::all_rules())
      CHECK(of(outcome, each).denial.has_value() == (each == rule));
  };
  check(Rule::liveness, &Certificate::liveness);
  check(Rule::bounds, &Certificate::bounds);
  check(Rule::quiescence, &Certificate::quiescence);
  check(Rule::ordering, &Certificate::ordering);
  check(Rule::flow, &Certificate::flow);
  check(Rule::memory, &Certificate::memory);
  check(Rule::reduction, &Certificate::reduction);
  check(Rule::coverage, &Certificate::coverage);
}

TEST_CASE("without any obligation: the first is named, all are denied") {
  const Specimen s = named("added-up");
  const Outcome outcome = proofs::recheck(s.program, claimed_for(s.program, {}));
  check_denied(outcome, Denial::missing, "liveness: ");
  for (const Rule rule : proofs::all_rules()) {
    CHECK(of(outcome, rule).denial ==
          (proofs::applies(rule, s.program) ? std::optional(Denial::missing) : std::nullopt));
  }
}

TEST_CASE("a result is required of a program that declares none") {
  const Specimen s = named("persistent-pipeline");
  CHECK_FALSE(proofs::recheck(s.program, s.certificate, {Rule::memory}).denial.has_value());
  const Outcome outcome = proofs::recheck(s.program, s.certificate, {Rule::reduction});
  check_denied(outcome, Denial::not_applicable, "reduction: it is required");
  CHECK_FALSE(of(outcome, Rule::liveness).denial.has_value());
}

TEST_CASE("a witness of a rule that does not apply") {
  Specimen s = named("persistent-pipeline");
  s.certificate.reduction.emplace();
  check_denied(proofs::recheck(s.program, s.certificate), Denial::not_applicable,
               "reduction: it has a witness");
}

TEST_CASE("the paths of two pairs exchanged") {
  Specimen s = named("fifo-pipeline");
  auto& w = *s.certificate.ordering;
  REQUIRE(w.begin.size() > 3);
  REQUIRE(w.begin[1] == 1);
  REQUIRE(w.begin[2] == 2);
  std::swap(w.places[0], w.places[1]);
  check_denied(proofs::recheck(s.program, s.certificate), Denial::rejected,
               "ordering: wrong ends (");
}

TEST_CASE("the potentials of two engine programs exchanged") {
  Specimen s = named("semaphore-handoff");
  auto& potential = s.certificate.liveness->potential;
  REQUIRE(potential.size() == 10);
  std::rotate(potential.begin(), potential.begin() + 5, potential.end());
  check_denied(proofs::recheck(s.program, s.certificate), Denial::rejected,
               "liveness: potential does not increase (");
}

TEST_CASE("every single potential, path and buffer that another is put for") {
  const Specimen s = named("fifo-pipeline");
  const std::uint32_t n = static_cast<std::uint32_t>(s.certificate.liveness->potential.size());
  Certificate at_once = s.certificate;
  at_once.liveness->potential[1] = at_once.liveness->potential[0];
  check_denied(proofs::recheck(s.program, at_once), Denial::rejected, "liveness: ");
  int denied = 0;
  for (std::uint32_t t = 0; t < n; ++t) {  // an op no sooner than any other
    Certificate c = s.certificate;
    c.liveness->potential[t] = 1'000'000;
    denied += proofs::recheck(s.program, c).denial == Denial::rejected ? 1 : 0;
  }
  CHECK(denied == static_cast<int>(n) - 2);  // nothing waits for the last pop of either FIFO
  for (std::size_t k = 0; k < s.certificate.ordering->places.size(); ++k) {
    Certificate c = s.certificate;
    c.ordering->places[k] = (c.ordering->places[k] + 1) % 16;
    check_denied(proofs::recheck(s.program, c), Denial::rejected, "ordering: ");
  }
  Certificate c = s.certificate;
  auto& buffers = c.memory->order.at(0);
  REQUIRE(buffers.size() == 2);
  std::swap(buffers[0], buffers[1]);
  check_denied(proofs::recheck(s.program, c), Denial::rejected, "memory: not sorted (");
}

TEST_CASE("a period too short for the wrap-around, or none") {
  const Specimen s = named("persistent-pipeline");
  for (const std::int64_t period :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{2},
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    Certificate c = s.certificate;
    c.liveness->period = period;
    check_denied(proofs::recheck(s.program, c), Denial::rejected, "liveness: ");
  }
  // Three ops take three steps, so the next iteration cannot begin after two; nothing else keeps
  // it from that.
  Draft d("three-pages");
  d.persistent().fifo("q", 3).tensor("x", "external").tensor("y");
  d.engine("load", {"reserve q", "run load x > q", "push q"});
  d.engine("store", {"front q", "run store q > y", "pop q"});
  const ir::Program program = d.program();
  Certificate c = best_claim(program, {});
  c.liveness = proofs::liveness::Witness{{0, 1, 2, 3, 4, 5}, 3};
  CHECK_FALSE(proofs::recheck(program, c).denial.has_value());
  c.liveness->period = 2;
  check_denied(proofs::recheck(program, c), Denial::rejected, "liveness: ");
}

TEST_CASE("a path over a free page, where the FIFO may be deeper than declared") {
  Draft d("deeper");
  d.tensor("x", "external", 8).tensor("y");
  d.fifo("q", 1, R"("depth": "guaranteed")").buffer("b");
  d.engine("load", {"run fill x[0:4] > b", "reserve q", "push q", "reserve q",
                    "run fill x[4:8] > b", "push q"});
  d.engine("store", {"front q", "run drain b > y", "pop q", "front q", "pop q"});
  const ir::Program program = d.program();
  const auto made = proofs::make_subject(program, {});
  const auto& places = std::get<proofs::Subject>(made).places;
  Certificate c = best_claim(program, {});
  REQUIRE(proofs::recheck(program, c).denial == Denial::rejected);
  const auto credit = std::find_if(places.begin(), places.end(),
                                   [](const ir::Place& place) { return place.credit; });
  REQUIRE(credit != places.end());
  auto& w = *c.ordering;  // the write and the read, in order; the read and the next write, not so
  const auto number = static_cast<std::uint32_t>(credit - places.begin());
  bool refused = false;
  for (std::size_t pair = 0; pair + 1 < w.begin.size(); ++pair) {
    if (w.begin[pair] != w.begin[pair + 1]) continue;
    w.places.insert(w.places.begin() + w.begin[pair], number);
    for (std::size_t later = pair + 1; later < w.begin.size(); ++later) ++w.begin[later];
    check_denied(proofs::recheck(program, c), Denial::rejected, "ordering: broken path (");
    refused = true;
    break;
  }
  CHECK(refused);
}

TEST_CASE("paths that no bytes say: their beginnings overlap or leave the list") {
  const Specimen s = named("fifo-pipeline");
  for (const std::uint32_t begin : {0U, 2U, 12U, 13U, 0xffffffffU}) {
    Certificate c = s.certificate;
    c.ordering->begin[1] = begin;
    if (begin > 2) CHECK_THROWS_AS(static_cast<void>(encode(c)), ir::InternalFault);
    check_denied(proofs::recheck(s.program, c), Denial::rejected, "ordering: ");
  }
  Certificate c = s.certificate;
  c.ordering = proofs::ordering::Witness{{}, {}};
  check_denied(proofs::recheck(s.program, c), Denial::rejected, "ordering: wrong size (");
}

TEST_CASE("unreadable: a real certificate, changed by a forger who seals it again") {
  const Specimen s = named("rendezvous");
  const std::string good = encode(s.certificate);
  const Payload parts = taken_apart(s.certificate);
  const auto forged = [&](const auto& change) {
    Payload copy = parts;
    change(copy.obligations);
    return refused(proofs::test::forge(joined(copy)));
  };
  REQUIRE(proofs::test::forge(joined(parts)) == good);
  using All = std::vector<Obligation>&;
  CHECK(forged([](All all) { std::swap(all[2], all[3]); }) == Reason::out_of_order);
  CHECK(forged([](All all) { all.insert(all.begin(), Obligation(all[0])); }) ==
        Reason::duplicate_rule);
  CHECK(forged([](All all) { all[1].version = 2; }) == Reason::other_rule_version);
  CHECK(forged([](All all) { all.back().rule = proofs::kRules; }) == Reason::unknown_rule);
  CHECK(forged([](All all) { all[0].subject = 1; }) == Reason::unknown_subject);
  CHECK(forged([](All all) { all[0].in_class = 1; }) == Reason::unknown_class);
  CHECK(forged([](All all) { all[1].witness = "more"; }) == Reason::malformed_witness);
  CHECK(forged([](All all) { std::swap(all[1].witness, all[7].witness); }) ==
        Reason::malformed_witness);
  const std::string unsealed = good.substr(0, good.size() - 32);
  std::string version = unsealed;
  version[8] = 4;
  CHECK(refused(proofs::test::seal(version)) == Reason::other_version);
  CHECK(refused(good.substr(0, good.size() / 2)) == Reason::truncated);
  CHECK(refused(good + "more") == Reason::trailing_data);
  CHECK(refused(proofs::test::seal(unsealed + "more")) == Reason::trailing_data);
  CHECK(refused(proofs::test::forge(joined(parts) + "more")) == Reason::trailing_data);
  CHECK(refused(proofs::test::seal(unsealed.substr(0, 9) + proofs::test::natural(0) +
                                   proofs::test::natural(proofs::kMostPayloadBytes + 1))) ==
        Reason::too_large);
}

}  // namespace spatialcert::tests
