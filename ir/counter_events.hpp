// Per counter, who raises, lowers and tests it, in program order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/counters.hpp"
#include "ir/program.hpp"
#include "ir/unroll.hpp"

namespace spatialcert::ir {

/// What one op does to one counter.
struct CounterEffect {
  CounterId counter;
  std::int64_t need = 0;   ///< blocks until value >= need; 0 = no test
  std::int64_t delta = 0;  ///< then adds this
};
struct CounterEffects {
  std::array<CounterEffect, 2> all;
  std::uint32_t count = 0;
  [[nodiscard]] const CounterEffect* begin() const { return all.data(); }
  [[nodiscard]] const CounterEffect* end() const { return all.data() + count; }
};
[[nodiscard]] CounterEffects effects_of(const Op& op, const Counters& counters);

/// One op instance that changes or tests a counter.
struct CounterEvent {
  TransitionId transition;
  std::int64_t need = 0;   ///< blocks until value >= need; 0 = no test
  std::int64_t delta = 0;  ///< then adds this
};

/// What one engine program does to one counter in one iteration.
struct CounterShare {
  ProgramId program;
  std::vector<CounterEvent> events;
  std::vector<std::int64_t>
      prefix;  ///< prefix[i] = sum of the first i deltas; events.size() + 1 entries
  bool raises = false;
  bool lowers = false;
  bool tests = false;

  [[nodiscard]] std::int64_t net() const { return prefix.back(); }
};

/// Events of `share` whose transition is below `bound`.
[[nodiscard]] std::uint32_t events_below(const CounterShare& share, std::uint32_t bound);

/// All shares of all counters, by CounterId; shares in program order.
using CounterShares = std::vector<std::vector<CounterShare>>;

/// Linear. Nothing if a sum does not fit 62 bits.
[[nodiscard]] std::optional<CounterShares> counter_shares(const Program& program,
                                                          const Unrolled& unrolled,
                                                          const Counters& counters);

}  // namespace spatialcert::ir
