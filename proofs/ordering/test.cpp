#include <doctest/doctest.h>

#include <utility>

#include "proofs/ordering/rule.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/samples.hpp"
#include "tests/proofs/sections.hpp"

namespace spatialcert::proofs::ordering {
namespace {

using tests::Draft;
using tests::Fixture;
using tests::outcome;
using tests::rejected;
using Reason = Rejected::Reason;

Witness proved(Fixture& f) {
  const Found found = prove(f.subject, f.position, f.session);
  REQUIRE(outcome(found.search) == "proved");
  return tests::witness(found.search);
}

/// A hand-off over a third engine: its path has two places.
Draft relay() {
  Draft d("relay");
  d.tensor("x", "external").tensor("y").buffer("b").semaphore("s").semaphore("t");
  d.engine("load", {"run load x > b", "post s"}).engine("compute", {"wait s", "post t"});
  d.engine("store", {"wait t", "run store b > y"});
  return d;
}

TEST_CASE("ordering: what is ordered is proved and its paths accepted") {
  for (const Draft& draft : tests::all_samples()) {
    CAPTURE(draft.name());
    Fixture f(draft);
    CHECK(outcome(check(f.subject, proved(f))) == "accepted");
    CHECK(f.session.queries > 0);
  }
}

TEST_CASE("ordering: questions of a long program stay short, whichever engines they are about") {
  // 1,021 pairs between two engines, which no query's number of pairs divides, then as many between
  // the next two.
  const std::string turns = "repeat 1021";
  Draft d("long");
  d.tensor("x", "external").tensor("y").fifo("q", 2).fifo("r", 2);
  d.engine("load", {turns, "reserve q", "run load x > q", "push q", "end"});
  d.engine("compute", {turns, "front q", "reserve r", "run move q > r", "push r", "pop q", "end"});
  d.engine("store", {turns, "front r", "run store r > y", "pop r", "end"});
  Fixture f(d);
  CHECK(outcome(check(f.subject, proved(f))) == "accepted");
  CHECK(f.session.resource < 200'000);
}

TEST_CASE("ordering: without an order of the net there is nothing to accept") {
  Draft d("crossed");
  d.semaphore("s").semaphore("t");
  d.engine("load", {"wait s", "post t"}).engine("store", {"wait t", "post s"});
  Fixture f(d);
  CHECK(outcome(check(f.subject, Witness{{0}, {}})) == rejected(Reason::missing_obligation));
}

TEST_CASE("ordering: accesses beyond the limit of the analysis leave the obligation open") {
  Draft d("far pages");
  d.fifo("q", 2, R"("page_bytes": 2305843009213693952, "address": 0)");
  d.engine("load", {"repeat 8", "reserve q", "run load > q", "push q", "end"});
  d.engine("store", {"repeat 8", "front q", "pop q", "end"});
  Fixture f(d);
  CHECK(outcome(check(f.subject, Witness{{0}, {}})) == rejected(Reason::missing_obligation));
  CHECK(outcome(prove(f.subject, f.position, f.session).search).starts_with("unknown: "));
}

TEST_CASE("ordering: a witness of another size is rejected") {
  Fixture f(relay());
  const Witness good = proved(f);
  REQUIRE(good.begin == std::vector<std::uint32_t>{0, 2});
  for (const Witness& w : {Witness{{0, 2, 2}, good.places}, Witness{{0}, {}},
                           Witness{{1, 2}, good.places}, Witness{{0, 1}, good.places}}) {
    CHECK(outcome(check(f.subject, w)) == rejected(Reason::wrong_size));
  }
  Witness beyond = good;
  beyond.places[1] = static_cast<std::uint32_t>(f.subject.places.size());
  CHECK(outcome(check(f.subject, beyond)) == rejected(Reason::wrong_size));
}

TEST_CASE("ordering: paths that overlap in the witness are rejected") {
  Draft d("three pairs");
  d.tensor("x", "external").tensor("y").buffer("a").buffer("b").buffer("c");
  d.semaphore("s").semaphore("t");
  d.engine("load", {"run load x > a", "run load x > b", "run load x > c", "post s"});
  d.engine("compute", {"wait s", "post t"});
  d.engine("store", {"wait t", "run store a > y", "run store b > y", "run store c > y"});
  Fixture f(d);
  Witness w = proved(f);
  REQUIRE(w.begin == std::vector<std::uint32_t>{0, 2, 4, 6});
  w.begin = {0, 2, 1, 6};
  CHECK(outcome(check(f.subject, w)) == rejected(Reason::wrong_size));
}

TEST_CASE("ordering: a path that lies beyond the witness is rejected") {
  Draft two("two pairs");
  two.tensor("x", "external").tensor("y").buffer("a").buffer("b").semaphore("s");
  two.engine("load", {"run load x > a", "run load x > b", "post s"});
  two.engine("store", {"wait s", "run store a > y", "run store b > y"});
  Fixture f(two);
  Witness w = proved(f);
  REQUIRE(w.begin == std::vector<std::uint32_t>{0, 1, 2});
  w.begin = {0, 4, 2};
  CHECK(outcome(check(f.subject, w)) == rejected(Reason::wrong_size));
}

TEST_CASE("ordering: steps that no place joins are rejected") {
  Fixture f(relay());
  Witness w = proved(f);
  std::swap(w.places[0], w.places[1]);
  CHECK(outcome(check(f.subject, w)) == rejected(Reason::broken_path));
  w = proved(f);
  w.places = {w.places[1]};
  w.begin = {0, 1};
  CHECK(outcome(check(f.subject, w)) == rejected(Reason::broken_path));
}

TEST_CASE("ordering: a path must join the pair") {
  Fixture f(relay());
  Witness w = proved(f);
  w.places.pop_back();
  w.begin = {0, 1};
  CHECK(outcome(check(f.subject, w)) == rejected(Reason::wrong_ends));
  CHECK(outcome(check(f.subject, Witness{{0, 0}, {}})) == rejected(Reason::wrong_ends));
}

/// The second write of `b` comes after its read only because the FIFO has one page.
Draft by_credit(const std::string& depth) {
  Draft d("by credit");
  d.tensor("x", "external", 8).tensor("y").fifo("q", 1, "\"depth\": \"" + depth + "\"").buffer("b");
  d.engine("load", {"run load x[0:4] > b", "reserve q", "push q", "reserve q",
                    "run load x[4:8] > b", "push q"});
  d.engine("store", {"front q", "run store b > y", "pop q", "front q", "pop q"});
  return d;
}

TEST_CASE("ordering: the credit of a guaranteed FIFO orders nothing") {
  Fixture exact(by_credit("exact"));
  CHECK(outcome(check(exact.subject, proved(exact))) == "accepted");

  Fixture f(by_credit("guaranteed"));
  const Found found = prove(f.subject, f.position, f.session);
  REQUIRE(outcome(found.search) == "refuted: race");
  CHECK(tests::replayed(f.program, tests::counterexample(found.search)) == "reproduced");
  CHECK(!tests::counterexample(found.search).deeper.empty());
  // The path that an exact depth would give.
  Witness w{{0}, {}};
  const auto pairs = conflicting_pairs(f.subject, f.position);
  for (const Pair& pair : pairs) {
    const auto program = [&](std::uint32_t access) {
      return f.subject.stretch.program[f.subject.accesses.accesses[access].transition.value()];
    };
    for (std::uint32_t p = 0; p < f.subject.places.size(); ++p) {
      const ir::Place& place = f.subject.places[p];
      const bool there = f.subject.stretch.program[place.from.value()] == program(pair.earlier);
      if (there && place.credit == (program(pair.earlier) == 1)) {
        w.places.push_back(p);
        break;
      }
    }
    w.begin.push_back(static_cast<std::uint32_t>(w.places.size()));
  }
  CHECK(outcome(check(f.subject, w)) == rejected(Reason::broken_path));
}

TEST_CASE("ordering: races are refuted, and both schedules replay") {
  Draft missing = tests::semaphore_handoff();
  missing.without("load", 2).without("store", 2);
  Draft flag = tests::awaited_flag();
  flag.without("store", 0);
  Draft writes("two writers");
  writes.tensor("x", "external")
      .buffer("b")
      .engine("load", {"run left x > b"})
      .engine("store", {"run right x > b"});
  Draft wraps("wrap-around");
  wraps.persistent().tensor("x", "external").tensor("y").buffer("b").semaphore("s");
  wraps.engine("load", {"run load x > b", "post s"}).engine("store", {"wait s", "run store b > y"});
  for (const Draft& draft : {missing, flag, writes, wraps}) {
    CAPTURE(draft.name());
    Fixture f(draft);
    const Found found = prove(f.subject, f.position, f.session);
    REQUIRE(outcome(found.search) == "refuted: race");
    CHECK(tests::replayed(f.program, tests::counterexample(found.search)) == "reproduced");
  }
}

TEST_CASE("ordering: no witness fits a program with a race") {
  Draft d("two writers");
  d.tensor("x", "external")
      .buffer("b")
      .engine("load", {"run left x > b"})
      .engine("store", {"run right x > b"});
  Fixture f(d);
  CHECK(outcome(check(f.subject, Witness{{0, 0}, {}})) == rejected(Reason::wrong_ends));
  CHECK(outcome(check(f.subject, Witness{{0}, {}})) == rejected(Reason::wrong_size));
}

/// Two sections that a rendezvous keeps apart; the first one performed is the later in the source.
Draft reordered(const std::string& first, const std::string& second) {
  Draft d("reordered");
  d.tensor("x", "external").tensor("y", "external").semaphore("t");
  d.buffer("a", R"("address": 0)").buffer("b", R"("address": 0)");
  in_sections(d, {{"load", {{first}, {"post t"}, {}}}, {"store", {{}, {"wait t"}, {second}}}});
  return d.member("sections", R"([
    {"name": "s0", "index": 1, "ops": [{"site": [0, 0, 0], "engine": "load", "range": [0, 1]}]},
    {"name": "s1", "index": 0, "ops": [{"site": [0, 0, 0], "engine": "store", "range": [1, 2]}]}])");
}

TEST_CASE("ordering: sections that share a tensor keep the order of the source") {
  const auto judged = [](const Draft& draft) {
    Fixture f(draft);
    const auto search = prove(f.subject, f.position, f.session).search;
    if (const auto* found = std::get_if<Refuted>(&search)) {
      CHECK(std::holds_alternative<Reproduced>(replay(f.program, found->counterexample)));
      return std::string(to_string(found->counterexample.kind));
    }
    CHECK(outcome(check(f.subject, tests::witness(search))) == "accepted");
    return outcome(search);
  };
  CHECK(judged(reordered("run s0_a > x", "run s1_a x")) == "wrong-order");
  CHECK(judged(reordered("run s0_a x", "run s1_a > x")) == "wrong-order");
  CHECK(judged(reordered("run s0_a > x", "run s1_a > x")) == "wrong-order");
  CHECK(judged(reordered("run s0_a x", "run s1_a x")) == "proved");
  CHECK(judged(reordered("run s0_a > x", "run s1_a > y")) == "proved");
  CHECK(judged(reordered("run s0_a > a", "run s1_a > a")) == "wrong-order");
  // Bytes that are used again by another buffer carry nothing.
  CHECK(judged(reordered("run s0_a > a", "run s1_a > b")) == "proved");
  Fixture f(reordered("run s0_a > x", "run s1_a x"));
  CHECK(outcome(check(f.subject, {{0, 0}, {}})) != "accepted");
}

}  // namespace
}  // namespace spatialcert::proofs::ordering
