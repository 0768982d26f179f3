// Justification by order for `persistent` programs: induction over iterations (DESIGN 13.1).
//
// Candidates are the places found in a window from the start of the program. The base shows each of
// them for the first iterations; the step shows them for an iteration with unknown past, using
// candidates only into earlier iterations and what it has justified in this one. Candidates that
// fail are dropped until all hold. Exactness is then decided with exactly the places that are left.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/counter_events.hpp"
#include "ir/net.hpp"

namespace spatialcert::ir {

struct PeriodicTask {
  const Program& program;
  const Unrolled& one;  ///< one iteration
  const Counters& counters;
  const CounterShares& shares;                    ///< of one iteration
  const std::vector<std::uint32_t>& by_order;     ///< counters to justify
  const std::vector<std::vector<char>>& decided;  ///< see CountedNet
  const std::vector<Place>& known;                ///< justified places, with tokens
  std::uint64_t clock_bytes = 0;                  ///< limit
};

/// Adds the justified places (with tokens) and the issues of the tests of `task.by_order` to `net`.
void justify_periodically(const PeriodicTask& task, Net& net);

}  // namespace spatialcert::ir
