#include <doctest/doctest.h>

#include <numeric>

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

/// What a witness may say of a boundary: any op, or that it has no centre.
std::vector<std::uint32_t> all_centres(const Fixture& f) {
  std::vector<std::uint32_t> out(f.subject.one.transitions() + 1, kNone);
  std::iota(out.begin(), out.end() - 1, 0U);
  return out;
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
  CHECK(outcome(check(f.subject, {{kNone - 1}})) == rejected(Reason::wrong_size));
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
    for (const std::uint32_t t : all_centres(f))
      CHECK(outcome(check(f.subject, {{t}})) != "accepted");
    CHECK(refuted(f, f.session) == "slip-through");
  }
}

/// No op at all is a centre, and a schedule slips through.
void slips(const Draft& draft) {
  CAPTURE(draft.name());
  Fixture f(draft);
  for (const std::uint32_t t : all_centres(f))
    CHECK(outcome(check(f.subject, {{t}})) != "accepted");
  CHECK(refuted(f, f.session) == "slip-through");
}

/// The same for a program with two boundaries; checks only that no witness is accepted.
bool never(const Fixture& f) {
  for (const std::uint32_t first : all_centres(f)) {
    for (const std::uint32_t second : all_centres(f)) {
      if (outcome(check(f.subject, {{first, second}})) == "accepted") return false;
    }
  }
  return true;
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

TEST_CASE("boundary: without a centre everyone waits for everyone") {
  const Ops all{"ab", "ac", "ba", "bc", "ca", "cb"};
  const auto exchange = [&](const std::string& without) {
    Draft d("exchange without " + without);
    d.tensor("x", "external");
    for (const std::string& pair : all) d.semaphore(pair);
    std::vector<EngineParts> engines;
    for (const auto& [engine, letter] : std::vector<std::pair<std::string, char>>{
             {"load", 'a'}, {"compute", 'b'}, {"store", 'c'}}) {
      Ops posts, waits;
      for (const std::string& pair : all) {
        if (pair[0] == letter && pair != without) posts.push_back("post " + pair);
        if (pair[1] == letter && pair != without) waits.push_back("wait " + pair);
      }
      posts.insert(posts.end(), waits.begin(), waits.end());
      engines.push_back({engine,
                         {{std::string("run s0_") + letter + " x"},
                          posts,
                          {std::string("run s1_") + letter + " x"}}});
    }
    return in_sections(d, engines);
  };
  Fixture f(exchange(""));
  CHECK(separated(f));
  const auto search = prove(f.subject, f.position, f.session);
  REQUIRE(outcome(search) == "proved");
  CHECK(tests::witness(search).centre == std::vector<std::uint32_t>{kNone});
  for (const std::string& without : all) slips(exchange(without));
}

TEST_CASE("boundary: hand-offs of the sections may join who takes no part") {
  for (const bool arrives : {false, true}) {
    for (const bool waits : {false, true}) {
      CAPTURE(arrives);
      CAPTURE(waits);
      Draft d("left out");
      d.tensor("x", "external").semaphore("a").semaphore("r").semaphore("q").semaphore("p");
      Ops load{"run s0_a x"}, first{"run s0_c x"}, later{"run s1_c x"}, behind{"run s1_a x"};
      if (arrives) {
        first.push_back("post q");
        load.push_back("wait q");
      }
      if (waits) {
        behind.insert(behind.begin(), "post p");
        later.insert(later.begin(), "wait p");
      }
      in_sections(d, {{"load", {load, {"post a", "wait a 2", "post r 2", "wait r"}, behind}},
                      {"compute", {{"run s0_b x"}, kOther, {"run s1_b x"}}},
                      {"store", {first, {}, later}}});
      if (arrives && waits) {
        Fixture f(d);
        CHECK(separated(f));
        const auto search = prove(f.subject, f.position, f.session);
        REQUIRE(outcome(search) == "proved");
        CHECK(tests::witness(search).centre[0] != kNone);
      } else {
        slips(d);
      }
    }
  }
}

TEST_CASE("boundary: the first op of a section must wait, not one behind it") {
  Draft late("a late wait");
  late.tensor("x", "external").semaphore("a").semaphore("r");
  slips(in_sections(
      late, {{"load", {{"run s0_a x"}, {"post a", "wait a 2", "post r"}, {"run s1_a x"}}},
             {"store", {{"run s0_b x"}, {"post a"}, {"run s1_b x", "wait r", "run s1_c x"}}}}));
  Draft next("only the next section waits");
  next.tensor("x", "external").semaphore("a").semaphore("r");
  slips(in_sections(
      next,
      {{"load", {{"run s0_a x"}, {"post a", "wait a 2", "post r"}, {"run s1_a x"}, {}, {}}},
       {"store", {{"run s0_b x"}, {"post a"}, {"run s1_b x"}, {}, {"wait r", "run s2_b x"}}}}));
}

TEST_CASE("boundary: the centres follow one another") {
  // What store waits for, load has said before it heard from compute.
  Draft early("said too early");
  early.tensor("x", "external").semaphore("u").semaphore("v");
  in_sections(early, {{"load", {{"run s0_a x"}, {"post v", "wait u"}}},
                      {"compute", {{"run s0_b x"}, {"post u"}}},
                      {"store", {{}, {}, {}, {"wait v"}, {"run s2_a x"}}}});
  Fixture said(early);
  CHECK(never(said));
  CHECK(refuted(said, said.session) == "slip-through");

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
  CHECK(never(f));
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
  // Two engines that wait for each other at every boundary need no centre, round after round.
  const auto mutual = [](const Ops& load, const Ops& store) {
    Draft d("mutual");
    d.persistent().tensor("x", "external");
    for (const char* name : {"a", "b", "c", "d"}) d.semaphore(name);
    return in_sections(d,
                       {{"load", {{"run s0_a x"}, {"post a", "wait b"}, {"run s1_a x"}, load}},
                        {"store", {{"run s0_b x"}, {"post b", "wait a"}, {"run s1_b x"}, store}}});
  };
  Fixture both(mutual({"post c", "wait d"}, {"post d", "wait c"}));
  CHECK(outcome(prove(both.subject, both.position, both.session)) == "proved");
  CHECK(outcome(check(both.subject, {{kNone, kNone}})) == "accepted");
  CHECK(never(Fixture(mutual({"post c"}, {"wait c"}))));
  CHECK(never(Fixture(mutual({"wait d"}, {"post d"}))));
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

TEST_CASE("boundary: what is behind the last boundary is before the first one") {
  for (const bool arrives : {false, true}) {
    CAPTURE(arrives);
    Draft d("open end");
    d.persistent().tensor("x", "external").semaphore("a").semaphore("r");
    const std::string all = arrives ? "wait a 2" : "wait a";
    in_sections(d, {{"load", {{"run s0_a x"}, {"post a", all, "post r"}, {"run s1_a x"}}},
                    {"store", {{}, arrives ? kOther : Ops{"wait r"}, {"run s1_b x"}}}});
    if (arrives) {
      Fixture f(d);
      CHECK(outcome(prove(f.subject, f.position, f.session)) == "proved");
    } else {
      slips(d);
    }
  }
}

TEST_CASE("boundary: the last centre leads to the first one of the next iteration") {
  // No section has ops in the first phase.
  for (const bool joined : {false, true}) {
    CAPTURE(joined);
    Draft d("nothing in the first phase");
    d.persistent().tensor("x", "external").semaphore("u").semaphore("v").semaphore("z");
    Ops load{"post u", "wait u 2"}, store{"post u"};
    if (joined) {
      load.push_back("post z");
      store.push_back("wait z");
    }
    in_sections(d, {{"load", {{}, {"wait v"}, {"run s1_a x"}, load}},
                    {"store", {{}, {"post v"}, {"run s1_b x"}, store}}});
    Fixture f(d);
    CHECK(never(f) != joined);
    CHECK(outcome(prove(f.subject, f.position, f.session)) ==
          (joined ? "proved" : "refuted: slip-through"));
  }
}

TEST_CASE("boundary: the first iteration has none before it") {
  // Store tells the root of the page that load has just pushed, one page ahead. The first time the
  // root has been told already.
  Draft d("a look ahead");
  d.persistent().tensor("x", "external").fifo("q", 4);
  d.semaphore("c", 1).semaphore("r").semaphore("b").semaphore("w");
  in_sections(
      d,
      {{"load",
        {{"run s0_a x"}, {"reserve q", "push q", "wait r"}, {"run s1_a x"}, {"post b", "wait w"}}},
       {"compute", {{}, {"wait c", "post r"}, {"run s1_b x"}, {"post b", "wait b 2", "post w"}}},
       {"store", {{}, {"front q 2", "pop q", "post c"}, {}, {}}}});
  Fixture f(d);
  CHECK(never(f));
  CHECK(refuted(f, f.session) == "slip-through");
}

}  // namespace
}  // namespace spatialcert::proofs::boundary
