// Types over rounds, and through what holds contents: state that is kept, declared slices that are
// written, views, buffers with and without a shape.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "proofs/reduction/rule.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/samples.hpp"
#include "tests/proofs/shards.hpp"

namespace spatialcert::proofs::reduction {
namespace {

using tests::Draft;
using tests::Fixture;
using tests::outcome;
using tests::rejected;
using Ops = std::vector<std::string>;
using Reason = Rejected::Reason;

constexpr const char* kState = R"(, "role": "state")";

std::string halves(const std::string& full, const std::string& axis) {
  const bool rows = axis == "rows";
  return fmt::format(
      R"({{"full": "{0}", "rows": {1}, "cols": {2}, "axis": "{3}", "dimension": "ffn",
        "parts": [{{"tensor": "{0}0", "ranges": [[0, 4]]}}, {{"tensor": "{0}1", "ranges": [[4, 8]]}}]}})",
      full, rows ? 8 : 4, rows ? 4 : 8, axis);
}

/// Two chips with slices `g` (columns), `d` and the state `k` (rows), and partial sums p0, p1; `s`
/// is a state that belongs to no chip.
Draft model(const std::string& name, const std::string& dtype = "f32") {
  Draft d = tests::shards::sharded(name, 2);
  d.member("slices", "[" + halves("g", "columns") + ", " + halves("d", "rows") + ", " +
                         halves("k", "rows") + "]");
  d.tensor("x", "external", 4, dtype).tensor("y", "undefined", 4, dtype);
  d.tensor("s", "zero", 4, dtype, R"("role": "state")");
  for (int c = 0; c < 2; ++c) {
    const std::string own = tests::shards::owned(c);
    for (const char* weight : {"g", "d"})
      d.tensor(fmt::format("{}{}", weight, c), "external", 4, dtype, own);
    d.tensor(fmt::format("k{}", c), "zero", 4, dtype, own + kState);
    for (const char* made : {"h", "p", "q"})
      d.tensor(fmt::format("{}{}", made, c), "undefined", 4, dtype, own);
  }
  d.stage("mm", "matmul").stage("act", "silu").stage("bend", "gelu").stage("plus", "add");
  d.stage("total", "sum").stage("twice", "scale", R"("scale": 2)");
  d.stage("all", "add", R"("kind": "allreduce")").stage("fetch", "copy", R"("kind": "copy")");
  return d.semaphore("done", 0, 1, R"("handoff": "wire")");
}

/// What both chips do on their own, and what chip 0 then does.
Draft& runs(Draft& d, Ops first, Ops second, const Ops& root = {}) {
  first.push_back("wait done");
  first.insert(first.end(), root.begin(), root.end());
  second.push_back("post done");
  return d.engine("compute", first).engine("1:compute", second);
}

const Ops kFirst{"run mm x g0 > h0", "run mm h0 d0 > p0"};
const Ops kSecond{"run mm x g1 > h1", "run mm h1 d1 > p1"};
Ops with(Ops ops, const Ops& more) {
  ops.insert(ops.end(), more.begin(), more.end());
  return ops;
}

void proves(const Draft& draft, Typing expected = {0, 1}) {
  CAPTURE(draft.name());
  Fixture f(draft);
  const auto answer = prove(f.subject, {}, f.session);
  REQUIRE(outcome(answer) == "proved");
  const Witness witness = tests::witness(answer);
  REQUIRE(witness.typing);
  CHECK(witness.typing->first == expected.first);
  CHECK(witness.typing->rounds == expected.rounds);
  CHECK(outcome(check(f.subject, witness)) == "accepted");
}

void leaves_open(const Draft& draft, const std::string& says, Reason reason,
                 Typing typing = {0, 1}) {
  CAPTURE(draft.name());
  Fixture f(draft);
  const auto answer = prove(f.subject, {}, f.session);
  CAPTURE(outcome(answer));
  REQUIRE(std::holds_alternative<Unknown>(answer));
  CHECK(std::get<Unknown>(answer).reason.find(says) != std::string::npos);
  CHECK(outcome(check(f.subject, {typing})) == rejected(reason));
}

Counterexample refutes(const Draft& draft, const std::string& kind, Reason reason,
                       Typing typing = {0, 1}) {
  CAPTURE(draft.name());
  Fixture f(draft);
  const auto answer = prove(f.subject, {}, f.session);
  REQUIRE(outcome(answer) == "refuted: " + kind);
  CHECK(tests::replayed(f.program, tests::counterexample(answer)) == "reproduced");
  CHECK(outcome(check(f.subject, {typing})) == rejected(reason));
  return tests::counterexample(answer);
}

TEST_CASE("types: slices that are kept are of one full tensor") {
  const auto kept = [](const std::string& name, const Ops& first, const Ops& second) {
    Draft d = model(name);
    runs(d, first, second);
    return d;
  };
  proves(kept("both chips", {"run act k0 > k0"}, {"run act k1 > k1"}));
  proves(kept("nothing is kept of it", {"run act d0 > d0"}, {}));
  const auto open = [&](const std::string& name, const Ops& first, const Ops& second) {
    leaves_open(kept(name, first, second), "parts of k keep contents that are not of one full",
                Reason::not_inductive);
  };
  open("one chip only", {"run act k0 > k0"}, {});
  open("by other ops", {"run act k0 > k0"}, {"run bend k1 > k1"});
  open("of other tensors", {"run fetch d0 > k0"}, {"run act d1 > k1"});
}

TEST_CASE("types: what is kept recurs, after as many rounds as it takes") {
  Draft later = model("zeros at first");
  runs(later, {"run plus s x > s"}, {});
  proves(later, {1, 2});
  Fixture f(later);
  CHECK(outcome(check(f.subject, {Typing{0, 1}})) == rejected(Reason::not_inductive));
  CHECK(outcome(check(f.subject, {Typing{0, 2}})) == rejected(Reason::not_inductive));
  CHECK(outcome(check(f.subject, {Typing{2, 3}})) == "accepted");
}

TEST_CASE("types: what is kept and belongs to nobody begins every round as itself") {
  Draft d = model("not zeros at first");
  d.tensor("e", "external", 4, "f32", R"("role": "state")");
  runs(d, {"run plus e x > e"}, {});
  proves(d, {0, 1});
}

TEST_CASE("types: zeros in a slice that is kept stay zeros") {
  Draft d = model("zeros in a slice");
  runs(d, {"run fetch s[0:2] > k0[0:2]", "run act k0[2:4] > k0[2:4]"},
       {"run fetch s[0:2] > k1[0:2]", "run act k1[2:4] > k1[2:4]"});
  proves(d, {1, 2});
  Fixture f(d);
  CHECK(outcome(check(f.subject, {Typing{0, 1}})) == rejected(Reason::not_inductive));
}

TEST_CASE("types: all that is read counts") {
  const auto mixed = [](const std::string& name, const Ops& halves) {
    Draft d = model(name);
    runs(d, with(with(kFirst, halves), {"run fetch q0 > y"}), {});
    leaves_open(d, "a mixture of", Reason::unclear_type);
  };
  mixed("replicated first", {"run fetch x[0:2] > q0[0:2]", "run fetch p0[2:4] > q0[2:4]"});
  mixed("partial first", {"run fetch p0[0:2] > q0[0:2]", "run fetch x[2:4] > q0[2:4]"});
}

TEST_CASE("types: a fault that only a later round shows") {
  const auto fault = [](Draft d) {
    runs(d, kFirst, kSecond, {"run plus p0 s > q0", "run all q0 p1 > y", "run fetch x > s"});
    return d;
  };
  // The partial sum meets zeros first, and what is replicated later.
  leaves_open(fault(model("a token later")), "1 tokens later", Reason::double_contribution, {0, 2});
  const Counterexample c = refutes(fault(model("an iteration later").persistent()),
                                   "double-contribution", Reason::double_contribution, {0, 2});
  CHECK(c.iterations == 2);
}

TEST_CASE("types: what belongs to no chip takes what is replicated only") {
  Draft leak = model("a slice"), unclear = model("something"), zeros = model("zeros");
  runs(leak, {"run mm x g0 > h0", "run fetch h0 > y"}, {});
  refutes(leak, "leak", Reason::leak);
  unclear.tensor("w0", "external", 4, "f32", tests::shards::owned(0));
  runs(unclear, {"run fetch w0 > y"}, {});
  leaves_open(unclear, "of what is stored to it nothing is known", Reason::unclear_type);
  runs(zeros, {"run fetch s > y"}, {});
  proves(zeros);
  Draft reduced = model("an all-reduce of something");
  reduced.tensor("w0", "external", 4, "f32", tests::shards::owned(0));
  runs(reduced, kFirst, {}, {"run all p0 w0 > q0"});
  leaves_open(reduced, "an all-reduce of contents of which nothing is known", Reason::unclear_type);
}

TEST_CASE("types: what is stored to a slice is of its part, and along its axis") {
  const auto stored = [](const std::string& name, const std::string& op) {
    Draft d = model(name);
    Ops first{op};
    first.insert(first.end(), kFirst.begin(), kFirst.end());
    runs(d, first, kSecond, {"run all p0 p1 > y"});
    return d;
  };
  leaves_open(stored("along another axis", "run fetch d0 > g0"), "along another axis",
              Reason::unclear_type);
  leaves_open(stored("whole", "run fetch x > g0"), "replicated is stored to g0",
              Reason::unclear_type);
  refutes(stored("of another part", "run fetch g1 > g0"), "mismatch", Reason::mismatch);
  Draft reduced = model("an all-reduce"), whole = model("a whole sum");
  runs(reduced, {"run all k1 > k0"}, {});
  refutes(reduced, "nonlinear", Reason::nonlinear);
  runs(whole, kFirst, kSecond, {"run all p0 p1 > g0", "run mm x g0 > h0", "run fetch h0 > y"});
  leaves_open(whole, "replicated is stored to g0", Reason::unclear_type);
}

TEST_CASE("types: a view keeps what its base is") {
  const auto view = [](const std::string& name, const Ops& first) {
    Draft d = model(name);
    d.tensor("v0", "undefined", 2, "f32",
             tests::shards::owned(0) + R"(, "view": {"of": "d0", "offset": 4})");
    runs(d, first, kSecond, {"run all p0 p1 > y"});
    return d;
  };
  proves(view("of its own part", with({"run fetch d0[0:2] > v0"}, kFirst)));
  refutes(view("of another part", with({"run fetch d1[0:2] > v0"}, kFirst)), "mismatch",
          Reason::mismatch);
  leaves_open(view("whole", with({"run fetch x[0:2] > v0"}, kFirst)), "replicated is stored to d0",
              Reason::unclear_type);
  proves(view("read", {"run mm x g0 > h0", "run mm h0 v0 > p0"}));
}

TEST_CASE("types: bytes are a matrix if their tile is") {
  const auto through = [](const std::string& name, const std::string& more) {
    Draft d = model(name);
    d.buffer("b", more);
    runs(d, {"run mm x g0 > h0", "run fetch h0 > b", "run mm b d0 > p0"}, kSecond,
         {"run all p0 p1 > y"});
    return d;
  };
  proves(through("a tile", R"("tile": {"rows": 4, "cols": 4, "dtype": "f32"})"));
  leaves_open(through("bytes", ""), "matmul contracts a slice", Reason::unclear_type);
  leaves_open(through("another tile", R"("tile": {"rows": 2, "cols": 8, "dtype": "f32"})"),
              "matmul contracts a slice", Reason::unclear_type);
}

TEST_CASE("types: an all-reduce of integers into a buffer has room") {
  const auto into = [](const std::string& name, const std::string& more) {
    Draft d = model(name, "i32");
    d.buffer("b", more);
    runs(d, kFirst, kSecond, {"run all p0 p1 > b"});
    return d;
  };
  leaves_open(into("bytes", ""), "integers into bytes without a type", Reason::unclear_type);
  leaves_open(into("as wide", R"("tile": {"rows": 4, "cols": 4, "dtype": "i32"})"),
              "i32 need not hold", Reason::no_room);
}

TEST_CASE("types: room is needed wherever integers are summed, not only of what was loaded") {
  const auto computed = [](const std::string& name, const std::string& dtype,
                           const std::string& more) {
    Draft d = model(name, dtype);
    d.buffer("b", more).buffer("c", more);
    runs(d, kFirst, kSecond, {"run twice p0 > b", "run twice p1 > c", "run all b c > y"});
    return d;
  };
  leaves_open(computed("integers", "i32", ""), "i32 need not hold", Reason::no_room);
  proves(computed("real numbers", "f32", ""));
  Draft nobody = model("bytes");
  nobody.buffer("b").buffer("c").buffer("e");
  runs(nobody, kFirst, kSecond, {"run twice p0 > b", "run twice p1 > c", "run all b c > e"});
  leaves_open(nobody, "bytes of which nobody says the type", Reason::unclear_type);
}

TEST_CASE("types: a declared slice takes no partial sum, even if nobody reads it") {
  Draft d = model("stored");
  runs(d, with(kFirst, {"run fetch p0 > k0"}), kSecond, {"run all p0 p1 > y"});
  leaves_open(d, "a partial sum over part 0 of ffn is stored to k0", Reason::unclear_type);
}

TEST_CASE("types: of two regions that an op writes each has a type of its own") {
  Draft d = model("two shapes");
  // All rows of the slice again, and their sum: a term of the sum over all chips.
  runs(d, {"run total d0 > q0 h0[0:1]", "run act h0[0:1] > p0[0:1]"}, {});
  refutes(d, "nonlinear", Reason::nonlinear);
  Draft other = model("the other way round");
  runs(other, {"run total d0 > h0[0:1] q0", "run act h0[0:1] > p0[0:1]"}, {});
  refutes(other, "nonlinear", Reason::nonlinear);
  Draft rows = model("the rows");
  runs(rows, {"run total d0 > h0[0:1] q0", "run act q0 > p0"}, {});
  proves(rows);
}

TEST_CASE("types: a term that is kept from the last token is none of this token's sum") {
  Draft d = model("kept");
  d.tensor("o0", "zero", 4, "f32", tests::shards::owned(0) + kState);
  d.tensor("t0", "undefined", 4, "f32", tests::shards::owned(0));
  runs(d, kFirst, kSecond, {"run all o0 p1 > t0", "run fetch p0 > o0"});
  leaves_open(d, "terms of different sums", Reason::unclear_type, {0, 2});
}

TEST_CASE("types: bytes that are read as another matrix have no axis") {
  Draft d = model("a view");
  d.buffer("b", R"("tile": {"rows": 4, "cols": 4, "dtype": "f32"})");
  d.buffer("v", R"("view": {"of": "b"}, "tile": {"rows": 1, "cols": 16, "dtype": "f32"})");
  runs(d, {"run mm x g0 > h0", "run fetch h0 > b", "run mm v d0 > p0"}, kSecond,
       {"run all p0 p1 > y"});
  leaves_open(d, "matmul contracts", Reason::unclear_type);
}

TEST_CASE("types: with types, results are checked as well") {
  Draft right = model("right"), wrong = model("wrong");
  for (Draft* d : {&right, &wrong}) runs(*d, {"run fetch x > y"}, {});
  right.sum("y", {"x"});
  wrong.sum("y", {"x", "x"});
  Fixture f(right), g(wrong);
  CHECK(outcome(check(f.subject, {Typing{}})) == "accepted");
  CHECK(outcome(check(g.subject, {Typing{}})) == rejected(Reason::wrong_result));
}

TEST_CASE("types: nothing is accepted while a test is inexact") {
  Draft d = model("competing");
  d.semaphore("t").engine("compute", {"wait t"}).engine("store", {"wait t"});
  Fixture f(d.engine("load", {"post t", "post t"}));
  CHECK(outcome(check(f.subject, {Typing{}})) == rejected(Reason::inexact_test));
}

}  // namespace
}  // namespace spatialcert::proofs::reduction
