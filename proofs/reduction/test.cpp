#include <doctest/doctest.h>

#include "proofs/reduction/rule.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/samples.hpp"

namespace spatialcert::proofs::reduction {
namespace {

using tests::Draft;
using tests::Fixture;
using tests::outcome;
using tests::rejected;
using Reason = Rejected::Reason;

std::string checked(const Fixture& f) { return outcome(check(f.subject, Witness{})); }
std::string proved(Fixture& f) { return outcome(prove(f.subject, f.position, f.session)); }

/// One engine that performs `ops`; x0, x1 and x2 are given, y must be their sum in `terms`.
Draft one_engine(std::vector<std::string> ops, const std::vector<std::string>& terms) {
  Draft d("one engine");
  for (const char* x : {"x0", "x1", "x2"}) d.tensor(x, "external");
  d.tensor("y").buffer("b").buffer("c");
  d.stage("add", "add")
      .stage("sub", "sub")
      .stage("neg", "neg")
      .stage("silu", "silu")
      .stage("mul", "mul");
  d.stage("twice", "scale", R"("scale": 2)").stage("half", "scale", R"("scale": 0.5)");
  d.stage("huge", "scale", R"("scale": 1000001)").stage("most", "scale", R"("scale": 524288)");
  return d.engine("compute", std::move(ops)).sum("y", terms);
}

TEST_CASE("reduction: what is the declared sum is proved and accepted") {
  for (const Draft& draft :
       {tests::fifo_pipeline(), tests::semaphore_handoff(), tests::rendezvous(),
        tests::double_buffer(), tests::awaited_flag(), tests::added_up()}) {
    CAPTURE(draft.name());
    Fixture f(draft);
    CHECK(proved(f) == "proved");
    CHECK(f.session.queries == 1);
    CHECK(checked(f) == "accepted");
  }
}

TEST_CASE("reduction: linear ops are followed") {
  const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> cases{
      {{"run add x0 x1 > b", "run add b x2 > y"}, {"x2", "x1", "x0"}},
      {{"run twice x0 > y"}, {"x0", "x0"}},
      {{"run add x0 x1 > b", "run sub b x1 > y"}, {"x0"}},
      {{"run neg x0 > b", "run sub x1 b > y"}, {"x0", "x1"}},
      {{"run add x0 x1 x2 > b", "run sub b x1 x2 > y"}, {"x0"}},
      {{"run copy x0[0:2] > y[2:4]", "run copy x0[2:4] > b[0:32]", "run copy x0[0:2] > y[0:2]",
        "run copy b[0:32] > y[2:4]"},
       {"x0"}},
      {{"run add x0 x1 > y", "run add y x1 > y"}, {"x0", "x1", "x1"}}};
  for (const auto& example : cases) {
    CAPTURE(example.first.front());
    Fixture f(one_engine(example.first, example.second));
    CHECK(proved(f) == "proved");
    CHECK(checked(f) == "accepted");
  }
}

TEST_CASE("reduction: another sum is refuted and rejected") {
  const std::vector<std::vector<std::string>> cases{
      {"run add x0 x0 > y"},
      {"run copy x0 > y"},
      {"run sub x0 x1 > y"},
      {"run add x0 x1 > b", "run add b x1 > y"},
      {"run add x0 x1 > y[0:4]", "run copy x0[0:1] > y[3:4]"},
      {"run add x0 x2 > y"},
      {"run add x0[0:2] x1[2:4] > y[0:2]"}};
  for (const auto& ops : cases) {
    CAPTURE(ops.front());
    Fixture f(one_engine(ops, {"x0", "x1"}));
    const auto search = prove(f.subject, f.position, f.session);
    REQUIRE(outcome(search) == "refuted: wrong-result");
    CHECK(tests::replayed(f.program, tests::counterexample(search)) == "reproduced");
    CHECK(checked(f) == rejected(Reason::wrong_result));
  }
}

TEST_CASE("reduction: a value that is no linear combination is neither proved nor refuted") {
  for (const char* op :
       {"run silu x0 > y", "run mul x0 x1 > y", "run half x0 > y", "run copy x0 x1 > y",
        "run copy > y", "run add > y", "run sub x0 > y", "run neg x0 x1 > y", "run twice x0 x1 > y",
        "run huge x0 > y", "run add x0 x1[0:2] > y", "run copy x0[0:2] > y"}) {
    CAPTURE(op);
    Fixture f(one_engine({op}, {"x0"}));
    CHECK(proved(f).starts_with("unknown: "));
    CHECK(checked(f) == rejected(Reason::opaque_value));
  }
}

/// `x0` times 2^`power`, a multiple of 19 and what is left, into `to`.
void append_power(std::vector<std::string>& ops, int power, const std::string& to) {
  std::string from = "x0";
  for (; power >= 19; power -= 19, from = to) ops.push_back("run most " + from + " > " + to);
  for (; power > 0; --power, from = to) ops.push_back("run twice " + from + " > " + to);
}

TEST_CASE("reduction: factors that do not fit are no result, even where they wrap around to it") {
  // 2^64 x0 + x0, as a product that does not fit and as a sum of products that do.
  std::vector<std::string> product, sum;
  append_power(product, 64, "b");
  product.push_back("run add b x0 > y");
  for (int i = 0; i < 4; ++i) {
    // 2^(1 + i) x0 is another value for every i, so that the products meet only at x0.
    const std::string to = "p" + std::to_string(i);
    sum.push_back("run by" + std::to_string(2 << i) + " x0 > " + to);
    for (int k = 0; k < 3; ++k) sum.push_back("run most " + to + " > " + to);
    for (int k = 58 + i; k < 62; ++k) sum.push_back("run twice " + to + " > " + to);
  }
  sum.push_back("run add p0 p1 p2 p3 x0 > y");
  // The same of a sum w in the place of x0, so that the products meet before the initial contents.
  std::vector<std::string> of_sum{"run add x0 x1 > w"};
  for (std::string op : sum) {
    for (std::size_t at = op.find("x0"); at != std::string::npos; at = op.find("x0"))
      op.replace(at, 2, "w");
    of_sum.push_back(op);
  }
  for (const auto& ops : {product, sum, of_sum}) {
    CAPTURE(ops.size());
    Draft d = one_engine(
        ops, ops == of_sum ? std::vector<std::string>{"x0", "x1"} : std::vector<std::string>{"x0"});
    for (const char* b : {"p0", "p1", "p2", "p3", "w"}) d.buffer(b);
    for (const std::string by : {"2", "4", "8", "16"})
      d.stage("by" + by, "scale", "\"scale\": " + by);
    Fixture f(d);
    CHECK(checked(f) == rejected(Reason::wrong_result));
  }
}

TEST_CASE("reduction: zeroed contents add nothing") {
  Draft d("zero");
  d.tensor("x", "external").tensor("z", "zero").tensor("y").stage("add", "add").sum("y", {"x"});
  Fixture f(d.engine("load", {"run add x z > y"}));
  CHECK(proved(f) == "proved");
  CHECK(checked(f) == "accepted");
}

TEST_CASE("reduction: what is added beginning inside an element is no sum of elements") {
  for (const int shift : {2, 4}) {
    const auto at = "[" + std::to_string(shift) + ":" + std::to_string(shift + 56) + "]";
    const std::string begin = "[0:56]";
    // Of given contents, and of a sum: taken from the middle, changed, and put back.
    for (const std::vector<std::string>& ops :
         {std::vector<std::string>{"run add b" + at + " c" + at + " > w" + begin},
          {"run neg s" + at + " > w" + begin, "run neg w" + begin + " > w" + begin}}) {
      std::vector<std::string> all{"run copy x0 > b", "run copy x1 > c", "run add b c > s"};
      all.insert(all.end(), ops.begin(), ops.end());
      all.push_back("run copy w" + begin + " > s" + at);
      all.push_back("run copy s > y");
      Draft d = one_engine(all, {"x0", "x1"});
      Fixture f(d.buffer("s").buffer("w"));
      CHECK(checked(f) == (shift == 4 ? "accepted" : rejected(Reason::opaque_value)));
    }
  }
}

/// Two given buffers, the first at `address`, and what becomes of them in `y`, of type `meant`.
Draft given_buffers(int address, const std::string& meant, std::vector<std::string> ops) {
  Draft d("given buffers");
  d.buffer("a", "\"init\": \"external\", \"address\": " + std::to_string(address));
  d.buffer("b", R"("init": "external", "address": 128)").buffer("u", R"("address": 192)");
  d.tensor("c", "undefined", 4, "i8").stage("add", "add");
  if (meant.empty()) return d.engine("load", std::move(ops)).sum("u", {"a", "b"});
  return d.tensor("y", "undefined", 4, meant).engine("load", std::move(ops)).sum("y", {"a", "b"});
}

TEST_CASE("reduction: sums have the type of the postcondition, or none") {
  Fixture other(given_buffers(0, "i32", {"run add a b > c", "run copy c > y"}));
  CHECK(checked(other) == rejected(Reason::opaque_value));
  Fixture same(given_buffers(0, "i8", {"run add a b > c", "run copy c > y"}));
  CHECK(checked(same) == "accepted");
  Fixture none(given_buffers(0, "i32", {"run add a b > u", "run copy u > y"}));
  CHECK(checked(none) == "accepted");
  // Contents of buffers may begin at any byte of their memory.
  Fixture shifted(given_buffers(4, "", {"run add a b > u"}));
  CHECK(checked(shifted) == "accepted");
}

TEST_CASE("reduction: an element is as large as its own type says") {
  Draft d("two sizes");
  d.tensor("x", "external").tensor("y").stage("add", "add").sum("y", {"x"});
  for (const char* given : {"b0", "b1"}) d.tensor(given, "external", 4, "i8");
  d.tensor("z", "undefined", 4, "i8").buffer("u").buffer("v").buffer("w");
  d.engine("load", {"run copy x > y", "run copy b0 > u", "run copy b1 > v",
                    "run add u[0:3] v[0:3] > w[0:3]", "run add u[3:64] v[3:64] > w[3:64]",
                    "run copy w > z"});
  Fixture f(d.sum("z", {"b0", "b1"}));
  CHECK(checked(f) == "accepted");
}

TEST_CASE("reduction: an expectation is met by its terms alone") {
  Obligation o;
  o.expected = {{0, 0, 1}, {1, 4, 2}};
  Combination c;
  c.terms = o.expected;
  CHECK(meets(c, o));
  for (const auto spoil :
       {+[](Combination& x) { x.opaque = 3; }, +[](Combination& x) { x.overflow = true; },
        +[](Combination& x) { x.undefined = true; }, +[](Combination& x) { x.terms[1].factor = 1; },
        +[](Combination& x) { x.terms[1].offset = 0; },
        +[](Combination& x) { x.terms.pop_back(); }}) {
    Combination other = c;
    spoil(other);
    CHECK(!meets(other, o));
  }
}

TEST_CASE("reduction: undefined contents are no result, even beside the right one") {
  Fixture f(one_engine({"run add x0 b > y"}, {"x0"}));
  CHECK(checked(f) == rejected(Reason::wrong_result));
  Fixture part(one_engine({"run copy x0[0:2] > y[0:2]"}, {"x0"}));
  CHECK(checked(part) == rejected(Reason::wrong_result));
}

TEST_CASE("reduction: a term must be given from its first to its last byte") {
  for (const char* term : {"b", "c"}) {
    Draft d("partly given");
    d.tensor("x", "external", 4).tensor("y", "undefined", 8);
    d.buffer("b", R"("init": "external")").buffer("c").buffer("e", R"("init": "external")");
    d.member("postconditions",
             R"([{"region": {"tensor": "y", "rows": [0, 4]}, "sum": [{"tensor": "x"}]},
      {"region": {"tensor": "y", "rows": [4, 8]}, "sum": [{"tensor": "x"}, {"buffer": ")" +
                 std::string(term) + R"("}]}])");
    d.stage("add", "add");
    Fixture f(d.engine("load", {"run load x > y[0:4]", "run add x b > y[4:8]"}));
    CHECK(checked(f) ==
          (term == std::string("b") ? "accepted" : rejected(Reason::missing_obligation)));
  }
}

TEST_CASE("reduction: what is given of a term in part, or not at all") {
  for (const std::string term : {R"({"tensor": "base"})", R"({"tensor": "base", "cols": [0, 2]})",
                                 R"({"tensor": "never"})", R"({"tensor": "part"})"}) {
    CAPTURE(term);
    const bool narrow = term.find("cols") != std::string::npos,
               part = term.find("part") != std::string::npos;
    Draft d("given in part");
    d.tensor("base").tensor("never").tensor("y", "zero");
    d.tensor("part", "external", 2, "f32", R"("view": {"of": "base", "offset": 0})");
    d.member("postconditions", R"([{"region": {"tensor": "y")" +
                                   std::string(narrow ? R"(, "cols": [0, 2])"
                                               : part ? R"(, "rows": [0, 2])"
                                                      : "") +
                                   R"(}, "sum": [)" + term + "]}]");
    Fixture f(d.engine("load", {"run copy part > y[0:2]"}));
    CHECK(checked(f) == (part ? "accepted" : rejected(Reason::missing_obligation)));
  }
}

TEST_CASE("reduction: a term of several parts, and one of a single byte") {
  Draft parts("rows instead of columns"), byte("byte");
  parts.tensor("x", "external").buffer("u").member("postconditions", R"([
    {"region": {"buffer": "u", "bytes": [0, 32]}, "sum": [{"tensor": "x", "cols": [0, 2]}]}])");
  Fixture wrong(parts.engine("load", {"run copy x[0:2] > u[0:32]"}));
  CHECK(checked(wrong) == rejected(Reason::wrong_result));
  byte.tensor("x", "external", 1, "i8").tensor("y", "zero", 1, "i8");
  byte.member("postconditions", R"([
    {"region": {"tensor": "y", "cols": [2, 3]}, "sum": [{"tensor": "x", "cols": [2, 3]}]}])");
  Fixture right(byte.engine("load", {"run copy x > y"}));
  CHECK(checked(right) == "accepted");
}

TEST_CASE("reduction: columns of a tensor are moved row by row") {
  const auto columns = [](const std::string& read, const std::string& write) {
    Draft d("columns");
    d.tensor("x", "external", 2).tensor("w", "external", 2).tensor("y", "zero", 2);
    d.stage("move", "copy").member("postconditions", R"([
      {"region": {"tensor": "y", "cols": [0, 2]}, "sum": [{"tensor": "x", "cols": [2, 4]}]},
      {"region": {"tensor": "y", "cols": [2, 4]}, "sum": [{"tensor": "x", "cols": [0, 2]}]}])");
    return d.member("programs", R"([{"site": [0, 0, 0], "engine": "compute", "ops": [
      {"run": "move", "reads": [{"tensor": "x", "cols": [2, 4]}], "writes": [{"tensor": "y", "cols": [0, 2]}]},
      {"run": "move", "reads": [{"tensor": "x", "cols": )" +
                                    read + R"(}], "writes": [{"tensor": "y", "cols": )" + write +
                                    "}]}]}]");
  };
  Fixture right(columns("[0, 2]", "[2, 4]"));
  CHECK(checked(right) == "accepted");
  Fixture wrong(columns("[1, 3]", "[2, 4]"));
  CHECK(checked(wrong) == rejected(Reason::wrong_result));
  Fixture over(columns("[0, 2]", "[1, 3]"));
  CHECK(checked(over) == rejected(Reason::wrong_result));
}

TEST_CASE("reduction: a run writes several regions, each with its whole result, after all reads") {
  const std::vector<std::string> swap{"run copy x0 > b", "run copy b > b c", "run sub c x1 > y",
                                      "run add y x1 > y"};
  Fixture f(one_engine(swap, {"x0"}));
  CHECK(checked(f) == "accepted");
  for (const char* op : {"run copy x0 > y b", "run copy x0 > b y", "run add y y > b y"}) {
    Fixture twice(one_engine({"run copy x0 > y", "run copy x1 > b", op}, {"x0"}));
    CHECK((checked(twice) == "accepted") == (std::string(op) != "run add y y > b y"));
  }
}

TEST_CASE("reduction: without one finite run nothing is accepted") {
  Draft endless = one_engine({"run copy x0 > y"}, {"x0"});
  endless.persistent();
  Draft beyond = one_engine({"repeat 2", "run copy x0[4i:4i+4] > y", "end"}, {"x0"});
  for (const Draft& draft : {endless, beyond}) {
    Fixture f(draft);
    CHECK(checked(f) == rejected(Reason::missing_obligation));
  }
  Draft crossed("crossed");
  crossed.tensor("x", "external").tensor("y").sum("y", {"x"}).semaphore("s").semaphore("t");
  crossed.engine("load", {"wait s", "post t"}).engine("store", {"wait t", "post s"});
  Fixture f(crossed);
  CHECK(checked(f) == rejected(Reason::missing_obligation));
}

TEST_CASE("reduction: accesses beyond the limit of the analysis leave the obligation open") {
  Draft d("far pages");
  d.fifo("q", 2, R"("page_bytes": 2305843009213693952, "address": 0)");
  d.engine("load", {"repeat 8", "reserve q", "run load > q", "push q", "end"});
  d.engine("store", {"repeat 8", "front q", "pop q", "end"});
  Fixture f(d);
  REQUIRE(f.subject.accesses.limit);
  CHECK(checked(f) == rejected(Reason::missing_obligation));
}

TEST_CASE("reduction: terms must be given from outside") {
  Draft d("unfounded");
  d.tensor("x", "external").tensor("z", "zero").tensor("y").sum("y", {"z"});
  d.engine("load", {"run copy z > y"});
  Fixture f(d);
  CHECK(checked(f) == rejected(Reason::missing_obligation));
  CHECK(proved(f).starts_with("unknown: "));
}

TEST_CASE("reduction: nothing is accepted while a test is inexact") {
  Draft d("competing");
  d.tensor("x", "external").tensor("y").sum("y", {"x"}).semaphore("s");
  d.engine("load", {"run load x > y", "post s", "post s"})
      .engine("compute", {"wait s"})
      .engine("store", {"wait s"});
  Fixture f(d);
  CHECK(checked(f) == rejected(Reason::inexact_test));
  CHECK(proved(f).starts_with("unknown: "));
}

TEST_CASE("reduction: many contributions are counted, none is lost") {
  Draft d("wide");
  std::vector<std::string> ops{"run copy x0 > y"}, terms{"x0"};
  d.tensor("x0", "external").tensor("y").stage("add", "add");
  for (int i = 1; i < 40; ++i) {
    const std::string x = "x" + std::to_string(i);
    d.tensor(x, "external");
    ops.push_back("run add y " + x + " > y");
    terms.push_back(x);
  }
  d.sum("y", terms);
  Draft lost = d;
  d.engine("compute", ops);
  ops.erase(ops.begin() + 17);
  lost.engine("compute", ops);
  Fixture whole(d), short_one(lost);
  CHECK(proved(whole) == "proved");
  CHECK(checked(whole) == "accepted");
  CHECK(proved(short_one) == "refuted: wrong-result");
}

}  // namespace
}  // namespace spatialcert::proofs::reduction
