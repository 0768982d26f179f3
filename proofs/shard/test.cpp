#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "proofs/shard/misplaced.hpp"
#include "proofs/shard/rule.hpp"
#include "tests/proofs/samples.hpp"
#include "tests/proofs/shards.hpp"

namespace spatialcert::proofs::shard {
namespace {

using namespace tests::shards;
using tests::Draft;
using tests::Fixture;
using tests::outcome;
using tests::rejected;
using Reason = Rejected::Reason;

TEST_CASE("shard: an all-reduce over every chip clears") {
  proves(gathered("two", 2, {"run all w0 q1 > y"}));
  proves(gathered("four", 4, {"run all w0 q1 q2 q3 > y"}));
  for (const char* op : {"add", "sum", "max"})
    proves(gathered(op, 2, {"run all w0 q1 > y"}).stage("all", op, R"("kind": "allreduce")"));
  Fixture f(gathered("counted", 2, {"run all w0 q1 > y"}));
  CHECK(std::get<Accepted>(check(f.subject, {})).obligations == 1);
}

TEST_CASE("shard: reductions inside groups and then across them") {
  Draft d = gathered("groups", 4, {"run all w0 q1 > a", "run all q2 q3 > b", "run all a b > y"});
  proves(d.buffer("a").buffer("b"));
}

TEST_CASE("shard: what was cleared stays clear, and replicated data may be added anywhere") {
  Draft d = gathered("cleared", 2, {"run all w0 q1 x > a", "run work a x > y"});
  proves(d.buffer("a").tensor("x", "external"));
  Draft zero = gathered("zero", 2, {"run work z > y"});
  proves(zero.buffer("z", R"("init": "zero")"));
}

TEST_CASE("shard: a chip that is in a part of a content only has not joined all of it") {
  // Of chip 1's data 60 bytes of 64 arrive; the last four are zeros.
  const std::string zero = R"("init": "zero")";
  const std::string part = "run cut q1[0:60] > p[0:60]";
  const auto three = [&](const std::string& name, const std::vector<std::string>& ops) {
    Draft d = gathered(name, 3, ops);
    return d.buffer("p", zero).buffer("a").buffer("b");
  };
  proves(three("all of it", {"run cut q1 > p", "run all w0 p > a", "run all a q2 > y"}));
  const Counterexample c = refutes(three("a part", {part, "run all w0 p > a", "run all a q2 > y"}),
                                   "missing-chip", Reason::missing_chip);
  CHECK(times(c) == "chip 1: 0, chip 0: 1, chip 2: 1");
  misses(three("at once", {part, "run all w0 p q2 > y"}));
  // A copy does not spread it.
  misses(three("copied", {part, "run cut p > b", "run all w0 b q2 > y"}));
  misses(three("worked on", {part, "run work p x > b", "run all w0 b q2 > y"})
             .tensor("x", "external"));
  misses(three("mixed", {part, "run all w0 p q2 > a[0:8]", "run store a[0:8] > y[0:2]"}));
  // Together with something that is all of chip 1's, it is.
  proves(three("with more of it", {part, "run work p q1 > b", "run all w0 b q2 > y"}));
  // Who reads the part that has arrived reads chip 1's data.
  proves(three("that part", {part, "run all w0[0:3] p[0:48] q2[0:48] > y[0:3]"}));
  leaks(three("stored", {part, "run store p > y"}));
}

TEST_CASE("shard: a chip's data reach the spine") {
  leaks(gathered("stored", 2, {"run store w0 > y"}));
  leaks(gathered("through a fifo", 2, {"run store q1 > y"}));
  leaks(gathered("worked on", 2, {"run work w0 > a", "run work a > b", "run store b > y"})
            .buffer("a")
            .buffer("b"));
  leaks(gathered("with replicated data", 2, {"run work w0 x > y"}).tensor("x", "external"));
  leaks(gathered("as an index", 2, {"run pick x w0 > y"}).tensor("x", "external"));
  leaks(gathered("mixed", 2, {"run add w0 q1 > y"}));
  const Counterexample c =
      refutes(gathered("named", 3, {"run store w0 > y"}), "leak", Reason::leak);
  CHECK(times(c) == "chip 1: 0, chip 2: 0, chip 0: 1");
  CHECK(c.accesses.size() == 2);
}

TEST_CASE("shard: zeros that a chip owns, and what the host puts into a buffer, are its own") {
  Draft zero = sharded("zero"), filled = sharded("filled"), both = sharded("both");
  zero.tensor("w", "zero", 4, "f32", owned(1)).tensor("y").engine("1:load", {"run store w > y"});
  leaks(zero);
  filled.tensor("w", "external", 4, "f32", owned(0))
      .tensor("y")
      .buffer("b", R"("init": "external")")
      .engine("load", {"run store b > y"});
  leaks(filled);
  both.buffer("a", R"("init": "external")")
      .buffer("b", R"("init": "external", )" + on(1))
      .tensor("y");
  both.engine("load", {"run store a > y"}).engine("1:load", {"run store b"});
  leaks(both);
}

TEST_CASE("shard: an all-reduce that leaves chips out") {
  misses(gathered("two of three", 3, {"run all w0 q1 > y"}));
  misses(gathered("and on", 3, {"run all w0 q1 > a", "run work a > y"}).buffer("a"));
  const Counterexample c =
      refutes(gathered("named", 3, {"run all w0 q2 > y"}), "missing-chip", Reason::missing_chip);
  CHECK(times(c) == "chip 1: 0, chip 0: 1, chip 2: 1");
  // Chip 2 owns nothing, so nothing can join it.
  Draft d = sharded("idle chip", 3);
  d.tensor("w0", "external", 4, "f32", owned(0)).tensor("w1", "external", 4, "f32", owned(1));
  d.tensor("y").fifo("q", 1, R"("handoff": "wire")");
  d.engine("1:load", {"reserve q", "run load w1 > q", "push q"});
  d.engine("load", {"front q", "run all w0 q > y", "pop q"});
  CHECK(times(refutes(d, "missing-chip", Reason::missing_chip)) ==
        "chip 2: 0, chip 0: 1, chip 1: 1");
}

TEST_CASE("shard: partial sums that were added, not reduced, are a leak when no chip is missing") {
  leaks(gathered("added", 4, {"run all w0 q1 > a", "run all q2 q3 > b", "run work a b > y"})
            .buffer("a")
            .buffer("b"));
}

TEST_CASE("shard: a chip's data taken twice never become clear") {
  doubles(gathered("twice", 2, {"run all w0 q1 w0 > y"}));
  doubles(
      gathered("groups that meet", 3, {"run all w0 q1 > a", "run all a q1 q2 > y"}).buffer("a"));
  doubles(gathered("and on", 2, {"run all w0 w0 > a", "run all a q1 > y"}).buffer("a"));
  const Counterexample c = refutes(gathered("named", 2, {"run all w0 q1 q1 > y"}),
                                   "double-contribution", Reason::double_contribution);
  CHECK(times(c) == "chip 1: 2, chip 0: 1");
}

TEST_CASE("shard: only an elementwise all-reduce stage clears") {
  leaks(gathered("no all-reduce", 2, {"run all w0 q1 > y"}).stage("all", "add"));
  for (const char* op : {"mul", "matmul", "copy", "sub"}) {
    const Draft d =
        gathered(op, 2, {"run all w0 q1 > y"}).stage("all", op, R"("kind": "allreduce")");
    leaks(d);
  }
  leaks(gathered("unequal", 2, {"run all w0 q1[0:32] > y"}));
}

TEST_CASE("shard: an all-reduce works element by element") {
  // The halves of the operands come from different chips, the other way round.
  Draft d = gathered("halves", 2,
                     {"run cut w0 > a[0:32]", "run cut q1 > a[32:64]", "run cut q1 > b[0:32]",
                      "run cut w0 > b[32:64]", "run all a b > y"});
  proves(d.buffer("a").buffer("b"));
  // The first half is complete, the second is not.
  const auto half = [](const std::string& stored) {
    Draft part = gathered("half of " + stored, 2,
                          {"run cut w0 > a[0:32]", "run cut w0 > a[32:64]", "run cut q1 > b[0:32]",
                           "run cut x > b[32:64]", "run all a b > c", "run store " + stored});
    return part.buffer("a").buffer("b").buffer("c").tensor("x", "external");
  };
  proves(half("c[0:32] > y"));
  misses(half("c[32:64] > y"));
  misses(half("c > y"));
  // The other way round: the second half is complete, the first is not.
  const auto second = [](const std::string& stored) {
    Draft part = gathered("second half of " + stored, 2,
                          {"run cut w0 > a[0:32]", "run cut w0 > a[32:64]", "run cut x > b[0:32]",
                           "run cut q1 > b[32:64]", "run all a b > c", "run store " + stored});
    return part.buffer("a").buffer("b").buffer("c").tensor("x", "external");
  };
  proves(second("c[32:64] > y"));
  misses(second("c[0:32] > y"));
  misses(second("c > y"));
  // A result of another size may derive from all of it.
  Draft wide = gathered("wide", 2, {"run all w0 q1 > y z"});
  proves(wide.tensor("z", "undefined", 8));
  Draft other = gathered(
      "other size", 2,
      {"run cut w0 > a", "run cut x > b[0:32]", "run cut q1 > b[32:64]", "run all a b > z"});
  misses(other.buffer("a").buffer("b").tensor("x", "external").tensor("z", "undefined", 8));
  // Nor is any chip in all of it that is in the result of one half only: that chip 2 joins it after
  // that makes it no sum over every chip.
  Draft mixed = gathered("mixed halves", 3,
                         {"run cut w0 > a[0:32]", "run cut q1 > a[32:64]", "run cut x > b",
                          "run all a b > c[0:32]", "run all c[0:32] q2[0:32] > y[0:2]"});
  misses(mixed.buffer("a").buffer("b").buffer("c").tensor("x", "external"));
}

TEST_CASE("shard: one chip needs one operand") {
  Draft right = sharded("one chip", 1), wrong = sharded("one chip, stored", 1);
  for (Draft* d : {&right, &wrong}) weights(*d, 1);
  proves(right.engine("load", {"run all w0 > y"}));
  leaks(wrong.engine("load", {"run store w0 > y"}));
}

TEST_CASE("shard: tensors are touched on their owner's chip, save by copies and all-reduces") {
  const auto touched = [](const std::string& kind, bool crossing, const std::string& op,
                          const std::string& engine) {
    Draft d = sharded(kind + " on " + engine, 2, crossing);
    weights(d, 2).buffer("b", on(1)).buffer("a");
    return d.stage("move", "copy", fmt::format(R"("kind": "{}")", kind)).engine(engine, {op});
  };
  for (const char* kind : {"load", "store", "compute"}) {
    stands_wrong(touched(kind, true, "run move w0 > b", "1:load"));
    stands_wrong(touched(kind, true, "run move b > w0", "1:load"));
    proves(touched(kind, true, "run move w0 > a", "load"));
  }
  for (const char* kind : {"copy", "allreduce"}) {
    proves(touched(kind, true, "run move w0 > b", "1:load"));
    stands_wrong(touched(kind, false, "run move w0 > b", "1:load"));
  }
  Draft view = sharded("through a view");
  weights(view, 2).buffer("b", on(1));
  view.tensor("v", "undefined", 2, "f32", R"("view": {"of": "w0"}, )" + owned(0));
  stands_wrong(view.engine("1:load", {"run load v > b"}));
}

TEST_CASE("shard: chips meet in the spine only where something crosses") {
  const auto meeting = [](bool crossing, const std::string& first, const std::string& second) {
    Draft d = sharded(first + " and " + second, 2, crossing);
    weights(d, 2).tensor("x", "external").buffer("a").buffer("b", on(1));
    d.tensor("v", "undefined", 2, "f32", R"("view": {"of": "y"})");
    return d.engine("load", {"run work " + first}).engine("1:load", {"run work " + second});
  };
  proves(meeting(true, "x > y", "y > b"));
  stands_wrong(meeting(false, "x > y", "y > b"));
  stands_wrong(meeting(false, "y > a", "x > y"));
  stands_wrong(meeting(false, "x > y", "x > v"));
  proves(meeting(false, "x > a", "x > b"));
  proves(meeting(false, "x > y", "x > b"));
  Fixture f(meeting(false, "y > a", "x > y"));
  const auto bad = misplaced(f.program);
  REQUIRE((bad && bad->other));
  CHECK(f.program.accesses[bad->access.access].write);
}

TEST_CASE("shard: views are what they are views of") {
  Draft d = gathered("stored to a view", 2, {"run store w0 > v"});
  leaks(d.tensor("v", "undefined", 2, "f32", R"("view": {"of": "y"})"));
  Draft buffers = gathered("views of buffers", 2, {"run cut w0 > a", "run store v > y"});
  leaks(buffers.buffer("a").buffer("v", R"("view": {"of": "a"})"));
}

TEST_CASE("shard: a store is judged by what is there at the time") {
  proves(gathered("overwritten", 2, {"run cut w0 > a", "run cut x > a", "run store a > y"})
             .buffer("a")
             .tensor("x", "external"));
  leaks(gathered("partly overwritten", 2,
                 {"run cut w0 > a", "run cut x > a[0:32]", "run store a > y"})
            .buffer("a")
            .tensor("x", "external"));
  proves(gathered("in place", 2, {"run cut w0 > a", "run all a q1 > a", "run store a > y"})
             .buffer("a"));
  proves(gathered("a constant", 2, {"run cut w0 > a", "run clear > a", "run store a > y"})
             .buffer("a"));
}

TEST_CASE("shard: what cannot be put into rounds is named") {
  Draft cycle = sharded("cycle"), ahead = sharded("ahead"), faulty = sharded("faulty"),
        far = sharded("far"), window = sharded("window");
  for (Draft* d : {&cycle, &ahead, &faulty, &far, &window}) weights(*d, 2);
  cycle.semaphore("s").semaphore("t");
  cycle.engine("load", {"wait s", "post t"}).engine("store", {"wait t", "post s"});
  ahead.persistent().fifo("q", 4);
  ahead.engine("load", {"reserve q", "run load w0 > q", "push q"});
  ahead.engine("store", {"front q 2", "run drop q@1", "pop q"});
  faulty.engine("load", {"repeat 3", "run load w0[4i:4i+4]", "end"});
  far.fifo("q", 2, R"("page_bytes": 2305843009213693952, "address": 0)");
  far.engine("load", {"repeat 8", "reserve q", "run load w0 > q", "push q", "end"});
  far.engine("store", {"repeat 8", "front q", "pop q", "end"});
  window.persistent().fifo("q", 2);
  window.engine("load", {"reserve q 2", "run load w0 > q@1", "push q"});
  window.engine("store", {"front q", "pop q"});
  const auto unknown = [](const Draft& draft, const std::string& why) {
    CAPTURE(draft.name());
    Fixture f(draft);
    const std::string answer = outcome(found(f));
    CAPTURE(answer);
    CHECK(answer.starts_with("unknown: "));
    CHECK(answer.find(why) != std::string::npos);
    CHECK(checked(f) == rejected(Reason::missing_obligation));
  };
  unknown(cycle, "token-free cycle");
  unknown(ahead, "later iteration supplies");
  unknown(faulty, "leaves its object");
  unknown(far, "limit");
  unknown(window, "a page of fifo q is written in one iteration");
}

TEST_CASE("shard: nothing is accepted while a test is inexact, but a leak is a leak") {
  Draft d = sharded("competing"), leak = sharded("competing, and leaking");
  for (Draft* each : {&d, &leak}) {
    weights(*each, 2).semaphore("s").engine("compute", {"wait s"}).engine("store", {"wait s"});
  }
  Fixture f(d.engine("load", {"post s", "post s"}));
  CHECK(checked(f) == rejected(Reason::inexact_test));
  CHECK(outcome(found(f)).starts_with("unknown: "));
  Fixture g(leak.engine("load", {"post s", "post s", "run store w0 > y"}));
  CHECK(outcome(found(g)) == "refuted: leak");
}

TEST_CASE("shard: where it applies") {
  const auto applied = [](const Draft& d) { return applies(d.program()); };
  Draft zeroed = sharded("zeroed");
  zeroed.tensor("x", "external").tensor("y").buffer("a", R"("init": "zero")");
  zeroed.buffer("b", R"("init": "zero", )" + on(1)).engine("load", {"run load a > y"});
  CHECK(!applied(zeroed));
  Draft plain = sharded("plain"), one = sharded("one chip filled"), two = sharded("two filled"),
        mute = sharded("nothing stored"), any = sharded("owned");
  for (Draft* d : {&plain, &one, &two, &mute}) d->tensor("x", "external").tensor("y").buffer("b");
  CHECK(!applied(plain.engine("load", {"run load x > y"})));
  one.buffer("a", R"("init": "external")").buffer("c", R"("init": "external")");
  CHECK(!applied(one.engine("load", {"run load a > y"})));
  for (Draft* d : {&two, &mute})
    d->buffer("a", R"("init": "external")").buffer("c", R"("init": "external", )" + on(1));
  CHECK(applied(two.engine("load", {"run load a > y"})));
  CHECK(!applied(mute.engine("load", {"run load a > b"}).engine("1:load", {"run load x c"})));
  CHECK(applied(any.tensor("x", "zero", 4, "f32", owned(1)).engine("1:load", {"run load x"})));
}

TEST_CASE("shard: samples without owners have nothing to show") {
  for (const Draft& draft : tests::all_samples()) {
    CAPTURE(draft.name());
    Fixture f(draft);
    CHECK(!applies(f.program));
    CHECK(outcome(found(f)) == "proved");
  }
}

TEST_CASE("shard: all rows of a region are read and written") {
  // Two columns of four: every row is a part of its own.
  Draft d = sharded("columns");
  weights(d, 2).buffer("a").tensor("x", "external").tensor("t", "zero", 4, "f32", owned(0));
  d.engine("load", {"run cut x > t", "run cut w0[0:1] > t[3:4]", "run store t > y"});
  ir::Program program = d.program();
  for (ir::Access& access : program.accesses) {
    if (access.region.kind == ir::RegionKind::tensor) access.region.bound[3] = 2;
  }
  Fixture f(program);
  CHECK(outcome(found(f)) == "refuted: leak");
}

}  // namespace
}  // namespace spatialcert::proofs::shard
