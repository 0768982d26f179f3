#include <doctest/doctest.h>

#include "proofs/bounds/rule.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/samples.hpp"
#include "tests/proofs/small_programs.hpp"

namespace spatialcert::proofs::bounds {
namespace {

using tests::Draft;
using tests::Fixture;
using tests::Ops;
using tests::outcome;
using tests::rejected;
using Reason = Rejected::Reason;

std::string checked(const Fixture& f) { return outcome(check(f.subject, Witness{})); }
std::string proved(Fixture& f) { return outcome(prove(f.subject, f.position, f.session)); }

/// Refuted as `kind` by a counterexample that replays.
void refutes(const Draft& draft, const std::string& kind) {
  CAPTURE(draft.name());
  Fixture f(draft);
  const auto search = prove(f.subject, f.position, f.session);
  REQUIRE(outcome(search) == "refuted: " + kind);
  CHECK(tests::replayed(f.program, tests::counterexample(search)) == "reproduced");
}

TEST_CASE("bounds: what stays in its bounds is proved and accepted") {
  for (const Draft& draft : tests::all_samples()) {
    CAPTURE(draft.name());
    Fixture f(draft);
    CHECK(proved(f) == "proved");
    CHECK(checked(f) == "accepted");
  }
}

TEST_CASE("bounds: nothing is accepted while a test is inexact") {
  Draft d("competing");
  d.semaphore("s").engine("load", {"post s", "post s"});
  d.engine("compute", {"wait s"}).engine("store", {"wait s"});
  Fixture f(d);
  CHECK(checked(f) == rejected(Reason::inexact_test));
  CHECK(proved(f).starts_with("unknown: "));
}

TEST_CASE("bounds: accesses beyond the limit of the analysis leave the obligation open") {
  Draft d("far pages");
  d.fifo("q", 2, R"("page_bytes": 2305843009213693952, "address": 0)");
  d.engine("load", {"repeat 8", "reserve q", "run load > q", "push q", "end"});
  d.engine("store", {"repeat 8", "front q", "pop q", "end"});
  Fixture f(d);
  REQUIRE(f.subject.accesses.limit);
  CHECK(checked(f) == rejected(Reason::missing_obligation));
  CHECK(proved(f).starts_with("unknown: "));
}

TEST_CASE("bounds: a region that leaves its object") {
  Draft d("past the end");
  d.tensor("x", "external", 8).buffer("b");
  d.engine("load", {"repeat 3", "run load x[4i:4i+4] > b", "end"});
  Fixture f(d);
  CHECK(checked(f) == rejected(Reason::misuse));
  refutes(d, "misuse");
}

TEST_CASE("bounds: ops outside their window") {
  const auto pipeline = [](std::vector<std::string> load, std::vector<std::string> store) {
    Draft d("windows");
    d.tensor("x", "external")
        .fifo("q", 2)
        .engine("load", std::move(load))
        .engine("store", std::move(store));
    return d;
  };
  const std::vector<std::string> load{"reserve q", "run load x > q", "push q"},
      store{"front q", "pop q"};
  for (const Draft& draft :
       {pipeline({"push q"}, store), pipeline({"run load x > q", "reserve q", "push q"}, store),
        pipeline({"reserve q", "run load x > q@1", "push q"}, store),
        pipeline({"reserve q", "push q", "push q"}, store),
        pipeline(load, {"front q", "pop q", "run store q"}),
        pipeline({"reserve q 2", "push q 2"}, {"front q", "pop q 2"})}) {
    Fixture f(draft);
    CHECK(checked(f) == rejected(Reason::misuse));
    refutes(draft, "misuse");
  }
}

TEST_CASE("bounds: windows slide") {
  Draft d("sliding");
  d.tensor("x", "external", 8).fifo("q", 3);
  d.engine("load", {"reserve q 2", "run load x[0:4] > q", "push q", "run load x[4:8] > q", "push q",
                    "reserve q", "run load x[0:4] > q", "push q"});
  d.engine("store",
           {"front q 2", "run store q@1", "pop q", "front q 2", "run store q@1", "pop q 2"});
  Fixture f(d);
  CHECK(proved(f) == "proved");
  CHECK(checked(f) == "accepted");
}

TEST_CASE("bounds: the misuse that is found is the one that happens") {
  for (const Ops& ops : tests::sequences(
           {"reserve q 2", "push q", "run load x > q@1", "front q", "run store q > y", "pop q"},
           3)) {
    if (ops.empty()) continue;
    Draft d("alone");
    d.tensor("x", "external").tensor("y").fifo("q", 2).engine("load", ops);
    CAPTURE(d.json());
    const Fixture f(d);
    const ir::TokenGame game(f.program, f.subject.stretch);
    const auto fault = ir::play_freely(game).result.fault;
    const auto misuse = window_misuse(f.subject);
    if (!fault) continue;
    REQUIRE(misuse);
    CHECK(misuse->transition == fault->transition);
    CHECK(misuse->counter == fault->counter);
    CHECK(misuse->asked == fault->value);
    CHECK(misuse->open == fault->limit);
  }
}

Draft posts(int maximum, std::vector<std::string> waits) {
  Draft d("posts");
  d.semaphore("s", 0, maximum).semaphore("t", 0, 1);
  d.engine("load", {"post s 2", "wait t", "post s 2"}).engine("store", std::move(waits));
  return d;
}

TEST_CASE("bounds: a maximum that order alone keeps") {
  Fixture f(posts(2, {"wait s 2", "post t", "wait s 2"}));
  CHECK(proved(f) == "proved");
  CHECK(f.session.queries == 2);  // one about s, and one about t, whose single post always fits
  CHECK(checked(f) == "accepted");
}

TEST_CASE("bounds: a post that passes the maximum in some schedule") {
  const Draft d = posts(3, {"post t", "wait s 2", "wait s 2"});
  Fixture f(d);
  CHECK(checked(f) == rejected(Reason::out_of_range));
  refutes(d, "overflow");
}

TEST_CASE("bounds: a persistent program that gains in every iteration") {
  Draft d("gains");
  d.persistent().semaphore("s", 0, 31).engine("load", {"post s"});
  Fixture f(d);
  CHECK(checked(f) == rejected(Reason::inexact_test));
  refutes(d, "overflow");
}

TEST_CASE("bounds: a poster that nothing holds back has no bound") {
  Draft d("runs ahead");
  d.persistent().semaphore("s", 0, 31).engine("load", {"post s"}).engine("store", {"wait s"});
  Fixture f(d);
  REQUIRE(f.subject.net.exact());
  CHECK(checked(f) == rejected(Reason::out_of_range));
  refutes(d, "overflow");
}

TEST_CASE("bounds: every semaphore is looked at") {
  for (const char* high : {"s", "t", "u"}) {
    Draft d("three");
    for (const char* name : {"s", "t", "u"}) d.semaphore(name, 0, 1);
    const std::string post = std::string("post ") + high;
    Fixture f(
        d.engine("load", {"post s", "wait s", "post t", "wait t", "post u", "wait u", post, post}));
    CHECK(checked(f) == rejected(Reason::out_of_range));
  }
}

TEST_CASE("bounds: a persistent maximum") {
  for (const int maximum : {2, 1}) {
    CAPTURE(maximum);
    Draft d("credits");
    d.persistent().semaphore("full", 0, maximum).semaphore("free", 2, 2);
    d.engine("load", {"wait free", "post full"}).engine("store", {"wait full", "post free"});
    Fixture f(d);
    CHECK(proved(f) == (maximum == 2 ? "proved" : "refuted: overflow"));
    CHECK(checked(f) == (maximum == 2 ? "accepted" : rejected(Reason::out_of_range)));
  }
}

}  // namespace
}  // namespace spatialcert::proofs::bounds
