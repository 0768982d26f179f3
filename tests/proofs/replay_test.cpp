// Counterexamples that were tampered with must not replay: one case per branch of
// proofs/replay.cpp.
#include <doctest/doctest.h>

#include "proofs/bounds/rule.hpp"
#include "proofs/liveness/rule.hpp"
#include "proofs/quiescence/rule.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/samples.hpp"

namespace spatialcert::proofs {
namespace {

using tests::Draft;
using tests::Fixture;
using tests::replayed;

bool says(const ir::Program& program, const Counterexample& c, const std::string& why) {
  const std::string answer = replayed(program, c);
  CAPTURE(answer);
  CAPTURE(why);
  CHECK(answer.find(why) != std::string::npos);
  return answer.find(why) != std::string::npos;
}

Counterexample of_kind(Kind kind, ir::Schedule schedule = {}) {
  Counterexample c;
  c.kind = kind;
  c.schedules.push_back(std::move(schedule));
  return c;
}

ir::ProgramId engine(std::uint32_t p) { return ir::ProgramId(p); }

TEST_CASE("replay: kinds that cannot be replayed, and stretches that do not exist") {
  const auto program = tests::fifo_pipeline().program();
  says(program, of_kind(Kind::uncovered), "cannot be replayed");
  auto c = of_kind(Kind::cycle);
  c.iterations = 0;
  says(program, c, "at least one iteration");
  const auto endless = tests::persistent_pipeline().program();
  c.iterations = 0xffffffffU;
  says(endless, c, "more ops than the limit");
}

TEST_CASE("replay: the wrong number of schedules") {
  const auto program = tests::fifo_pipeline().program();
  for (const Kind kind : {Kind::cycle, Kind::starved, Kind::leftover, Kind::overflow, Kind::misuse,
                          Kind::race, Kind::undefined_read, Kind::wrong_producer,
                          Kind::wrong_result, Kind::wrong_order, Kind::slip_through}) {
    Counterexample c;
    c.kind = kind;
    says(program, c, "schedules are needed, 0 are given");
  }
}

Draft crossed() {
  Draft d("crossed");
  d.semaphore("s").semaphore("t").tensor("x", "external");
  d.engine("load", {"run load x", "wait s", "post t"})
      .engine("store", {"run store x", "wait t", "post s"});
  return d;
}

TEST_CASE("replay: a deadlock that is none") {
  Fixture f(crossed());
  const Counterexample good = tests::counterexample(liveness::prove(f.subject, f.session).search);
  REQUIRE(replayed(f.program, good) == "reproduced");
  Counterexample c = good;
  c.schedules[0].pop_back();
  says(f.program, c, "may still be released");
  c = good;
  c.schedules[0].push_back({engine(0), 1});
  says(f.program, c, "the schedule stops after 2 steps");
  c.schedules[0].back() = {engine(7), 1};
  says(f.program, c, "the schedule stops after");
  c = good;
  c.chain[0].waiter = ir::TransitionId(6U);
  says(f.program, c, "does not exist");
  c.chain[0].waiter = ir::TransitionId();
  says(f.program, c, "does not exist");
  c.chain[0].waiter = f.at(0, 0);
  says(f.program, c, "an op of the chain was performed");
}

TEST_CASE("replay: a program that finishes is not stuck") {
  Draft d("right");
  d.semaphore("s").engine("load", {"post s"}).engine("store", {"wait s"});
  says(d.program(), of_kind(Kind::cycle, {{engine(0), 1}, {engine(1), 1}}),
       "may still be released");
  Draft endless("endless");
  endless.persistent().semaphore("s").semaphore("t");
  endless.engine("load", {"post s"})
      .engine("store", {"wait s", "wait t"})
      .engine("compute", {"post t"});
  says(endless.program(), of_kind(Kind::starved, {{engine(0), 1}, {engine(1), 1}}),
       "may still be released");
  Draft starved("starved beside one that goes on");
  starved.persistent().semaphore("s").semaphore("t");
  starved.engine("load", {"post s"}).engine("store", {"wait t"});
  CHECK(replayed(starved.program(), of_kind(Kind::starved, {{engine(0), 1}})) == "reproduced");
}

TEST_CASE("replay: something left over that is not") {
  Draft d("leftover");
  d.semaphore("s")
      .semaphore("t")
      .engine("load", {"post s 2", "post t"})
      .engine("store", {"wait s", "wait t"});
  Fixture f(d);
  const Counterexample good = tests::counterexample(quiescence::prove(f.subject, f.session));
  REQUIRE(replayed(f.program, good) == "reproduced");
  Counterexample c = good;
  c.schedules[0].pop_back();
  says(f.program, c, "does not play to the end");
  c = good;
  c.counter = ir::CounterId(1U);
  says(f.program, c, "back at its initial value");
  c.counter = ir::CounterId(2U);
  says(f.program, c, "no such counter");
  c.counter = ir::CounterId();
  says(f.program, c, "no such counter");
  c = good;
  c.value = 2;
  says(f.program, c, "the counter ends at 1, not 2");
}

TEST_CASE("replay: an overflow that is none") {
  Draft d("overflow");
  d.semaphore("s", 0, 2).semaphore("t");
  d.engine("load", {"post s", "post s 2", "wait t", "post s"})
      .engine("store", {"wait s", "post t"});
  Fixture f(d);
  const Counterexample good =
      tests::counterexample(bounds::prove(f.subject, f.position, f.session));
  REQUIRE(replayed(f.program, good) == "reproduced");
  Counterexample c = good;
  c.kind = Kind::misuse;
  says(f.program, c, "another kind of fault");
  c = good;
  c.schedules[0] = {};
  says(f.program, c, "does not stand at the op");
  c.schedules[0] = {{engine(1), 1}};
  says(f.program, c, "the schedule stops after 0 steps");
  c = good;
  c.transition = ir::TransitionId();
  says(f.program, c, "no such op");
  c.transition = ir::TransitionId(100U);
  says(f.program, c, "no such op");
  c.transition = f.at(1, 0);
  c.schedules[0] = {};
  says(f.program, c, "the op is blocked");
  c.transition = f.at(0, 0);
  says(f.program, c, "performed without fault");
}

TEST_CASE("replay: a region that is inside its object after all") {
  Draft d("region");
  d.tensor("x", "external", 8).engine("load", {"repeat 3", "run load x[4i:4i+4]", "end"});
  Fixture f(d);
  const Counterexample good =
      tests::counterexample(bounds::prove(f.subject, f.position, f.session));
  REQUIRE(replayed(f.program, good) == "reproduced");
  Counterexample c = good;
  c.transition = f.at(0, 1);
  c.schedules[0] = {{engine(0), 1}};
  says(f.program, c, "the region lies inside its object");
  c = good;
  ++c.accesses[0].access;
  says(f.program, c, "the region lies inside its object");
}

TEST_CASE("replay: static kinds are recomputed from the layout") {
  Draft d("layout");
  d.buffer("a", R"("address": 0)")
      .buffer("b", R"("address": 60)")
      .buffer("c", R"("address": 4040)");
  d.buffer("e", R"("address": 202)").engine("load", {"run load > a"});
  const auto program = d.program();
  const auto with = [](Kind kind, const std::vector<std::uint32_t>& buffers,
                       std::int64_t value = 0) {
    Counterexample c;
    c.kind = kind;
    c.value = value;
    for (const std::uint32_t b : buffers) c.buffers.emplace_back(b);
    return c;
  };
  CHECK(replayed(program, with(Kind::overlap, {0, 1}, 60)) == "reproduced");
  CHECK(replayed(program, with(Kind::out_of_memory, {2})) == "reproduced");
  CHECK(replayed(program, with(Kind::misaligned, {3})) == "reproduced");
  says(program, with(Kind::overlap, {0}), "2 buffers are needed");
  says(program, with(Kind::misaligned, {0, 1}), "1 buffers are needed");
  says(program, with(Kind::overlap, {0, 4}), "no such buffer");
  says(program, with(Kind::out_of_memory, {0}), "the buffer fits");
  says(program, with(Kind::misaligned, {0}), "the buffer is aligned");
  for (const std::int64_t byte : {0, 59, 64, 124, -1}) {
    says(program, with(Kind::overlap, {0, 1}, byte), "do not share that byte");
  }
  says(program, with(Kind::overlap, {0, 0}, 0), "do not share that byte");
  says(program, with(Kind::overlap, {0, 2}, 60), "do not share that byte");
}

}  // namespace
}  // namespace spatialcert::proofs
