#include "ir/counter_bounds.hpp"

#include <algorithm>

#include "ir/counter_events.hpp"
#include "ir/direct_bounds.hpp"
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
    for (std::uint32_t s = 0; s < program_.semaphores.size(); ++s) {
      if (shares_ && !is_tight(program_, (*shares_)[s], program_.semaphores[s])) continue;
      out.push_back({SemaphoreId(s), std::nullopt, {}});
    }
    if (out.empty() || !shares_) return out;
    const auto open = settle(out);
    if (!open.empty()) by_order(open, out);
    return out;
  }

 private:
  /// Gives those their bound that stay within their maximum by the places between raiser and
  /// lowerer alone, and returns which ones are left.
  std::vector<std::size_t> settle(std::vector<SemaphoreBound>& out) const {
    std::vector<CounterId> asked;
    asked.reserve(out.size());
    for (const SemaphoreBound& bound : out) asked.push_back(counters_.of(bound.semaphore));
    const auto direct = direct_bounds(program_, one_, net_, *shares_, asked);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (direct[i] && direct[i]->largest <= semaphore(out[i]).maximum) {
        out[i].largest = direct[i]->largest;
        out[i].post = direct[i]->post;
      } else {
        open.push_back(i);
      }
    }
    return open;
  }

  void by_order(const std::vector<std::size_t>& open, std::vector<SemaphoreBound>& out) const {
    const bool persistent = program_.execution == Execution::persistent;
    const auto window = unroll(program_, persistent ? kWindowIterations : 1);
    if (!std::holds_alternative<Unrolled>(window)) return;
    const auto& many = std::get<Unrolled>(window);
    const auto many_shares = counter_shares(program_, many, counters_);
    if (!many_shares) return;
    std::vector<std::uint32_t> tight;
    for (const std::size_t i : open) tight.push_back(counters_.of(out[i].semaphore).value());
    const Window w{&many, &*many_shares, &*shares_, &counters_, nullptr, false, persistent};
    if (KnownOrder::bytes(w, tight) > kKnownBytes) return;
    for (const std::size_t i : open) out[i].largest = semaphore(out[i]).initial;
    const auto places = expand_places(net_, one_, many);
    const auto measure_all = [&](const Window& from, std::uint32_t first, std::uint32_t last) {
      const KnownOrder order(from, tight, places);
      for (const std::size_t i : open) measure(order, *many_shares, many, first, last, out[i]);
    };
    measure_all(w, 0, persistent ? kPast : 1);
    if (persistent) {
      const Window open_start{&many, &*many_shares, &*shares_, &counters_, nullptr, true, true};
      measure_all(open_start, kPast, kPast + 1);
    }
  }

  /// Raises the bound by the posts in iterations [first, last).
  void measure(const KnownOrder& order, const CounterShares& shares, const Unrolled& many,
               std::uint32_t first, std::uint32_t last, SemaphoreBound& bound) const {
    const std::uint32_t counter = counters_.of(bound.semaphore).value();
    for (std::uint32_t s = 0; s < shares[counter].size(); ++s) {
      const auto& events = shares[counter][s].events;
      for (std::uint32_t e = 0; e < events.size(); ++e) {
        const std::uint32_t iteration = many.iteration(events[e].transition);
        if (events[e].delta <= 0 || iteration < first || iteration >= last || !bound.largest)
          continue;
        const auto value = order.largest_after({counter, s, e}, semaphore(bound).maximum);
        if (value && *value <= *bound.largest) continue;
        bound.largest = value;
        const std::uint32_t p = many.program[events[e].transition.value()];
        const std::uint32_t offset = events[e].transition.value() - many.begin[p];
        bound.post = TransitionId(one_.begin[p] + offset % one_.length(ProgramId(p)));
      }
    }
  }

  [[nodiscard]] const Semaphore& semaphore(const SemaphoreBound& bound) const {
    return program_.semaphores[bound.semaphore.value()];
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
