#include <doctest/doctest.h>

#include "proofs/boundary/rule.hpp"
#include "proofs/counterexample.hpp"
#include "tests/oracle/explorer.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/sections.hpp"

namespace spatialcert::proofs::boundary {
namespace {

using tests::Draft;
using tests::EngineParts;
using tests::Fixture;
using tests::outcome;
using tests::rejected;
using Ops = std::vector<std::string>;
using Reason = Rejected::Reason;

Draft between(const std::string& name, const Ops& load, const Ops& compute, const Ops& store) {
  Draft d(name);
  d.tensor("x", "external").semaphore("a").semaphore("r").semaphore("q");
  return in_sections(d, {{"load", {{"run s0_a x"}, load, {"run s1_a x"}}},
                         {"compute", {{"run s0_b x"}, compute, {"run s1_b x"}}},
                         {"store", {{"run s0_c x"}, store, {"run s1_c x"}}}});
}

const Ops kRoot{"post a", "wait a 3", "post r 3", "wait r"};
const Ops kOther{"post a", "wait r"};

/// Does every op before boundary 0 come before every op after it in all schedules?
bool separated(const Fixture& f) {
  const tests::Exploration explored(ir::TokenGame(f.program, f.subject.stretch), 1'000'000);
  REQUIRE(explored.complete);
  for (const ir::Piece& before : ir::pieces_of(f.program, f.subject.one)) {
    for (const ir::Piece& after : ir::pieces_of(f.program, f.subject.one)) {
      if (!before.section.valid() || !after.section.valid() || before.program == after.program ||
          before.section.value() != 0 || after.section.value() != 1)
        continue;
      if (explored.separates(after.begin, before.end - 1)) return false;
    }
  }
  return true;
}

std::string refuted(const Fixture& f, smt::Session& session) {
  const auto search = prove(f.subject, f.position, session);
  const auto* found = std::get_if<Refuted>(&search);
  if (found == nullptr) return outcome(search);
  CHECK(std::holds_alternative<Reproduced>(replay(f.program, found->counterexample)));
  return std::string(to_string(found->counterexample.kind));
}

TEST_CASE("boundary: a rendezvous is proved, and only what joins everything is its centre") {
  Fixture f(between("rendezvous", kRoot, kOther, kOther));
  CHECK(separated(f));
  const auto search = prove(f.subject, f.position, f.session);
  REQUIRE(outcome(search) == "proved");
  const Witness good = tests::witness(search);
  REQUIRE(good.centre.size() == 1);
  CHECK(f.subject.one.op_of(f.program, ir::TransitionId(good.centre[0])).count == 3);
  std::uint32_t accepted = 0;
  for (std::uint32_t t = 0; t < f.subject.one.transitions(); ++t) {
    const std::string answer = outcome(check(f.subject, {{t}}));
    if (answer == "accepted") {
      // The wait for all arrivals, or the release after it.
      const ir::Op& op = f.subject.one.op_of(f.program, ir::TransitionId(t));
      CHECK(op.count == 3);
      ++accepted;
    } else {
      CHECK(answer == rejected(Reason::slip_through));
    }
  }
  CHECK(accepted == 2);
}

TEST_CASE("boundary: witnesses of another size") {
  Fixture f(between("rendezvous", kRoot, kOther, kOther));
  CHECK(outcome(check(f.subject, {})) == rejected(Reason::wrong_size));
  CHECK(outcome(check(f.subject, {{2, 2}})) == rejected(Reason::wrong_size));
  CHECK(outcome(check(f.subject, {{f.subject.one.transitions()}})) == rejected(Reason::wrong_size));
  CHECK(outcome(check(f.subject, {{0xffffffffU}})) == rejected(Reason::wrong_size));
}

TEST_CASE("boundary: who is not held up, or holds up nobody, slips through") {
  struct Broken {
    const char* name;
    Ops load, compute, store;
  };
  const Broken all[] = {
      {"the root waits for two of three",
       {"post a", "wait a 2", "post r 3", "wait r"},
       kOther,
       kOther},
      {"an engine takes no part", {"post a", "wait a 2", "post r 2", "wait r"}, kOther, {}},
      {"an engine does not arrive",
       {"post a", "wait a 2", "post r 3", "wait r"},
       kOther,
       {"wait r"}},
      {"an engine does not wait", kRoot, kOther, {"post a"}},
      {"the root releases before it waits",
       {"post a", "post r 3", "wait a 3", "wait r"},
       kOther,
       kOther},
      {"an engine waits for another",
       {"post a", "wait a 3", "post r 2", "wait r"},
       kOther,
       {"post a", "post q", "wait q"}},
  };
  for (const Broken& broken : all) {
    CAPTURE(broken.name);
    Fixture f(between(broken.name, broken.load, broken.compute, broken.store));
    CHECK(!separated(f));
    for (std::uint32_t t = 0; t < f.subject.one.transitions(); ++t)
      CHECK(outcome(check(f.subject, {{t}})) != "accepted");
    CHECK(refuted(f, f.session) == "slip-through");
  }
}

/// No op at all is a centre, and a schedule slips through.
void slips(const Draft& draft) {
  CAPTURE(draft.name());
  Fixture f(draft);
  for (std::uint32_t t = 0; t < f.subject.one.transitions(); ++t)
    CHECK(outcome(check(f.subject, {{t}})) != "accepted");
  CHECK(refuted(f, f.session) == "slip-through");
}

TEST_CASE("boundary: what an op before it says is not said for those after that op") {
  Draft d("an early signal");
  d.tensor("x", "external").semaphore("z").semaphore("r");
  slips(
      in_sections(d, {{"load", {{"run s0_a x"}, {"wait z", "post r 2", "wait r"}, {"run s1_a x"}}},
                      {"compute", {{"post z", "run s0_b x"}, {"wait r"}, {"run s1_b x"}}}}));
}

TEST_CASE("boundary: a FIFO may be deeper than guaranteed") {
  for (const bool guaranteed : {false, true}) {
    Draft d("over a FIFO");
    d.tensor("x", "external").fifo("q", 1, guaranteed ? R"("depth": "guaranteed")" : "");
    in_sections(
        d,
        {{"load", {{"run s0_a x"}, {"reserve q", "push q", "reserve q", "push q"}, {"run s1_a x"}}},
         {"store", {{"run s0_b x"}, {"front q", "pop q", "front q", "pop q"}, {"run s1_b x"}}}});
    Fixture f(d);
    std::uint32_t accepted = 0;
    for (std::uint32_t t = 0; t < f.subject.one.transitions(); ++t)
      accepted += outcome(check(f.subject, {{t}})) == "accepted" ? 1 : 0;
    CHECK((accepted > 0) == !guaranteed);
  }
}

TEST_CASE("boundary: the centres follow one another") {
  // Nothing happens between the two boundaries, and nothing joins them.
  Draft d("two boundaries");
  d.tensor("x", "external").semaphore("u").semaphore("v");
  in_sections(d, {{"load", {{"run s0_a x"}, {"post u", "wait u"}, {}, {}, {}}},
                  {"store", {{}, {}, {}, {"post v", "wait v"}, {"run s2_a x"}}}});
  d.member("sections",
           R"([{"name": "s0", "ops": [{"site": [0, 0, 0], "engine": "load", "range": [0, 1]}]},
      {"name": "s1", "ops": []},
      {"name": "s2", "ops": [{"site": [0, 0, 0], "engine": "store", "range": [2, 3]}]}])");
  Fixture f(d);
  CHECK(outcome(check(f.subject, {{1, 3}})) == rejected(Reason::slip_through));
  CHECK(refuted(f, f.session) == "slip-through");
  Draft joined("joined");
  joined.tensor("x", "external").semaphore("u").semaphore("v");
  in_sections(joined, {{"load", {{"run s0_a x"}, {"post u", "wait u"}, {}, {"post v"}, {}}},
                       {"store", {{}, {}, {}, {"wait v"}, {"run s2_a x"}}}});
  joined.member("sections",
                R"([{"name": "s0", "ops": [{"site": [0, 0, 0], "engine": "load", "range": [0, 1]}]},
      {"name": "s1", "ops": []},
      {"name": "s2", "ops": [{"site": [0, 0, 0], "engine": "store", "range": [1, 2]}]}])");
  Fixture g(joined);
  CHECK(outcome(prove(g.subject, g.position, g.session)) == "proved");
}

TEST_CASE("boundary: the boundary that a persistent program wraps around, and the open one") {
  const auto persistent = [](const Ops& load, const Ops& store) {
    Draft d("persistent");
    d.persistent()
        .tensor("x", "external")
        .semaphore("a")
        .semaphore("r")
        .semaphore("b")
        .semaphore("w");
    return in_sections(
        d, {{"load",
             {{"run s0_a x"}, {"post a", "wait a 2", "post r 2", "wait r"}, {"run s1_a x"}, load}},
            {"store", {{"run s0_b x"}, {"post a", "wait r"}, {"run s1_b x"}, store}}});
  };
  const Ops root{"post b", "wait b 2", "post w 2", "wait w"}, other{"post b", "wait w"};
  Fixture closed(persistent(root, other));
  CHECK(outcome(prove(closed.subject, closed.position, closed.session)) == "proved");
  Fixture broken(
      persistent({"post b", "wait b", "post w 2", "wait w"}, {"post b", "wait w", "wait b"}));
  const auto never = [](const Fixture& f) {
    const std::uint32_t n = f.subject.one.transitions();
    for (std::uint32_t first = 0; first < n; ++first) {
      for (std::uint32_t second = 0; second < n; ++second) {
        if (outcome(check(f.subject, {{first, second}})) == "accepted") return false;
      }
    }
    return true;
  };
  CHECK(!never(closed));
  CHECK(never(broken));
  // Nobody waits for the last boundary before the next iteration.
  CHECK(never(Fixture(persistent({"post b", "wait b 2"}, {"post b"}))));
  // Arrivals of the iteration before would do.
  Draft late("late");
  late.persistent()
      .tensor("x", "external")
      .semaphore("g", 1)
      .semaphore("r")
      .semaphore("b")
      .semaphore("w");
  in_sections(late, {{"load", {{"run s0_a x"}, {"wait g", "post r"}, {"run s1_a x"}, root}},
                     {"store", {{"run s0_b x"}, {"post g", "wait r"}, {"run s1_b x"}, other}}});
  const Fixture lagging(late);
  CHECK(std::any_of(lagging.subject.net.places.begin(), lagging.subject.net.places.end(),
                    [](const ir::Place& place) { return place.tokens > 0; }));
  CHECK(never(lagging));
  // Without it the last and the first phase are one.
  Draft d("open");
  d.persistent()
      .tensor("x", "external")
      .semaphore("a")
      .semaphore("r")
      .semaphore("b")
      .semaphore("w");
  in_sections(d, {{"load",
                   {{"run s0_a x"},
                    {"post a", "wait a 2", "post r 2", "wait r"},
                    {"run s1_a x"},
                    root,
                    {"run s2_a x"}}},
                  {"store",
                   {{"run s0_b x"}, {"post a", "wait r"}, {"run s1_b x"}, other, {"run s2_b x"}}}});
  Fixture open(d);
  const auto search = prove(open.subject, open.position, open.session);
  REQUIRE(outcome(search) == "proved");
  CHECK(outcome(check(open.subject, tests::witness(search))) == "accepted");
}

}  // namespace
}  // namespace spatialcert::proofs::boundary
