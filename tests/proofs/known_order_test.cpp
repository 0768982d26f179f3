// ir::check_net against all interleavings: whatever places it is given, it takes none that does not
// hold in every schedule, and calls no test exact that its places do not satisfy.
//
// The soundness of known order is an argument on paper (ir/known_order.hpp), and this is what it is
// tried on: small programs with several posters and waiters, drawn at random; for each of them all
// places from an op of a counter to a test of it, true or not, singly, in small sets in any order,
// and in the largest sets that support each other.
#include "ir/known_order.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "ir/search/justify.hpp"
#include "tests/counts.hpp"
#include "tests/proofs/played.hpp"
#include "tests/proofs/posts.hpp"

namespace spatialcert::tests {
namespace {

bool refused(const ir::Net& net) {
  return std::any_of(net.issues.begin(), net.issues.end(), [](const ir::TestIssue& issue) {
    return issue.kind == ir::TestIssue::Kind::unjustified;
  });
}

std::string text(const Played& p, const Places& places) {
  const auto step = [&](ir::TransitionId t) {
    const std::uint32_t program = p.one.program[t.value()];
    return fmt::format("{}.{}", program, t.value() - p.one.begin[program]);
  };
  std::string out;
  for (const ir::Place& place : places)
    out += fmt::format(" {}->{} -{}", step(place.from), step(place.to), place.tokens);
  return out;
}

/// Gives the places to the check; what it takes must hold.
bool taken(const Played& p, const Places& places) {
  const ir::Net net = p.net(places);
  if (refused(net)) return false;
  INFO(text(p, places));
  for (const ir::Place& place : net.places) {
    INFO("place" << text(p, {place}));
    CHECK(p.holds(place));
  }
  const auto wrong = p.not_exact(net);
  INFO(wrong.value_or(""));
  CHECK(!wrong.has_value());
  return true;
}

/// All places from an op of a counter to a test of it that known order is asked about.
Places candidates(const Played& p, std::int32_t farthest) {
  const bool persistent = p.program.execution == ir::Execution::persistent;
  Places out;
  for (const std::uint32_t c : p.counted.by_order) {
    for (std::uint32_t s = 0; s < p.counted.shares[c].size(); ++s) {
      if (p.counted.decided[c][s] != 0) continue;
      for (const ir::CounterEvent& test : p.counted.shares[c][s].events) {
        if (test.need <= 0) continue;
        for (const ir::CounterShare& other : p.counted.shares[c]) {
          for (const ir::CounterEvent& event : other.events) {
            for (std::int32_t tokens = 0; tokens <= (persistent ? farthest : 0); ++tokens)
              out.push_back({event.transition, test.transition, tokens, ir::CounterId(c), false});
          }
        }
      }
    }
  }
  return out;
}

/// What no place may be: a few of all the ways to be none.
Places ill_formed(const Played& p, std::mt19937_64& random) {
  const auto transition = [&] {
    return ir::TransitionId(static_cast<std::uint32_t>(random() % (p.one.transitions() + 1)));
  };
  Places out;
  for (int i = 0; i < 12; ++i) {
    const auto counter = static_cast<std::uint32_t>(random() % (p.counted.shares.size() + 1));
    out.push_back({transition(), transition(), 0, ir::CounterId(counter), false});
  }
  for (std::uint32_t c = 0; c < p.counted.shares.size(); ++c) {
    Places events;
    for (const ir::CounterShare& share : p.counted.shares[c]) {
      for (const ir::CounterEvent& e : share.events)
        events.push_back({e.transition, e.transition, 0, ir::CounterId(c), false});
    }
    for (std::size_t i = 0; i < events.size(); ++i) {
      ir::Place place = events[random() % events.size()];
      place.to = events[i].to;
      for (const std::int32_t tokens : {0, -1, -8, 5}) {
        place.tokens = tokens;
        out.push_back(place);
      }
    }
  }
  return out;
}

/// Leaves out places into the tests that are refused until the rest is taken: what is left is the
/// largest set that supports itself, or close to it.
Places supported(const Played& p, Places places, std::mt19937_64& random) {
  while (!places.empty()) {
    const ir::Net net = p.net(places);
    if (!refused(net)) break;
    const auto before = places.size();
    for (const ir::TestIssue& issue : net.issues) {
      if (issue.kind != ir::TestIssue::Kind::unjustified) continue;
      Places into;
      for (const ir::Place& place : places) {
        if (place.to == issue.transition) into.push_back(place);
      }
      if (into.empty()) continue;
      const ir::Place out = into[random() % into.size()];
      std::erase_if(places, [&](const ir::Place& x) {
        return x.from == out.from && x.to == out.to && x.tokens == out.tokens;
      });
    }
    if (places.size() == before) return {};
  }
  return places;
}

struct Tally {
  std::uint64_t programs = 0, sets = 0, taken = 0, untrue = 0, exact = 0;
};

void attack(const Played& p, std::mt19937_64& random, Tally& tally, std::int32_t farthest = 2) {
  const Places all = candidates(p, farthest);
  const auto give = [&](const Places& places) {
    ++tally.sets;
    tally.taken += taken(p, places) ? 1 : 0;
  };
  give({});
  for (const ir::Place& place : ill_formed(p, random)) give({place});
  if (all.empty()) return;
  ++tally.programs;
  const Places found = ir::justify(p.program, p.one).places;
  CHECK(taken(p, found));
  tally.exact += p.net(found).exact() ? 1 : 0;
  for (const ir::Place& place : all) {
    tally.untrue += p.holds(place) ? 0 : 1;
    give({place});
    // One more than what was found, before and after it.
    Places more = found;
    more.push_back(place);
    give(more);
    more.pop_back();
    more.insert(more.begin(), place);
    give(more);
  }
  for (int round = 0; round < 6; ++round) {
    Places some = all;
    std::shuffle(some.begin(), some.end(), random);
    if (round > 1) some.resize(std::min<std::size_t>(some.size(), 2 + random() % 6));
    give(supported(p, some, random));
  }
}

}  // namespace

TEST_CASE("known_order: programs that run far ahead or lag far behind") {
  std::mt19937_64 random(1);
  for (const Sly& sly : sly_programs()) {
    INFO(sly.draft.name());
    const Played played(sly.draft, sly.iterations, 400'000);
    REQUIRE(played.complete());
    Tally tally;
    attack(played, random, tally, 5);
    CHECK(tally.untrue > 0);
  }
}

TEST_CASE("known_order: what is no place is refused") {
  const auto refused_all = [](const Draft& draft, const Places& places) {
    const Played p(draft);
    return std::all_of(places.begin(), places.end(),
                       [&](const ir::Place& place) { return refused(p.net({place})); });
  };
  const auto place = [](std::uint32_t from, std::uint32_t to, std::int32_t tokens = 0,
                        std::uint32_t counter = 0) {
    return ir::Place{ir::TransitionId(from), ir::TransitionId(to), tokens, ir::CounterId(counter),
                     false};
  };
  const std::vector<Ops> two{{"post s"}, {"post s"}, {"wait s 2"}};
  const Draft gathered = posts("gathered", false, two).semaphore("s");
  CHECK(!refused_all(gathered, {place(0, 2)}));
  CHECK(refused_all(gathered, {place(0, 1),
                               place(0, 3),
                               place(3, 2),
                               place(0, 2, 1),
                               place(0, 2, -1),
                               place(0, 2, 0, 1),
                               {}}));
  // A semaphore that gains in every iteration is not asked about.
  const Draft gaining = posts("gaining", true, {{"post s"}, {"post s"}, {"wait s"}}).semaphore("s");
  CHECK(refused_all(gaining, {place(0, 2), place(2, 0)}));
  // Counting decides the waits of the only program that lowers, and not the await.
  const Draft mixed = posts("mixed", false, {{"post s 3"}, {"wait s"}, {"await s"}})
                          .semaphore("s", 0, 31, R"("restart": "reset")");
  CHECK(refused_all(mixed, {place(2, 1), place(0, 1)}));
}

TEST_CASE("known_order: what counting justifies is known, and only that") {
  const std::vector<Ops> ordered{{"post s", "post h"}, {"wait h", "post s"}, {"wait s", "wait s"}};
  const Played one(posts("one after the other", false, ordered).semaphore("s").semaphore("h"));
  const ir::Place place{ir::TransitionId(0U), ir::TransitionId(4U), 0, ir::CounterId(0U), false};
  CHECK(!refused(one.net({place})));
  // Without the hand-off over h either post may serve the first wait.
  const std::vector<Ops> free{{"post s", "post h"}, {"post h", "post s"}, {"wait s", "wait s"}};
  const Played other(posts("in any order", false, free).semaphore("s").semaphore("h"));
  CHECK(refused(other.net({place})));
}

TEST_CASE("known_order: paths lead back as far as windows slide, over all engine programs") {
  Draft d = posts("two windows", true,
                  {{"reserve q", "push q"},
                   {"reserve r", "push r", "front q 3", "pop q"},
                   {"front r 3", "pop r"}});
  const ir::Program program = d.fifo("q", 4).fifo("r", 4).program();
  const auto one = unrolled(program, 1);
  const ir::Net net = ir::check_net(program, one, ir::count_net(program, one), {});
  CHECK(net.exact());
  CHECK(ir::iterations_back(net, one) == 4);
}

TEST_CASE("known_order: sums of a window that do not fit are no answer") {
  constexpr const char* kTarget =
      R"({"name": "tile", "engines": ["load", "compute", "store", "move"], "chips": 2,
          "spaces": [{"name": "sram", "bytes": 4096, "alignment": 4}],
          "semaphores": {"per_site": 16, "maximum": 4611686018427387904}})";
  constexpr const char* kSemaphore = R"([{"name": "s", "site": [0, 0, 0], "initial": 0,
                                 "maximum": 4611686018427387904}])";
  Draft d = posts("large", true,
                  {{"post s 288230376151711744"},
                   {"post s 288230376151711744"},
                   {"wait s 576460752303423488"}});
  d.member("target", kTarget).member("semaphores", kSemaphore);
  const ir::Program program = d.program();
  const auto one = unrolled(program, 1);
  const ir::Net net = ir::check_net(program, one, ir::count_net(program, one), {});
  REQUIRE(net.issues.size() == 1);
  CHECK(net.issues[0].kind == ir::TestIssue::Kind::limit);
  // Nor are those of one iteration.
  const ir::Program larger = posts("larger", false, {{"post s 4611686018427387904"}, {"wait s"}})
                                 .member("target", kTarget)
                                 .member("semaphores", kSemaphore)
                                 .program();
  const auto once = unrolled(larger, 1);
  CHECK(!ir::check_net(larger, once, ir::count_net(larger, once), {}).exact());
}

TEST_CASE("known_order: nothing untrue is taken of random posts and waits") {
  const bool lengthy = std::getenv("SPATIALCERT_LONG") != nullptr;
  std::mt19937_64 random(1);
  Tally tally;
  for (std::uint64_t seed = 0; seed < (lengthy ? 20'000 : 150); ++seed) {
    const Draft draft = random_posts(seed);
    INFO(draft.json());
    const Played played(draft);
    if (played.complete()) attack(played, random, tally, lengthy && seed % 4 == 0 ? 5 : 2);
  }
  MESSAGE(tally.programs << " programs, " << tally.sets << " sets of places given, " << tally.taken
                         << " taken; " << tally.untrue << " places untrue; " << tally.exact
                         << " programs exact");
  CHECK(tally.taken > 0);
  CHECK(tally.untrue > 0);
  CHECK(tally.exact > 0);
  count("sets of places given to known order", tally.sets);
}

}  // namespace spatialcert::tests
