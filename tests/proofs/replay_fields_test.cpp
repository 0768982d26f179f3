// What a counterexample says in each of its fields is looked at: the field changed, it no longer
// replays. And the other way round: what is true to the last byte replays.
#include <doctest/doctest.h>

#include "proofs/liveness/rule.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/samples.hpp"

namespace spatialcert::proofs {
namespace {

using tests::Draft;
using tests::Fixture;
using tests::replayed;

ir::ProgramId engine(std::uint32_t p) { return ir::ProgramId(p); }

Counterexample of_kind(Kind kind, ir::Schedule schedule = {}) {
  Counterexample c;
  c.kind = kind;
  c.schedules.push_back(std::move(schedule));
  return c;
}

TEST_CASE("replay: one schedule more than needed") {
  Draft d("starved");
  d.semaphore("s").engine("load", {"wait s"});
  auto c = of_kind(Kind::starved);
  CHECK(replayed(d.program(), c) == "reproduced");
  c.schedules.emplace_back();
  CHECK(replayed(d.program(), c) == "1 schedules are needed, 2 are given");
}

TEST_CASE("replay: chains over every kind of test, and what their links say") {
  Draft flag("flag"), full("full"), empty("empty");
  flag.semaphore("s", 0, 15, R"("restart": "reset")").semaphore("t");
  flag.engine("load", {"await s 1", "post t"}).engine("store", {"wait t", "post s"});
  full.fifo("q", 1).semaphore("s");
  full.engine("load", {"reserve q", "push q", "reserve q", "push q", "post s"});
  full.engine("store", {"wait s", "front q", "pop q", "front q", "pop q"});
  empty.fifo("q", 1).semaphore("s");
  empty.engine("load", {"wait s", "reserve q", "push q"});
  empty.engine("store", {"front q", "pop q", "post s"});
  for (const Draft& draft : {flag, full, empty}) {
    CAPTURE(draft.name());
    Fixture f(draft);
    const Counterexample good = tests::counterexample(liveness::prove(f.subject, f.session).search);
    REQUIRE(replayed(f.program, good) == "reproduced");
    REQUIRE(good.chain.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      Counterexample c = good;
      ++c.chain[i].need;
      CHECK(replayed(f.program, c) == "an op of the chain needs another value");
      c = good;
      ++c.chain[i].have;
      CHECK(replayed(f.program, c) == "a counter of the chain holds another value");
      c = good;
      c.chain[i].counter = ir::CounterId(c.chain[i].counter.value() + 1);
      CHECK(replayed(f.program, c) == "an op of the chain does not test that counter");
    }
  }
}

TEST_CASE("replay: a chain names ops that test, of engine programs that are stuck") {
  Draft d("two of four");
  d.semaphore("s").semaphore("t").semaphore("u");
  d.engine("load", {"wait s", "post t"}).engine("compute", {"wait t", "post s"});
  d.engine("store", {"wait u"}).engine("move", {"post u"});
  Fixture f(d);
  auto c = of_kind(Kind::cycle);
  c.chain = {{f.at(0, 0), ir::CounterId(0U), 1, 0, {}}};
  CHECK(replayed(f.program, c) == "reproduced");
  c.chain = {{f.at(2, 0), ir::CounterId(2U), 1, 0, {}}};
  CHECK(replayed(f.program, c) == "an engine program of the chain is not stuck");
  c.chain = {{f.at(0, 1), ir::CounterId(1U), 1, 0, {}}};
  CHECK(replayed(f.program, c) == "an op of the chain does not test that counter");
}

TEST_CASE("replay: a deadlock behind steps that nobody can make") {
  Draft d("starved");
  d.semaphore("s").engine("load", {"wait s"});
  CHECK(replayed(d.program(), of_kind(Kind::starved, {{engine(0), 1}})) ==
        "the schedule stops after 0 steps");
}

TEST_CASE("replay: an end with steps beyond it, and a counter that is back where it was") {
  Draft d("left");
  d.semaphore("s", 1).semaphore("t", 1).engine("load", {"post s", "post t", "wait t"});
  auto c = of_kind(Kind::leftover, {{engine(0), 3}});
  c.counter = ir::CounterId(0U);
  c.value = 2;
  CHECK(replayed(d.program(), c) == "reproduced");
  c.schedules[0][0].steps = 4;
  CHECK(replayed(d.program(), c) == "the schedule does not play to the end");
  c.schedules[0][0].steps = 3;
  c.counter = ir::CounterId(1U);
  c.value = 1;
  CHECK(replayed(d.program(), c) == "the counter is back at its initial value");
}

TEST_CASE("replay: an overflow of the op that stands next, at the limit that is") {
  Draft d("second post");
  d.semaphore("s", 0, 1).engine("load", {"post s", "post s"});
  Fixture f(d);
  auto c = of_kind(Kind::overflow, {{engine(0), 1}});
  c.transition = f.at(0, 1);
  c.counter = ir::CounterId(0U);
  c.value = 2;
  c.limit = 1;
  CHECK(replayed(f.program, c) == "reproduced");
  c.limit = 2;
  CHECK(replayed(f.program, c) == "the fault is of another counter or value");
  c.limit = 1;
  c.transition = f.at(0, 0);
  CHECK(replayed(f.program, c) == "the engine program does not stand at the op");
  c.transition = f.at(0, 1);
  c.schedules[0][0].steps = 2;
  CHECK(replayed(f.program, c) == "the schedule stops after 1 steps");
}

/// Engines 0 and 1 write the two halves of b, then all of it.
Draft halves() {
  Draft d("halves");
  d.tensor("x", "external").buffer("b").semaphore("s");
  d.engine("load", {"run load x > b[0:32]", "run load x > b", "post s"});
  return d.engine("store", {"run store x > b[32:64]", "run store x > b", "wait s"});
}

Counterexample race(const Fixture& f, AccessRef a, AccessRef b) {
  Counterexample c;
  c.kind = Kind::race;
  c.accesses = {a, b};
  const std::uint32_t first = a.transition.value() - f.subject.stretch.begin[0] + 1;
  const std::uint32_t second = b.transition.value() - f.subject.stretch.begin[1] + 1;
  c.schedules = {{{engine(0), first}, {engine(1), second}},
                 {{engine(1), second}, {engine(0), first}}};
  return c;
}

TEST_CASE("replay: accesses race where they meet, and nowhere else") {
  const Fixture f(halves());
  // Accesses by number: load reads 0 and 2, writes 1 and 3; store reads 4 and 6, writes 5 and 7.
  const AccessRef low{f.at(0, 0), 1}, all{f.at(0, 1), 3};
  const AccessRef high{f.at(1, 0), 5}, both{f.at(1, 1), 7};
  CHECK(replayed(f.program, race(f, low, both)) == "reproduced");
  CHECK(replayed(f.program, race(f, all, high)) == "reproduced");
  CHECK(replayed(f.program, race(f, low, high)) == "the two accesses do not conflict");
  Counterexample c = race(f, low, high);
  std::swap(c.accesses[0], c.accesses[1]);
  CHECK(replayed(f.program, c) == "the two accesses do not conflict");
  c = race(f, all, high);
  c.accesses[0].transition = f.at(0, 2);
  CHECK(replayed(f.program, c) == "the two accesses do not conflict");
  c = race(f, all, high);
  c.accesses.push_back(c.accesses[0]);
  CHECK(replayed(f.program, c) == "two accesses are needed");
}

TEST_CASE("replay: only the second schedule of a race may use deeper FIFOs") {
  Draft d("deeper");
  d.tensor("x", "external").tensor("y").fifo("q", 1, R"("depth": "guaranteed")").buffer("b");
  d.engine("load", {"reserve q", "push q", "reserve q", "run load x > b", "push q"});
  d.engine("store", {"run store b > y", "front q", "pop q", "front q", "pop q"});
  const Fixture f(d);
  Counterexample c;
  c.kind = Kind::race;
  c.accesses = {{f.at(0, 3), 1}, {f.at(1, 0), 2}};
  c.deeper = {{ir::BufferId(0U), 1}};
  c.schedules = {{{engine(0), 2}, {engine(1), 3}, {engine(0), 2}},
                 {{engine(0), 4}, {engine(1), 1}}};
  CHECK(replayed(f.program, c) == "reproduced");
  std::swap(c.schedules[0], c.schedules[1]);
  CHECK(replayed(f.program, c) == "the schedule cannot be played");
}

/// An undefined tensor, buffer and page are read beside given ones.
Draft undefined() {
  Draft d("undefined");
  d.tensor("x", "external").tensor("z").tensor("y", "undefined", 16).fifo("q", 1);
  d.buffer("a", R"("init": "zero")").buffer("b").stage("load", "copy").edge("load", "a", "store");
  return d.engine(
      "load", {"reserve q", "push q", "front q", "run store x q > y[0:4]", "run store z > y[4:8]",
               "run store a b > y[8:12]", "run store x > b", "pop q"});
}

TEST_CASE("replay: a read of undefined contents, to the byte and to the access") {
  const Fixture f(undefined());
  const auto& map = f.subject.accesses;
  const auto bad_read = [&](std::uint32_t op, std::uint32_t access, std::uint32_t storage,
                            std::uint64_t low, std::uint64_t high) {
    auto c = of_kind(Kind::undefined_read, {{engine(0), op}});
    c.accesses = {{f.at(0, op), access}};
    c.range = LocationRange{map.storages[storage], low, high};
    return replayed(f.program, c);
  };
  const std::uint32_t page = map.storage_of_buffer[0], memory = map.storage_of_buffer[2];
  const std::uint32_t z = map.storage_of_tensor[1];
  const std::uint64_t b = f.program.buffers[2].address;
  CHECK(bad_read(3, 1, page, 0, 64) == "reproduced");
  CHECK(bad_read(3, 1, page, 63, 64) == "reproduced");
  CHECK(bad_read(3, 0, page, 0, 64) == "the op does not read the range");
  CHECK(bad_read(4, 1, page, 0, 64) == "the op does not read the range");
  CHECK(bad_read(4, 3, z, 0, 16) == "reproduced");
  CHECK(bad_read(5, 6, memory, b, b + 64) == "reproduced");
  CHECK(bad_read(5, 6, memory, b - 64, b + 64) == "the op does not read the range");
  CHECK(bad_read(5, 6, memory, b, b + 65) == "the op does not read the range");
  CHECK(bad_read(5, 5, memory, b - 64, b) == "the range has initial contents");
  CHECK(bad_read(6, 9, memory, b, b + 64) == "the op does not read the range");  // it writes it
}

TEST_CASE("replay: edges speak of one buffer and one consumer") {
  Draft d("edges");
  d.tensor("x", "external").tensor("z").tensor("y", "undefined", 12).buffer("a").buffer("b");
  d.stage("load", "copy")
      .stage("last", "copy")
      .edge("load", "a", "last")
      .edge("load", "b", "store");
  d.engine("load", {"run bias x > a", "run bias x > z", "run store a > y[0:4]",
                    "run store z > y[4:8]", "run bias x > b", "run store b > y[8:12]"});
  const Fixture f(d);
  const auto& map = f.subject.accesses;
  const auto bad_read = [&](std::uint32_t op, std::uint32_t access, std::uint32_t storage,
                            std::uint64_t low, std::uint64_t high) {
    auto c = of_kind(Kind::wrong_producer, {{engine(0), op}});
    c.accesses = {{f.at(0, op), access}};
    c.range = LocationRange{map.storages[storage], low, high};
    return replayed(f.program, c);
  };
  CHECK(bad_read(2, 4, map.storage_of_buffer[0], 0, 64) == "no producer is declared");
  CHECK(bad_read(3, 6, map.storage_of_tensor[1], 0, 16) == "edges speak of buffers");
  CHECK(bad_read(5, 10, map.storage_of_buffer[1], 64, 128) == "reproduced");
}

std::string result_of(const Draft& draft, ir::Schedule schedule) {
  return replayed(draft.program(), of_kind(Kind::wrong_result, std::move(schedule)));
}

TEST_CASE("replay: results are those of the schedule") {
  Draft back("from the last engine to the first"), cut("cut short");
  back.tensor("x", "external").tensor("y").buffer("b").semaphore("s").sum("y", {"x"});
  back.engine("load", {"wait s", "run load b > y"}).engine("store", {"run store x > b", "post s"});
  CHECK(result_of(back, {{engine(1), 2}, {engine(0), 2}}) ==
        "every output holds its declared combination");
  cut.tensor("x", "external").tensor("y").sum("y", {"x"});
  cut.engine("load", {"run load x > y", "run load x > y"});
  CHECK(result_of(cut, {}) == "the schedule does not play to the end");
}

TEST_CASE("replay: results that are unknown, undefined or have nothing to be compared with") {
  const auto with = [](const char* term, const char* op) {
    Draft d("results");
    d.tensor("x", "external").tensor("z", "zero").tensor("y").buffer("b").sum("y", {term});
    d.stage("silu", "silu").stage("add", "add");
    return result_of(d.engine("load", {op}), {{engine(0), 1}});
  };
  CHECK(with("x", "run silu x > y") == "every output holds its declared combination");
  CHECK(with("x", "run add x b > y") == "reproduced");
  CHECK(with("z", "run load x > y") == "a term is not given from outside");
  CHECK(with("x", "run load z > y") == "reproduced");
}

TEST_CASE("replay: results of factors that do not fit, and beyond the limit of the analysis") {
  Draft d("wraps around"), far("far pages");
  d.tensor("x", "external").tensor("y").buffer("b").stage("add", "add").sum("y", {"x"});
  d.stage("many", "scale", R"("scale": 65536)");
  d.engine("load", {"run many x > b", "run many b > b", "run many b > b", "run many b > b",
                    "run add b x > y"});
  CHECK(result_of(d, {{engine(0), 5}}) == "reproduced");
  far.fifo("q", 2, R"("page_bytes": 2305843009213693952, "address": 0)").tensor("x", "external");
  far.tensor("y").sum("y", {"x"});
  far.engine("load",
             {"repeat 8", "reserve q", "run load > q", "push q", "front q", "pop q", "end"});
  CHECK(result_of(far, {{engine(0), 40}}) == "the accesses cannot be resolved");
}

TEST_CASE("replay: a layout to the byte") {
  Draft d("layout");
  d.buffer("a", R"("address": 0)").buffer("b", R"("address": 60)");
  d.buffer("c", R"("address": 4032)").buffer("e", R"("address": 4036)");
  const auto program = d.engine("load", {"run load > a"}).program();
  const auto with = [&](Kind kind, const std::vector<std::uint32_t>& buffers, std::int64_t value) {
    Counterexample c;
    c.kind = kind;
    c.value = value;
    for (const std::uint32_t b : buffers) c.buffers.emplace_back(b);
    return replayed(program, c);
  };
  for (const std::int64_t byte : {60, 61, 63}) {
    CHECK(with(Kind::overlap, {0, 1}, byte) == "reproduced");
    CHECK(with(Kind::overlap, {1, 0}, byte) == "reproduced");
  }
  for (const std::int64_t byte : {59, 64}) {
    CHECK(with(Kind::overlap, {0, 1}, byte) != "reproduced");
    CHECK(with(Kind::overlap, {1, 0}, byte) != "reproduced");
  }
  CHECK(with(Kind::overlap, {0, 1, 2}, 60) == "2 buffers are needed");
  CHECK(with(Kind::overlap, {4, 0}, 0) == "no such buffer");
  CHECK(with(Kind::out_of_memory, {2}, 0) == "the buffer fits");
  CHECK(with(Kind::out_of_memory, {3}, 0) == "reproduced");
}

}  // namespace
}  // namespace spatialcert::proofs
