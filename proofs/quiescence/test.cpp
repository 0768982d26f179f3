#include <doctest/doctest.h>

#include "proofs/quiescence/rule.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/samples.hpp"

namespace spatialcert::proofs::quiescence {
namespace {

using tests::Draft;
using tests::Fixture;
using tests::outcome;
using tests::rejected;
using Reason = Rejected::Reason;

TEST_CASE("quiescence: what returns to its start is proved and accepted") {
  for (const Draft& draft : tests::all_samples()) {
    CAPTURE(draft.name());
    Fixture f(draft);
    CHECK(outcome(prove(f.subject, f.session)) == "proved");
    CHECK(f.session.queries == (draft.name() == "awaited-flag" ? 0 : 1));  // nothing must return
    CHECK(outcome(check(f.subject, Witness{})) == "accepted");
  }
}

TEST_CASE("quiescence: nothing is accepted while a test is inexact") {
  Draft d("competing");
  d.semaphore("s")
      .engine("load", {"post s", "post s"})
      .engine("compute", {"wait s"})
      .engine("store", {"wait s"});
  Fixture f(d);
  CHECK(outcome(check(f.subject, Witness{})) == rejected(Reason::inexact_test));
  CHECK(outcome(prove(f.subject, f.session)).starts_with("unknown: "));
}

TEST_CASE("quiescence: what is left over") {
  Draft token("token"), page("page"), twice("twice");
  token.semaphore("s", 1).engine("load", {"post s 2"}).engine("store", {"wait s"});
  page.fifo("q", 2)
      .engine("load", {"reserve q 2", "push q 2"})
      .engine("store", {"front q", "pop q"});
  twice.semaphore("s", 2).engine("store", {"wait s", "wait s"});
  for (const Draft& draft : {token, page, twice}) {
    CAPTURE(draft.name());
    Fixture f(draft);
    const auto search = prove(f.subject, f.session);
    REQUIRE(outcome(search) == "refuted: leftover");
    CHECK(tests::replayed(f.program, tests::counterexample(search)) == "reproduced");
    CHECK(outcome(check(f.subject, Witness{})) == rejected(Reason::unbalanced));
  }
}

TEST_CASE("quiescence: semaphores that the host resets are exempt, in a program that it restarts") {
  Draft d("reset");
  d.semaphore("s", 0, 15, R"("restart": "reset")")
      .engine("load", {"post s"})
      .engine("store", {"await s 1"});
  Fixture f(d);
  CHECK(outcome(prove(f.subject, f.session)) == "proved");
  CHECK(outcome(check(f.subject, Witness{})) == "accepted");
  CHECK(balance(f.subject)[0] == 1);
}

TEST_CASE("quiescence: a persistent program is not restarted, so nothing is reset") {
  Draft d("gains");
  d.persistent().semaphore("s", 0, 15, R"("restart": "reset")").engine("load", {"post s"});
  Fixture f(d);
  CHECK(must_return(f.program, {ir::CounterKind::semaphore, 0, 0}));
  CHECK(!must_return(f.program, {ir::CounterKind::free, 0, 0}));
}

TEST_CASE("quiescence: sums that do not fit are never zero") {
  Draft d("huge");
  d.member("target", R"({"name": "t", "spaces": [{"name": "sram", "bytes": 64}],
                         "semaphores": {"per_site": 1, "maximum": 9223372036854775807}})");
  d.semaphore("s", 0, 7).engine("load", {"repeat 4", "post s 9223372036854775807", "end"});
  Fixture f(d);
  CHECK(balance(f.subject)[0] == INT64_MAX);
}

TEST_CASE("quiescence: a sum that did not fit does not come back") {
  Draft d("there and back");
  d.member("target", R"({"name": "t", "spaces": [{"name": "sram", "bytes": 64}],
                         "semaphores": {"per_site": 1, "maximum": 9223372036854775807}})");
  d.semaphore("s", 0, 7);
  d.engine("load", {"post s 9223372036854775807", "post s 9223372036854775807",
                    "wait s 9223372036854775807"});
  Fixture f(d);
  CHECK(balance(f.subject)[0] == INT64_MAX);
}

}  // namespace
}  // namespace spatialcert::proofs::quiescence
