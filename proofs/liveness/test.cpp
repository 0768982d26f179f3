#include <doctest/doctest.h>

#include <algorithm>

#include "proofs/liveness/rule.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/samples.hpp"

namespace spatialcert::proofs::liveness {
namespace {

using tests::Draft;
using tests::Fixture;
using tests::outcome;
using tests::rejected;
using Reason = Rejected::Reason;

Draft crossed_waits() {
  Draft d("crossed");
  d.semaphore("s").semaphore("t");
  d.engine("load", {"wait s", "post t"}).engine("store", {"wait t", "post s"});
  return d;
}

TEST_CASE("liveness: what is live is proved and the potential accepted") {
  for (const Draft& draft : tests::all_samples()) {
    CAPTURE(draft.name());
    Fixture f(draft);
    const Found found = prove(f.subject, f.session);
    REQUIRE(outcome(found.search) == "proved");
    CHECK(f.session.queries == 1);
    CHECK(outcome(check(f.subject, tests::witness(found.search))) == "accepted");
  }
}

TEST_CASE("liveness: a witness of another size is rejected") {
  Fixture f(tests::fifo_pipeline());
  auto w = tests::witness(prove(f.subject, f.session).search);
  w.potential.push_back(0);
  CHECK(outcome(check(f.subject, w)) == rejected(Reason::wrong_size));
  w.potential.resize(3);
  CHECK(outcome(check(f.subject, w)) == rejected(Reason::wrong_size));
}

TEST_CASE("liveness: a potential must grow along program order") {
  Fixture f(tests::fifo_pipeline());
  auto w = tests::witness(prove(f.subject, f.session).search);
  const std::uint32_t t = f.at(0, 1).value();
  w.potential[t] = w.potential[t - 1];
  CHECK(outcome(check(f.subject, w)) == rejected(Reason::not_increasing));
}

TEST_CASE("liveness: a potential must grow along every token-free place") {
  Fixture f(tests::fifo_pipeline());
  const auto good = tests::witness(prove(f.subject, f.session).search);
  REQUIRE(!f.subject.net.places.empty());
  for (const ir::Place& place : f.subject.net.places) {
    // Lower a whole engine program until exactly this place does not grow any more, by one.
    Witness w = good;
    const auto from = w.potential[place.from.value()];
    const auto to = w.potential[place.to.value()];
    const std::uint32_t p = f.subject.one.program[place.to.value()];
    for (std::uint32_t t = f.subject.one.begin[p]; t < f.subject.one.begin[p + 1]; ++t)
      w.potential[t] -= to - from;
    CHECK(outcome(check(f.subject, w)) == rejected(Reason::not_increasing));
  }
}

TEST_CASE("liveness: without exact tests no potential is accepted") {
  Draft d("competing");
  d.semaphore("s", 0, 15);
  d.engine("load", {"post s", "post s"}).engine("compute", {"wait s"}).engine("store", {"wait s"});
  Fixture f(d);
  REQUIRE(!f.subject.net.exact());
  Witness w;
  for (std::uint32_t t = 0; t < f.subject.one.transitions(); ++t) w.potential.push_back(t);
  CHECK(outcome(check(f.subject, w)) == rejected(Reason::inexact_test));
  CHECK(outcome(prove(f.subject, f.session).search).starts_with("unknown: "));
}

TEST_CASE("liveness: crossed waits are a cycle, and no potential fits") {
  Fixture f(crossed_waits());
  const Found found = prove(f.subject, f.session);
  REQUIRE(outcome(found.search) == "refuted: cycle");
  const Counterexample& c = tests::counterexample(found.search);
  CHECK(tests::replayed(f.program, c) == "reproduced");
  CHECK(c.chain.size() == 2);
  CHECK(outcome(check(f.subject, Witness{{0, 1, 2, 3}})) == rejected(Reason::not_increasing));
  CHECK(outcome(check(f.subject, Witness{{2, 3, 0, 1}})) == rejected(Reason::not_increasing));
}

TEST_CASE("liveness: a wait above all supply is starved") {
  Draft d("starved");
  d.semaphore("s");
  d.engine("load", {"post s", "post s"}).engine("store", {"wait s 3"});
  Fixture f(d);
  const Found found = prove(f.subject, f.session);
  REQUIRE(outcome(found.search) == "refuted: starved");
  CHECK(tests::replayed(f.program, tests::counterexample(found.search)) == "reproduced");
}

TEST_CASE("liveness: a period whose multiple overflows is rejected") {
  Draft d("four tokens");
  d.persistent().semaphore("s", 4).semaphore("t");
  const Fixture f(d.engine("load", {"post s", "wait t"}).engine("store", {"wait s", "post t"}));
  const auto& places = f.subject.net.places;
  REQUIRE(
      std::any_of(places.begin(), places.end(), [](const ir::Place& p) { return p.tokens == 4; }));
  const std::int64_t large = std::int64_t{1} << 61;
  CHECK(outcome(check(f.subject, Witness{{2, 3, 0, 1}, large - 1})) == "accepted");
  CHECK(outcome(check(f.subject, Witness{{2, 3, 0, 1}, 2 * large})) ==
        "rejected: potential does not increase");
  // Four times this is 4 modulo 2^64, which would do.
  CHECK(outcome(check(f.subject, Witness{{2, 3, 0, 1}, 2 * large + 1})) ==
        "rejected: potential does not increase");
}

TEST_CASE("liveness: growth is compared, not subtracted") {
  Draft d("pair");
  d.semaphore("s").engine("load", {"post s"}).engine("store", {"wait s"});
  Fixture f(d);
  CHECK(outcome(check(f.subject, Witness{{INT64_MIN, INT64_MAX}})) == "accepted");
  CHECK(outcome(check(f.subject, Witness{{INT64_MAX, INT64_MIN}})) ==
        rejected(Reason::not_increasing));
}

TEST_CASE("liveness: a persistent program that runs dry after some iterations") {
  Draft d("dry");
  d.persistent().semaphore("s", 5);
  d.engine("load", {"wait s"}).engine("store", {"post s 2", "wait s 2"});
  Fixture f(d);
  const Found found = prove(f.subject, f.session);
  REQUIRE(outcome(found.search) == "refuted: starved");
  CHECK(tests::counterexample(found.search).iterations > 1);
  CHECK(tests::replayed(f.program, tests::counterexample(found.search)) == "reproduced");
}

TEST_CASE("liveness: a persistent cycle with a token lives, without it does not") {
  for (const int initial : {1, 0}) {
    CAPTURE(initial);
    Draft d("ring");
    d.persistent().semaphore("s", initial).semaphore("t");
    d.engine("load", {"wait s", "post t"}).engine("store", {"wait t", "post s"});
    Fixture f(d);
    const Found found = prove(f.subject, f.session);
    CHECK(outcome(found.search) == (initial == 1 ? "proved" : "refuted: cycle"));
  }
}

TEST_CASE("liveness: a large net is cut into blocks, and the parts fit together") {
  Draft d("long");
  d.tensor("x", "external").fifo("q", 2);
  d.engine("load", {"repeat 900", "reserve q", "run load x > q", "push q", "end"});
  d.engine("store", {"repeat 900", "front q", "pop q", "end"});
  Fixture f(d);
  const Found found = prove(f.subject, f.session);
  REQUIRE(outcome(found.search) == "proved");
  CHECK(f.session.queries > 1);
  CHECK(found.strategy.starts_with("cut into "));
  CHECK(outcome(check(f.subject, tests::witness(found.search))) == "accepted");
}

}  // namespace
}  // namespace spatialcert::proofs::liveness
