// What the host does when every chip runs a program of its own: run chips to their next halt, and
// copy what they send.
#pragma once

#include <cstdint>
#include <vector>

#include "compose/parallel/link_points.hpp"
#include "compose/parallel/refusal.hpp"
#include "compose/parallel/transfers.hpp"

namespace spatialcert::compose::parallel {

/// Sections [first, last) of a chip, up to its next halt or its end.
struct ChipRun {
  std::uint32_t chip = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// The chips of `runs` run at the same time; when all of them have halted, the host makes the
/// copies.
struct RelayRound {
  std::vector<ChipRun> runs;          ///< ascending by chip
  std::vector<std::uint32_t> copies;  ///< positions in the list of transfers
};

/// Rounds until every chip has reached its end. In every round all chips run that can, so chips
/// that do not depend on one another overlap. `chips[c]` is chip c.
///
/// Refused: halts that name what is no transfer; a transfer at a chip that is not its end; one that
/// is not sent or not received, or sent or received twice, or a tensor that one chip gets twice;
/// and if no chip can go on: with where each stands, what it waits for, and what has been sent.
/// That is so in one order of runs if and only if it is in all: what a chip can do, no other's
/// running takes from it. Linear in halts and transfers.
[[nodiscard]] Outcome<std::vector<RelayRound>> relay_schedule(
    const std::vector<ChipHalts>& chips, const std::vector<Transfer>& transfers);

}  // namespace spatialcert::compose::parallel
