// What chips compute of slices: two chips, each with half of the columns of `g` and half of the
// rows of `d`: y = silu(x g) d, with the sum over chips as an all-reduce.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "proofs/reduction/rule.hpp"
#include "proofs/reduction/typing.hpp"
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

std::string half(const std::string& full, const std::string& axis, const std::string& dimension,
                 const std::string& more = "", const std::string& first = "[[0, 4]]",
                 const std::string& second = "[[4, 8]]") {
  const bool rows = axis == "rows";
  return fmt::format(
      R"({{"full": "{0}", "rows": {1}, "cols": {2}, "axis": "{3}", "dimension": "{4}"{5},
        "parts": [{{"tensor": "{0}0", "ranges": {6}}}, {{"tensor": "{0}1", "ranges": {7}}}]}})",
      full, rows ? 8 : 4, rows ? 4 : 8, axis, dimension, more, first, second);
}

/// What chip c does, `@` standing for c.
Ops on_chip(int chip, const Ops& ops) {
  Ops out;
  for (std::string op : ops) {
    std::replace(op.begin(), op.end(), '@', static_cast<char>('0' + chip));
    out.push_back(op);
  }
  return out;
}

struct Model {
  Ops local{"run mm x g@ > h@", "run act h@ > a@", "run mm a@ d@ > p@"};
  Ops root{"run all p0 p1 > y"};
  std::vector<std::string> slices{half("g", "columns", "ffn"), half("d", "rows", "ffn")};
  std::string dtype = "f32";
  std::string values;  ///< of the partial sums
};

Draft model(const std::string& name, const Model& m) {
  Draft d = tests::shards::sharded(name, 2);
  std::string all;
  for (const std::string& slice : m.slices) all += (all.empty() ? "" : ", ") + slice;
  d.member("slices", "[" + all + "]");
  d.tensor("x", "external", 4, m.dtype).tensor("b", "external", 4, m.dtype);
  d.tensor("y", "undefined", 4, m.dtype).tensor("z", "undefined", 4, m.dtype);
  for (int c = 0; c < 2; ++c) {
    const std::string own = tests::shards::owned(c);
    for (const char* weight : {"g", "d"})
      d.tensor(fmt::format("{}{}", weight, c), "external", 4, m.dtype, own);
    for (const char* made : {"h", "a", "q"})
      d.tensor(fmt::format("{}{}", made, c), "undefined", 4, m.dtype, own);
    d.tensor(fmt::format("p{}", c), "undefined", 4, m.dtype, own + m.values);
  }
  d.stage("mm", "matmul").stage("act", "silu").stage("plus", "add").stage("times", "mul");
  d.stage("minus", "sub").tensor("e", "zero", 4, m.dtype, R"("owner": 0)");
  d.stage("norm", "rmsnorm").stage("half", "scale", R"("scale": 0.5)").stage("narrow", "cast");
  d.stage("largest", "max").stage("total", "sum").stage("top", "topk");
  d.stage("maximum", "max", R"("kind": "allreduce")");
  d.stage("fetch", "copy", R"("kind": "copy")");
  d.semaphore("done", 0, 1, R"("handoff": "wire")");
  Ops first = on_chip(0, m.local), second = on_chip(1, m.local);
  first.push_back("wait done");
  first.insert(first.end(), m.root.begin(), m.root.end());
  second.push_back("post done");
  return d.engine("compute", first).engine("1:compute", second);
}

void proves(const std::string& name, const Model& m) {
  CAPTURE(name);
  Fixture f(model(name, m));
  const auto answer = prove(f.subject, {}, f.session);
  REQUIRE(outcome(answer) == "proved");
  const Witness witness = tests::witness(answer);
  REQUIRE(witness.typing);
  CHECK(witness.typing->rounds == 1);
  CHECK(outcome(check(f.subject, witness)) == "accepted");
  CHECK(outcome(check(f.subject, {})) == rejected(Reason::missing_obligation));
}

Counterexample refutes(const std::string& name, const Model& m, const std::string& kind,
                       Reason reason, const std::string& says) {
  CAPTURE(name);
  Fixture f(model(name, m));
  const auto answer = prove(f.subject, {}, f.session);
  REQUIRE(outcome(answer) == "refuted: " + kind);
  const Counterexample c = tests::counterexample(answer);
  CHECK(c.note.find(says) != std::string::npos);
  CAPTURE(c.note);
  CHECK(tests::replayed(f.program, c) == "reproduced");
  CHECK(outcome(check(f.subject, {Typing{}})) == rejected(reason));
  return c;
}

void leaves_open(const std::string& name, const Model& m, const std::string& says,
                 Reason reason = Reason::unclear_type) {
  CAPTURE(name);
  Fixture f(model(name, m));
  const auto answer = prove(f.subject, {}, f.session);
  REQUIRE(std::holds_alternative<Unknown>(answer));
  const std::string why = std::get<Unknown>(answer).reason;
  CAPTURE(why);
  CHECK(why.find(says) != std::string::npos);
  CHECK(outcome(check(f.subject, {Typing{}})) == rejected(reason));
}

TEST_CASE("types: a partial sum, linear ops, and the all-reduce over every part") {
  proves("as it should be", {});
  Model scaled;
  scaled.local.push_back("run half p@ > q@");
  scaled.root = {"run all q0 q1 > y"};
  proves("scaled before", scaled);
  Model biased;
  biased.root = {"run all p0 p1 > z", "run plus z b > y"};
  proves("a bias behind", biased);
  Model two_sums;
  two_sums.local.push_back("run mm a@ d@ > q@");
  two_sums.local.push_back("run plus p@ q@ > q@");
  two_sums.root = {"run all q0 q1 > y"};
  proves("two sums at once", two_sums);
  Model accumulated;
  accumulated.local = {"run mm x g@ > h@", "run mm h@[0:2] d@ > p@[0:2]", "run mm h@ d@ > q@",
                       "run mm h@ d@ q@ > p@"};
  proves("accumulated", accumulated);
  Model other_way;
  other_way.root = {"run fetch p1 > q0", "run all q0 p0 > y"};
  proves("copied before", other_way);
}

TEST_CASE("types: nonlinear ops on a partial sum") {
  const auto behind = [](const std::string& op) {
    Model m;
    m.local.push_back(op);
    m.root = {"run all q0 q1 > y"};
    return m;
  };
  for (const char* stage : {"act", "narrow", "norm", "top"}) {
    const auto c = refutes(stage, behind(fmt::format("run {} p@ > q@", stage)), "nonlinear",
                           Reason::nonlinear, "before its all-reduce");
    CHECK(c.note.find("a partial sum over part 0 of ffn") != std::string::npos);
    CHECK(c.accesses.size() == 2);  // the matmul writes it, the op reads it
  }
  refutes("largest", behind("run largest p@ > q@"), "nonlinear", Reason::nonlinear, "max of");
  refutes("squared", behind("run times p@ p@ > q@"), "nonlinear", Reason::nonlinear, "mul of");
  refutes("product", behind("run mm p@ p@ > q@"), "nonlinear", Reason::nonlinear, "matmul of");
  Model norm;
  norm.local = {"run mm x g@ > h@", "run norm h@ > a@", "run mm a@ d@ > p@"};
  refutes("a norm over the cut axis", norm, "nonlinear", Reason::nonlinear,
          "over the cut axis of a slice, part 0 of ffn");
}

TEST_CASE("types: what an all-reduce takes") {
  Model whole;
  whole.root = {"run all x x > y"};
  refutes("whole", whole, "double-contribution", Reason::double_contribution, "replicated");
  Model mixed;
  mixed.root = {"run all p0 p1 b > y"};
  refutes("and a bias", mixed, "double-contribution", Reason::double_contribution, "replicated");
  Model twice;
  twice.root = {"run all p0 p1 p1 > y"};
  refutes("twice", twice, "double-contribution", Reason::double_contribution, "again");
  Model slices;
  slices.root = {"run all a0 a1 > y"};
  refutes("slices", slices, "nonlinear", Reason::nonlinear, "no term of what it forms");
  Model largest;
  largest.root = {"run maximum p0 p1 > y"};
  refutes("the largest", largest, "nonlinear", Reason::nonlinear, "no term of what it forms");
  Model missing;
  missing.root = {"run all p0 > y"};
  refutes("a part left out", missing, "missing-chip", Reason::missing_chip, "a partial sum");
  Model again;
  again.root = {"run all p0 p1 > z", "run all z z > y"};
  refutes("a second time", again, "double-contribution", Reason::double_contribution, "replicated");
  Model other;
  other.local.push_back("run mm h@ d@ > q@");  // without silu
  other.root = {"run all p0 q1 > y"};
  leaves_open("terms of two sums", other, "terms of different sums");
}

TEST_CASE("types: sums of operands") {
  Model bias;
  bias.local.push_back("run plus p@ b > q@");
  bias.root = {"run all q0 q1 > y"};
  refutes("a bias on every chip", bias, "double-contribution", Reason::double_contribution,
          "every part would add it");
  Model added;
  added.root = {"run fetch p1 > q0", "run plus p0 q0 > q0", "run all q0 > y"};
  proves("added up before", added);
  Model doubled;
  doubled.root = {"run fetch p1 > q0", "run plus p0 q0 > q0", "run plus q0 p0 > q0",
                  "run all q0 > y"};
  refutes("added up twice", doubled, "double-contribution", Reason::double_contribution,
          "add joins");
}

TEST_CASE("types: a part that takes its term twice has another sum than the others") {
  Model one;
  one.root = {"run plus p0 p0 > q0", "run all q0 p1 > y"};
  leaves_open("one part", one, "terms of different sums");
  Model all;
  all.local.push_back("run plus p@ p@ > q@");
  all.root = {"run all q0 q1 > y"};
  proves("every part", all);
  Model less;
  less.root = {"run minus p0 p0 > q0", "run all q0 p1 > y"};
  leaves_open("less itself", less, "terms of different sums");
  Model negative;
  negative.root = {"run minus e p0 > q0", "run all q0 p1 > y"};
  leaves_open("zeros less it", negative, "terms of different sums");
  negative.root = {"run minus p0 e > q0", "run all q0 p1 > y"};
  proves("it less zeros", negative);
}

TEST_CASE("types: what is contracted is of one part") {
  Model swapped;
  swapped.slices[1] = half("d", "rows", "ffn");
  swapped.local = {"run mm x g@ > h@", "run mm h@ d@ > p@"};
  Draft d = model("straight", swapped);
  proves("straight", swapped);
  Model crossed = swapped;
  crossed.root = {"run fetch h1 > q0", "run mm q0 d0 > p0", "run all p0 p1 > y"};
  refutes("another chip's slice", crossed, "mismatch", Reason::mismatch,
          "joins a slice, part 1 of ffn with a slice, part 0 of ffn");
  Model dimensions = swapped;
  dimensions.slices[1] = half("d", "rows", "heads");
  refutes("another dimension", dimensions, "mismatch", Reason::mismatch, "part 0 of heads");
  Model stored = swapped;
  stored.slices.push_back(half("h", "columns", "ffn"));
  stored.root = {"run fetch h1 > h0", "run all p0 p1 > y"};
  refutes("stored to another part", stored, "mismatch", Reason::mismatch, "is stored to h0");
  Model whole = swapped;
  whole.local = {"run mm x d@ > p@"};
  leaves_open("what is whole with rows", whole, "contracts a slice, part 0 of ffn with what is");
}

TEST_CASE("types: stacked axes stay within a part") {
  Model heads;
  heads.slices = {half("g", "columns", "heads", R"(, "stacked": true)"),
                  half("d", "rows", "heads", R"(, "stacked": true)")};
  // q = x g, scores = q d: all of it within a head, so any function may follow.
  heads.local = {"run mm x g@ > h@", "run mm h@ d@ > a@", "run act a@ > p@"};
  heads.root = {"run all p0 p1 > y"};
  proves("a function of scores", heads);
  Model own = heads;
  own.local = {"run mm x g@ > h@", "run norm h@ > p@"};
  own.root = {"run all p0 p1 > y"};
  refutes("the heads themselves are no terms", own, "nonlinear", Reason::nonlinear,
          "no term of what it forms");
}

TEST_CASE("types: what is not declared is not known") {
  Model undeclared;
  undeclared.slices.pop_back();
  leaves_open("weights without a declaration", undeclared,
              "d0 belongs to chip 0 and is no declared slice");
}

TEST_CASE("types: an all-reduce of integers has room") {
  Model integers;
  integers.local = {"run mm x g@ > h@", "run mm h@ d@ > p@"};
  integers.dtype = "i32";
  leaves_open("any values", integers, "i32 need not hold the sum of 2 operands", Reason::no_room);
  integers.values = R"(, "values": [-1073741824, 1073741823])";
  proves("half of the range", integers);
  integers.values = R"(, "values": [-1073741825, 1073741823])";
  leaves_open("one less", integers, "i32 need not hold", Reason::no_room);
  integers.values = R"(, "values": [0, 1073741824])";
  leaves_open("one more", integers, "i32 need not hold", Reason::no_room);
}

TEST_CASE("types: rounds that the witness does not have") {
  Fixture f(model("rounds", {}));
  CHECK(outcome(check(f.subject, {Typing{1, 1}})) == rejected(Reason::wrong_size));
  CHECK(outcome(check(f.subject, {Typing{0, 61}})) == rejected(Reason::wrong_size));
  CHECK(outcome(check(f.subject, {Typing{0, 0}})) == rejected(Reason::wrong_size));
  CHECK(outcome(check(f.subject, {Typing{0, 3}})) == "accepted");
}

TEST_CASE("types: a claim that does not hold is not reproduced") {
  Model m;
  m.local.push_back("run act p@ > q@");
  m.root = {"run all q0 q1 > y"};
  Fixture f(model("claims", m));
  const Counterexample c = tests::counterexample(prove(f.subject, {}, f.session));
  REQUIRE(tests::replayed(f.program, c) == "reproduced");
  const auto without = [&](auto change) {
    Counterexample other = c;
    change(other);
    return tests::replayed(f.program, other) == "reproduced";
  };
  CHECK_FALSE(without([](Counterexample& o) { o.kind = Kind::mismatch; }));
  CHECK_FALSE(without([](Counterexample& o) { o.note += "!"; }));
  CHECK_FALSE(without([](Counterexample& o) { o.range.reset(); }));
  CHECK_FALSE(without([](Counterexample& o) { o.range->high += 1; }));
  CHECK_FALSE(without([](Counterexample& o) { o.ops[0] = o.accesses[0].transition; }));
  CHECK_FALSE(without([](Counterexample& o) { o.ops.clear(); }));
  CHECK_FALSE(without([](Counterexample& o) { o.schedules[0].pop_back(); }));
  CHECK_FALSE(without([](Counterexample& o) { o.schedules.clear(); }));
  CHECK_FALSE(without([](Counterexample& o) { std::swap(o.accesses[0], o.accesses[1]); }));
  CHECK_FALSE(without([](Counterexample& o) { o.accesses[0].access += 1; }));
}

}  // namespace
}  // namespace spatialcert::proofs::reduction
