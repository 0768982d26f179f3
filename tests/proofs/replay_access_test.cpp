// As replay_test.cpp, for the counterexamples that speak of accesses and values.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "proofs/flow/rule.hpp"
#include "proofs/ordering/rule.hpp"
#include "proofs/reduction/rule.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/samples.hpp"

namespace spatialcert::proofs {
namespace {

using tests::Draft;
using tests::Fixture;
using tests::replayed;

void says(const Fixture& f, const Counterexample& c, const std::string& why) {
  const std::string answer = replayed(f.program, c);
  CAPTURE(answer);
  CAPTURE(why);
  CHECK(answer.find(why) != std::string::npos);
}

ir::ProgramId engine(std::uint32_t p) { return ir::ProgramId(p); }

/// Engine 0 writes b (access 1), engine 1 reads it (access 2) without waiting; both read x.
Draft race_draft() {
  Draft d("race");
  d.tensor("x", "external")
      .tensor("y", "undefined", 8)
      .buffer("b", R"("init": "zero")")
      .semaphore("s")
      .fifo("q", 1);
  d.engine("load", {"run load x > b", "post s"});
  d.engine("store", {"run store b > y[0:4]", "wait s", "run last b x > y[4:8]"});
  return d;
}

Counterexample race_of(Fixture& f) {
  const Counterexample c =
      tests::counterexample(ordering::prove(f.subject, f.position, f.session).search);
  REQUIRE(c.kind == Kind::race);
  REQUIRE(replayed(f.program, c) == "reproduced");
  return c;
}

TEST_CASE("replay: a race whose accesses do not race") {
  Fixture f(race_draft());
  const Counterexample good = race_of(f);
  Counterexample c = good;
  c.accesses.pop_back();
  says(f, c, "two accesses are needed");
  c = good;
  c.accesses[1].transition = ir::TransitionId(50U);
  says(f, c, "two accesses are needed");
  c = good;  // of one program
  c.accesses[0] = {f.at(1, 0), 2};
  c.accesses[1] = {f.at(1, 2), 4};
  says(f, c, "one engine program performs both");
  c.accesses[0] = {f.at(0, 0), 0};  // two reads
  c.accesses[1] = {f.at(1, 2), 5};
  says(f, c, "do not conflict");
  c.accesses[0] = {f.at(0, 0), 1};  // different locations
  c.accesses[1] = {f.at(1, 0), 3};
  says(f, c, "do not conflict");
  c = good;  // an access of another op
  c.accesses[0].access = 99;
  says(f, c, "do not conflict");
}

TEST_CASE("replay: a race whose schedules do not show it") {
  Fixture f(race_draft());
  const Counterexample good = race_of(f);
  Counterexample c = good;
  c.schedules[1] = c.schedules[0];
  says(f, c, "in the same order");
  c = good;
  c.schedules[1].clear();
  says(f, c, "does not perform both accesses");
  c = good;
  c.schedules[0] = {{engine(0), 3}};
  says(f, c, "cannot be played");
  c.schedules[0] = {{engine(9), 1}};
  says(f, c, "no such engine program");
  c = good;
  c.deeper = {{ir::BufferId(1U), 4}};
  says(f, c, "only guaranteed FIFOs may be deeper");
  c.deeper = {{ir::BufferId(17U), 4}};
  says(f, c, "only guaranteed FIFOs may be deeper");
}

TEST_CASE("replay: a race behind a fault") {
  Draft d = race_draft();
  d.engine("move", {"push q"});
  Fixture f(d);
  Counterexample c;
  c.kind = Kind::race;
  c.accesses = {{f.at(0, 0), 1}, {f.at(1, 0), 2}};
  c.schedules = {{{engine(0), 1}, {engine(1), 1}}, {{engine(1), 1}, {engine(0), 1}}};
  CHECK(replayed(f.program, c) == "reproduced");
  c.schedules[1].insert(c.schedules[1].begin(), {engine(2), 1});
  says(f, c, "meets a fault");
}

TEST_CASE("replay: an exact depth lets nobody overtake") {
  Draft d("deeper");
  d.tensor("x", "external", 8).tensor("y").fifo("q", 1, R"("depth": "guaranteed")").buffer("b");
  d.engine("load", {"run load x[0:4] > b", "reserve q", "push q", "reserve q",
                    "run load x[4:8] > b", "push q"});
  d.engine("store", {"front q", "run store b > y", "pop q", "front q", "pop q"});
  Fixture f(d);
  Counterexample c = race_of(f);
  REQUIRE(!c.deeper.empty());
  c.deeper.clear();
  says(f, c, "cannot be played");
  c.deeper = {{ir::BufferId(0U), -1}};
  says(f, c, "only guaranteed FIFOs may be deeper");
}

Draft undefined_draft() {
  Draft d("undefined");
  d.tensor("x", "external")
      .tensor("y", "undefined", 8)
      .buffer("a")
      .buffer("b")
      .buffer("z", R"("init": "zero")")
      .fifo("q", 1);
  d.engine("load",
           {"run load x > a", "run store a > y[0:4]", "run store b > y[4:8]", "run last z"});
  d.engine("move", {"push q"});
  return d;
}

Counterexample undefined_of(Fixture& f) {
  const auto order = ordering::prove(f.subject, f.position, f.session);
  const Counterexample c =
      tests::counterexample(flow::prove(f.subject, f.position, order.ordered, f.session).search);
  REQUIRE(c.kind == Kind::undefined_read);
  REQUIRE(replayed(f.program, c) == "reproduced");
  return c;
}

TEST_CASE("replay: an undefined read that is none") {
  Fixture f(undefined_draft());
  const Counterexample good = undefined_of(f);
  Counterexample c = good;
  c.range.reset();
  says(f, c, "a read and a range are needed");
  c = good;
  c.accesses.clear();
  says(f, c, "a read and a range are needed");
  c = good;
  c.accesses[0].transition = ir::TransitionId(99U);
  says(f, c, "a read and a range are needed");
  c = good;
  c.range->low = 0;
  c.range->high = 64;
  says(f, c, "does not read the range");
  c = good;
  c.schedules[0] = {{engine(0), 9}};
  says(f, c, "cannot be played");
  c.schedules[0] = {{engine(5), 1}};
  says(f, c, "cannot be played");
  c.schedules[0] = {{engine(1), 1}};
  says(f, c, "meets a fault");
  c.schedules[0] = {{engine(0), 1}};
  says(f, c, "does not stand at the read");
}

TEST_CASE("replay: a range that was written, or had contents") {
  Fixture f(undefined_draft());
  Counterexample c = undefined_of(f);
  c.accesses[0] = {f.at(0, 1), 2};
  c.schedules[0] = {{engine(0), 1}};
  c.range->low = 0;
  c.range->high = 64;
  says(f, c, "the range was written before");
  c.accesses[0] = {f.at(0, 3), 6};
  c.schedules[0] = {{engine(0), 3}};
  c.range->low = 128;
  c.range->high = 192;
  says(f, c, "the range has initial contents");
}

TEST_CASE("replay: contents beside the range are not in it") {
  const auto part = [](int offset) {
    return fmt::format(R"("init": "zero", "page_bytes": 16, "view": {{"of": "b", "offset": {}}})",
                       offset);
  };
  Draft d("beside");
  d.tensor("y").buffer("b").buffer("low", part(0)).buffer("high", part(48));
  d.engine("load", {"run store b[16:48] > y[0:2]"});
  Fixture f(d);
  const Counterexample c = undefined_of(f);
  CHECK(c.range->low == 16);
  CHECK(c.range->high == 48);
}

TEST_CASE("replay: reads beyond the limit of the analysis") {
  Draft d("far pages");
  d.fifo("q", 2, R"("page_bytes": 2305843009213693952, "address": 0)");
  d.engine("load", {"repeat 8", "reserve q", "run load > q", "push q", "end"});
  d.engine("store", {"repeat 8", "front q", "run store q", "pop q", "end"});
  Fixture f(d);
  Counterexample c;
  c.accesses = {{f.at(1, 1), 1}};
  c.range = LocationRange{{}, 0, 1};
  c.schedules.resize(1);
  c.kind = Kind::undefined_read;
  says(f, c, "exceed the limit");
  c.accesses = {{f.at(0, 1), 0}, {f.at(1, 1), 1}};
  c.schedules.resize(2);
  c.kind = Kind::race;
  says(f, c, "do not conflict");
}

TEST_CASE("replay: a producer that is declared, or none that is") {
  Draft d("producers");
  d.tensor("x", "external")
      .tensor("y", "undefined", 12)
      .buffer("a")
      .buffer("b")
      .edge("load", "b", "store");
  d.engine("load", {"run bias x > b", "run store b > y[0:4]", "run load x > b",
                    "run store b > y[4:8]", "run free b > y[8:12]"});
  Fixture f(d);
  const auto order = ordering::prove(f.subject, f.position, f.session);
  const Counterexample good =
      tests::counterexample(flow::prove(f.subject, f.position, order.ordered, f.session).search);
  REQUIRE(good.kind == Kind::wrong_producer);
  REQUIRE(replayed(f.program, good) == "reproduced");
  Counterexample c = good;
  c.accesses[0] = {f.at(0, 3), 6};
  c.schedules[0] = {{engine(0), 3}};
  says(f, c, "belongs to a declared producer");
  c.accesses[0] = {f.at(0, 4), 8};
  c.schedules[0] = {{engine(0), 4}};
  says(f, c, "no producer is declared");
  c = good;
  c.kind = Kind::undefined_read;
  says(f, c, "was written before");
}

TEST_CASE("replay: a wrong result that is right") {
  Draft d = tests::added_up();
  Fixture right(d);
  Draft twice = tests::added_up();
  twice.sum("y", {"x0"});
  Fixture f(twice);
  const Counterexample good =
      tests::counterexample(reduction::prove(f.subject, f.position, f.session));
  REQUIRE(replayed(f.program, good) == "reproduced");
  Counterexample c = good;
  c.index = 0;
  says(right, c, "every output holds its declared combination");
  c.index = 2;
  says(f, c, "no such postcondition");
  c = good;
  c.schedules[0].pop_back();
  says(f, c, "does not play to the end");
  c = good;
  c.schedules[0].insert(c.schedules[0].begin(), {engine(2), 1});
  says(f, c, "cannot be played");
}

TEST_CASE("replay: results of plays that have none") {
  Draft endless("endless"), faulty("faulty"), beyond("beyond");
  for (Draft* d : {&endless, &faulty, &beyond})
    d->tensor("x", "external").tensor("y").fifo("q", 1).sum("y", {"x"});
  endless.persistent().engine("load", {"run load x > y"});
  faulty.engine("load", {"push q"}).engine("store", {"front q", "pop q"});
  beyond.engine("load", {"repeat 2", "run load x[4i:4i+4] > y", "end"});
  Counterexample c;
  c.kind = Kind::wrong_result;
  c.schedules = {{{engine(0), 1}}};
  says(Fixture(endless), c, "a persistent program has no end");
  says(Fixture(faulty), c, "meets a fault");
  c.schedules = {{{engine(0), 2}}};
  says(Fixture(beyond), c, "the accesses cannot be resolved");
}

}  // namespace
}  // namespace spatialcert::proofs
