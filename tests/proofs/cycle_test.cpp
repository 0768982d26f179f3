// The cycle of a refutation is a shortest one: against all simple cycles of random small nets.
#include "proofs/liveness/cycle.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "proofs/liveness/rule.hpp"
#include "tests/proofs/fixture.hpp"

namespace spatialcert::tests {
namespace {

/// Hand-offs, then steps of program order.
using Cost = std::pair<std::size_t, std::size_t>;
constexpr Cost kNone{std::numeric_limits<std::size_t>::max(), 0};

/// Walks along all simple paths from `start` through transitions above it, and back.
class BruteForce {
 public:
  explicit BruteForce(const proofs::Subject& subject)
      : subject_(subject), on_path_(subject.one.transitions(), false) {}

  Cost shortest() {
    for (start_ = 0; start_ < on_path_.size(); ++start_) walk(start_, {0, 0});
    return best_;
  }

 private:
  void walk(std::uint32_t t, Cost cost) {
    const auto go = [&](std::uint32_t to, Cost next) {
      if (to == start_) best_ = std::min(best_, next);
      if (to > start_ && !on_path_[to]) walk(to, next);
    };
    on_path_[t] = true;
    const auto& program = subject_.one.program;
    if (t + 1 < program.size() && program[t] == program[t + 1])
      go(t + 1, {cost.first, cost.second + 1});
    for (const ir::Place& place : subject_.net.places) {
      if (place.tokens == 0 && place.from.value() == t)
        go(place.to.value(), {cost.first + 1, cost.second});
    }
    on_path_[t] = false;
  }

  const proofs::Subject& subject_;
  std::vector<bool> on_path_;
  std::uint32_t start_ = 0;
  Cost best_ = kNone;
};

/// Two to four engines; every semaphore is posted by one and awaited by another, equally often, in
/// random order.
Draft random_net(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  Draft d("net " + std::to_string(seed));
  if (below(3) == 0) d.persistent();
  const std::uint64_t engines = 2 + below(3);
  std::vector<std::vector<std::string>> ops(engines);
  for (std::uint64_t s = 0; s < engines + 1; ++s) {
    const std::string name = "s" + std::to_string(s);
    d.semaphore(name, below(4) == 0 ? 1 : 0);
    // A ring of hand-offs, and one across it.
    const bool ring = s < engines;
    const std::uint64_t from = ring ? s : below(engines);
    const std::uint64_t to = (from + 1 + (ring ? 0 : below(engines - 1))) % engines;
    for (std::uint64_t i = 0; i < 1 + below(2); ++i) {
      ops[from].push_back("post " + name);
      ops[to].push_back("wait " + name);
    }
  }
  constexpr const char* kEngines[] = {"load", "compute", "store", "move"};
  for (std::uint64_t e = 0; e < engines; ++e) {
    for (std::size_t i = ops[e].size(); i > 1; --i) std::swap(ops[e][i - 1], ops[e][below(i)]);
    if (!ops[e].empty()) d.engine(kEngines[e], ops[e]);
  }
  return d;
}

Cost cost_of(const proofs::Subject& subject, const std::vector<std::uint32_t>& cycle) {
  if (cycle.empty()) return kNone;
  Cost cost{cycle.size(), 0};
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    // Read backwards: the next place's end stands before this one's beginning, in one engine
    // program.
    const ir::TransitionId from = subject.net.places[cycle[i]].from;
    const ir::TransitionId to = subject.net.places[cycle[(i + 1) % cycle.size()]].to;
    REQUIRE(subject.one.program[from.value()] == subject.one.program[to.value()]);
    REQUIRE(to <= from);
    CHECK(subject.net.places[cycle[i]].tokens == 0);
    cost.second += from.value() - to.value();
  }
  return cost;
}

TEST_CASE("the shortest token-free cycle has the fewest hand-offs, then the fewest ops") {
  std::size_t cyclic = 0, longer = 0, undecided = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    CAPTURE(seed);
    Fixture f(random_net(seed));
    const auto cycle = proofs::liveness::shortest_cycle(f.subject);
    const Cost expected = BruteForce(f.subject).shortest();
    CHECK((cost_of(f.subject, cycle) == expected));
    if (cycle.empty()) continue;
    ++cyclic;
    longer += cycle.size() > 2 ? 1 : 0;
    // Z3 finds no potential exactly where there is a cycle.
    const auto found = proofs::liveness::prove(f.subject, f.session);
    if (f.subject.persistent() && outcome(found.search).starts_with("unknown: ")) {
      ++undecided;  // another engine runs for ever: no play of finite length is stuck
      continue;
    }
    REQUIRE(outcome(found.search).starts_with("refuted: "));
    CHECK(replayed(f.program, counterexample(found.search)) == "reproduced");
    if (f.program.execution == ir::Execution::once)
      CHECK(counterexample(found.search).chain.size() == cycle.size());
  }
  MESSAGE(cyclic << " of 600 nets have a cycle, " << longer
                 << " a shortest one of more than two hand-offs, " << undecided
                 << " are undecided");
  CHECK(undecided * 10 < cyclic);
  CHECK(cyclic > 100);
  CHECK(longer > 25);
}

}  // namespace
}  // namespace spatialcert::tests
