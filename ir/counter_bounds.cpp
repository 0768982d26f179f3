#include "ir/counter_bounds.hpp"

#include <algorithm>

#include "ir/counter_events.hpp"
#include "ir/known_order.hpp"
#include "ir/require.hpp"

namespace spatialcert::ir {
namespace {

constexpr std::uint32_t kPast = kPastIterations;

/// Can the posts alone exceed the maximum?
bool is_tight(const Program& program, const std::vector<CounterShare>& shares,
              const Semaphore& semaphore) {
  std::int64_t room = semaphore.maximum - semaphore.initial;
  for (const CounterShare& share : shares) {
    for (const CounterEvent& event : share.events) {
      if (event.delta <= 0) continue;
      if (program.execution == Execution::persistent || event.delta > room) return true;
      room -= event.delta;
    }
  }
  return false;
}

class Bounds {
 public:
  Bounds(const Program& program, const Unrolled& one, const Net& net)
      : program_(program),
        one_(one),
        net_(net),
        counters_(program),
        shares_(counter_shares(program, one, counters_)) {}

  std::vector<SemaphoreBound> run() {
    std::vector<SemaphoreBound> out;
    std::vector<std::uint32_t> tight;
    for (std::uint32_t s = 0; s < program_.semaphores.size(); ++s) {
      if (shares_ && !is_tight(program_, (*shares_)[s], program_.semaphores[s])) continue;
      tight.push_back(s);
      out.push_back({SemaphoreId(s), std::nullopt, {}});
    }
    if (tight.empty() || !shares_) return out;
    const bool persistent = program_.execution == Execution::persistent;
    const auto window = unroll(program_, persistent ? kWindowIterations : 1);
    if (!std::holds_alternative<Unrolled>(window)) return out;
    const auto& many = std::get<Unrolled>(window);
    const auto many_shares = counter_shares(program_, many, counters_);
    if (!many_shares) return out;
    const Window w{&many, &*many_shares, &*shares_, &counters_, nullptr, false, persistent};
    if (KnownOrder::bytes(w, tight) > kKnownBytes) return out;
    for (SemaphoreBound& bound : out)
      bound.largest = program_.semaphores[bound.semaphore.value()].initial;
    const auto places = expand_places(net_, one_, many);
    measure(KnownOrder(w, tight, places), *many_shares, many, 0, persistent ? kPast : 1, out);
    if (persistent) {
      const Window open{&many, &*many_shares, &*shares_, &counters_, nullptr, true, true};
      measure(KnownOrder(open, tight, places), *many_shares, many, kPast, kPast + 1, out);
    }
    return out;
  }

 private:
  /// Raises the bounds by the posts in iterations [first, last).
  void measure(const KnownOrder& order, const CounterShares& shares, const Unrolled& many,
               std::uint32_t first, std::uint32_t last, std::vector<SemaphoreBound>& out) const {
    for (SemaphoreBound& bound : out) {
      const std::uint32_t counter = counters_.of(bound.semaphore).value();
      for (std::uint32_t s = 0; s < shares[counter].size(); ++s) {
        const auto& events = shares[counter][s].events;
        for (std::uint32_t e = 0; e < events.size(); ++e) {
          const std::uint32_t iteration = many.iteration(events[e].transition);
          if (events[e].delta <= 0 || iteration < first || iteration >= last || !bound.largest)
            continue;
          const auto value = order.largest_after(
              {counter, s, e}, program_.semaphores[bound.semaphore.value()].maximum);
          if (value && *value <= *bound.largest) continue;
          bound.largest = value;
          const std::uint32_t p = many.program[events[e].transition.value()];
          const std::uint32_t offset = events[e].transition.value() - many.begin[p];
          bound.post = TransitionId(one_.begin[p] + offset % one_.length(ProgramId(p)));
        }
      }
    }
  }

  const Program& program_;
  const Unrolled& one_;
  const Net& net_;
  Counters counters_;
  std::optional<CounterShares> shares_;
};

}  // namespace

std::vector<SemaphoreBound> semaphore_bounds(const Program& program, const Unrolled& one,
                                             const Net& net) {
  return Bounds(program, one, net).run();
}

}  // namespace spatialcert::ir
