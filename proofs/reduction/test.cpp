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
  for (const char* op : {"run silu x0 > y", "run mul x0 x1 > y", "run half x0 > y",
                         "run copy x0 x1 > y", "run copy > y"}) {
    CAPTURE(op);
    Fixture f(one_engine({op}, {"x0"}));
    CHECK(proved(f).starts_with("unknown: "));
    CHECK(checked(f) == rejected(Reason::opaque_value));
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
