#include <doctest/doctest.h>

#include "proofs/coverage/rule.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/samples.hpp"

namespace spatialcert::proofs::coverage {
namespace {

using tests::Draft;
using tests::Fixture;
using tests::outcome;
using tests::rejected;
using Reason = Rejected::Reason;

TEST_CASE("coverage: every op is counted, and the counts accepted") {
  for (const Draft& draft : tests::all_samples()) {
    CAPTURE(draft.name());
    Fixture f(draft);
    const auto search = prove(f.subject, f.session);
    REQUIRE(outcome(search) == "proved");
    CHECK(outcome(check(f.subject, tests::witness(search))) == "accepted");
  }
  Fixture f(tests::fifo_pipeline());
  const Witness w = tests::witness(prove(f.subject, f.session));
  CHECK(w.tests == 4);
  CHECK(w.supplies == 4);
  CHECK(w.runs == 3);
  CHECK(w.loops == 3);
}

TEST_CASE("coverage: other counts are rejected") {
  Fixture f(tests::fifo_pipeline());
  const Witness good = tests::witness(prove(f.subject, f.session));
  for (std::uint64_t Witness::*count :
       {&Witness::tests, &Witness::supplies, &Witness::runs, &Witness::loops}) {
    Witness w = good;
    ++(w.*count);
    CHECK(outcome(check(f.subject, w)) == rejected(Reason::wrong_size));
  }
}

void leaves_uncovered(const Draft& draft, const std::string& what) {
  CAPTURE(what);
  Fixture f(draft);
  CHECK(outcome(check(f.subject, Witness{})) == rejected(Reason::uncovered));
  const std::string answer = outcome(prove(f.subject, f.session));
  CAPTURE(answer);
  CHECK(answer.starts_with("unknown: "));
  CHECK(answer.find(what) != std::string::npos);
}

TEST_CASE("coverage: what needs a rule that does not exist is named") {
  Draft empty("empty"), fifo("view of a fifo"), far("far");
  leaves_uncovered(empty, "no ops");
  fifo.fifo("q", 1).buffer("v", R"("view": {"of": "q"})").engine("load", {"reserve q", "push q"});
  fifo.engine("store", {"front q", "pop q"});
  leaves_uncovered(fifo, "shares its bytes with a FIFO");
  far.fifo("q", 2, R"("page_bytes": 2305843009213693952, "address": 0)");
  far.engine("load", {"repeat 8", "reserve q", "run load > q", "push q", "end"});
  far.engine("store", {"repeat 8", "front q", "pop q", "end"});
  leaves_uncovered(far, "limit");
}

TEST_CASE(
    "coverage: owned tensors and views of buffers have their rules, a view of a FIFO has none") {
  Draft owned("owned tensor"), view("view");
  owned.tensor("x", "external").tensor("z", "external", 4, "f32", R"("owner": 1)");
  Fixture o(owned.engine("load", {"run load x"}));
  CHECK(uncovered(o.subject) == std::nullopt);
  Draft fifo("a FIFO that is a view");
  fifo.buffer("b").fifo("q", 1, R"("view": {"of": "b"})");
  fifo.engine("load", {"reserve q", "push q", "front q", "pop q"});
  leaves_uncovered(fifo, "shares its bytes with a FIFO");
  view.buffer("b").buffer("v", R"("view": {"of": "b"})").fifo("q", 1);
  Fixture f(view.engine("load", {"run load > v"}));
  CHECK(uncovered(f.subject) == std::nullopt);
}

TEST_CASE("coverage: an op outside every section, or never performed, is uncovered") {
  Fixture f(tests::semaphore_handoff());
  const Witness w = tests::witness(prove(f.subject, f.session));
  auto& span = f.program.programs[0].spans[0];
  --span.end;
  CHECK(outcome(check(f.subject, w)) == rejected(Reason::uncovered));
  ++span.end;
  CHECK(outcome(check(f.subject, w)) == "accepted");
  f.subject.one.op[0] = f.subject.one.op[1];
  CHECK(outcome(check(f.subject, w)) == rejected(Reason::uncovered));
}

}  // namespace
}  // namespace spatialcert::proofs::coverage
