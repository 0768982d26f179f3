#include "ir/counter_events.hpp"

#include <algorithm>
#include <cstdlib>

namespace spatialcert::ir {
namespace {

/// Sums stay far from the ends of 64 bits, so that later additions of a few of them cannot
/// overflow.
constexpr std::int64_t kLargestSum = std::int64_t{1} << 61;

class Collector {
 public:
  Collector(const Counters& counters, CounterShares& out) : counters_(counters), out_(out) {}

  bool add(ProgramId p, TransitionId t, const Op& op) {
    const CounterEffects effects = effects_of(op, counters_);
    return std::all_of(effects.begin(), effects.end(), [&](const CounterEffect& effect) {
      return event(effect.counter, p, {t, effect.need, effect.delta});
    });
  }

 private:
  bool event(CounterId counter, ProgramId p, CounterEvent e) {
    auto& shares = out_[counter.value()];
    if (shares.empty() || shares.back().program != p)
      shares.push_back({p, {}, {0}, false, false, false});
    CounterShare& share = shares.back();
    if (e.need > kLargestSum || std::abs(e.delta) > kLargestSum) return false;
    const std::int64_t sum = share.prefix.back() + e.delta;
    if (std::abs(sum) > kLargestSum) return false;
    share.events.push_back(e);
    share.prefix.push_back(sum);
    share.raises |= e.delta > 0;
    share.lowers |= e.delta < 0;
    share.tests |= e.need > 0;
    return true;
  }

  const Counters& counters_;
  CounterShares& out_;
};

}  // namespace

CounterEffects effects_of(const Op& op, const Counters& counters) {
  const auto semaphore = [&] { return counters.of(SemaphoreId(op.object)); };
  const auto free = [&] { return counters.free(BufferId(op.object)); };
  const auto filled = [&] { return counters.filled(BufferId(op.object)); };
  switch (op.code) {
    case OpCode::wait:
      return {{{{semaphore(), op.count, -op.count}, {}}}, 1};
    case OpCode::await:
      return {{{{semaphore(), op.count, 0}, {}}}, 1};
    case OpCode::post:
      return {{{{semaphore(), 0, op.count}, {}}}, 1};
    case OpCode::reserve:
      return {{{{free(), op.count, 0}, {}}}, 1};
    case OpCode::front:
      return {{{{filled(), op.count, 0}, {}}}, 1};
    case OpCode::push:
      return {{{{free(), 0, -op.count}, {filled(), 0, op.count}}}, 2};
    case OpCode::pop:
      return {{{{filled(), 0, -op.count}, {free(), 0, op.count}}}, 2};
    case OpCode::run:
    case OpCode::repeat:
      break;
  }
  return {};
}

std::uint32_t events_below(const CounterShare& share, std::uint32_t bound) {
  const auto at =
      std::partition_point(share.events.begin(), share.events.end(),
                           [&](const CounterEvent& e) { return e.transition.value() < bound; });
  return static_cast<std::uint32_t>(at - share.events.begin());
}

std::optional<CounterShares> counter_shares(const Program& program, const Unrolled& unrolled,
                                            const Counters& counters) {
  CounterShares out(counters.size());
  Collector collector(counters, out);
  for (std::uint32_t t = 0; t < unrolled.transitions(); ++t) {
    const TransitionId id(t);
    if (!collector.add(ProgramId(unrolled.program[t]), id, unrolled.op_of(program, id)))
      return std::nullopt;
  }
  // The sum over programs and the initial value are added up by callers.
  for (std::uint32_t c = 0; c < counters.size(); ++c) {
    std::int64_t total = std::abs(counters[CounterId(c)].initial);
    for (const CounterShare& share : out[c]) {
      std::int64_t largest = 0;
      for (const std::int64_t sum : share.prefix) largest = std::max(largest, std::abs(sum));
      if (total > kLargestSum - largest) return std::nullopt;
      total += largest;
    }
  }
  return out;
}

}  // namespace spatialcert::ir
