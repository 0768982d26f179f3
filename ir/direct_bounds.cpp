#include "ir/direct_bounds.hpp"

#include <algorithm>
#include <utility>

namespace spatialcert::ir {
namespace {

/// The only engine program that raises a counter, and the only one that lowers it.
struct Parties {
  const CounterShare* raiser = nullptr;
  const CounterShare* lowerer = nullptr;
};

std::optional<Parties> parties_of(const std::vector<CounterShare>& shares) {
  Parties out;
  for (const CounterShare& share : shares) {
    if (share.raises && std::exchange(out.raiser, &share) != nullptr) return std::nullopt;
    if (share.lowers && std::exchange(out.lowerer, &share) != nullptr) return std::nullopt;
  }
  if (out.raiser == nullptr || out.lowerer == nullptr) return std::nullopt;
  return out;
}

/// Lowerer and raiser.
using Pair = std::pair<std::uint32_t, std::uint32_t>;

/// A place from the lowerer to the raiser.
struct Way {
  std::uint32_t pair = 0;
  std::uint32_t to = 0;  ///< its target
  /// Ops of the lowerer known to be performed before the target, counted from the beginning of the
  /// target's iteration; of the same pair, also by ways to earlier targets. Fits: tokens < 2^31,
  /// ops < 2^32.
  std::int64_t performed = 0;
};

class Ways {
 public:
  Ways(const Program& program, const Unrolled& one, const Net& net, std::vector<Pair> pairs)
      : one_(one),
        persistent_(program.execution == Execution::persistent),
        pairs_(std::move(pairs)) {
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    for (const Place& place : net.places) add(place);
    std::sort(ways_.begin(), ways_.end(), [](const Way& a, const Way& b) {
      return std::pair(a.pair, a.to) < std::pair(b.pair, b.to);
    });
    for (std::size_t i = 1; i < ways_.size(); ++i) {
      if (ways_[i].pair == ways_[i - 1].pair)
        ways_[i].performed = std::max(ways_[i].performed, ways_[i - 1].performed);
    }
  }

  /// Ops of the lowerer known to be performed before op `t` of the raiser; nothing if nothing is
  /// known however long the program runs.
  [[nodiscard]] std::optional<std::int64_t> performed_before(const Pair& programs,
                                                             TransitionId t) const {
    const std::uint32_t pair = number(programs);
    const auto behind = std::partition_point(ways_.begin(), ways_.end(), [&](const Way& way) {
      return std::pair(way.pair, way.to) <= std::pair(pair, t.value());
    });
    const auto end =
        std::partition_point(behind, ways_.end(), [&](const Way& way) { return way.pair == pair; });
    const auto last_of_pair = [&](auto at) -> const Way* {
      return at == ways_.begin() || std::prev(at)->pair != pair ? nullptr : &*std::prev(at);
    };
    std::optional<std::int64_t> performed;
    if (!persistent_) performed = 0;
    if (const Way* const way = last_of_pair(behind)) performed = way->performed;
    // Of a program that runs once this says less than nothing.
    if (const Way* const way = last_of_pair(end)) {
      const std::int64_t before = way->performed - length(programs.first);
      performed = std::max(performed.value_or(before), before);
    }
    return performed;
  }

  [[nodiscard]] std::int64_t length(std::uint32_t program) const {
    return one_.length(ProgramId(program));
  }

 private:
  [[nodiscard]] std::uint32_t number(const Pair& programs) const {
    const auto at = std::lower_bound(pairs_.begin(), pairs_.end(), programs);
    return static_cast<std::uint32_t>(at - pairs_.begin());
  }

  void add(const Place& place) {
    if (place.credit || place.tokens < 0) return;
    const Pair programs(one_.program[place.from.value()], one_.program[place.to.value()]);
    const std::uint32_t pair = number(programs);
    if (pair == pairs_.size() || pairs_[pair] != programs) return;
    const std::int64_t offset = place.from.value() - one_.begin[programs.first];
    ways_.push_back({pair, place.to.value(), offset - place.tokens * length(programs.first)});
  }

  const Unrolled& one_;
  bool persistent_;
  std::vector<Pair> pairs_;  // sorted
  std::vector<Way> ways_;    // sorted by pair and target
};

/// What the lowerer has lowered with its first `performed` ops, counted from the beginning of an
/// iteration; less than zero if they end before it.
std::optional<std::int64_t> lowered(const Unrolled& one, const CounterShare& share,
                                    std::int64_t performed) {
  const std::int64_t length = one.length(share.program);
  std::int64_t iterations = performed / length;
  if (performed % length < 0) --iterations;
  const auto rest = static_cast<std::uint32_t>(performed - iterations * length);
  const std::uint32_t events = events_below(share, one.begin[share.program.value()] + rest);
  std::int64_t sum = 0;
  if (__builtin_mul_overflow(iterations, -share.net(), &sum) ||
      __builtin_sub_overflow(sum, share.prefix[events], &sum))
    return std::nullopt;
  return sum;
}

/// The best bound of one counter.
std::optional<DirectBound> bound(const Unrolled& one, const Counter& counter,
                                 const Parties& parties, const Ways& ways) {
  const bool alone = parties.raiser == parties.lowerer;
  const Pair programs(parties.lowerer->program.value(), parties.raiser->program.value());
  DirectBound out{counter.initial, {}};
  for (std::size_t e = 0; e < parties.raiser->events.size(); ++e) {
    const CounterEvent& event = parties.raiser->events[e];
    if (event.delta <= 0) continue;
    std::int64_t value = counter.initial + parties.raiser->prefix[e + 1];  // fits, says their maker
    if (!alone) {
      const auto performed = ways.performed_before(programs, event.transition);
      if (!performed) return std::nullopt;
      const auto taken = lowered(one, *parties.lowerer, *performed);
      if (!taken || __builtin_sub_overflow(value, *taken, &value)) return std::nullopt;
    }
    if (value > out.largest) out = {value, event.transition};
  }
  return out;
}

/// Does a persistent program raise the counter in every iteration by as much as it lowers it?
bool balanced(const Parties& parties) {
  const std::int64_t gain = parties.raiser->net();
  return parties.raiser == parties.lowerer ? gain == 0 : gain + parties.lowerer->net() == 0;
}

}  // namespace

std::vector<std::optional<DirectBound>> direct_bounds(const Program& program, const Unrolled& one,
                                                      const Net& net, const CounterShares& shares,
                                                      const std::vector<CounterId>& asked) {
  std::vector<std::optional<Parties>> all;
  std::vector<Pair> pairs;
  for (const CounterId counter : asked) {
    auto parties = parties_of(shares[counter.value()]);
    if (parties && program.execution == Execution::persistent && !balanced(*parties))
      parties.reset();
    if (parties)
      pairs.emplace_back(parties->lowerer->program.value(), parties->raiser->program.value());
    all.push_back(parties);
  }
  std::vector<std::optional<DirectBound>> out(asked.size());
  if (pairs.empty()) return out;
  const Counters counters(program);
  const Ways ways(program, one, net, std::move(pairs));
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (all[i]) out[i] = bound(one, counters[asked[i]], *all[i], ways);
  }
  return out;
}

}  // namespace spatialcert::ir
