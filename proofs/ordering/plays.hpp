// Races outside the marked-graph class, found by playing. Untrusted: what is found is replayed.
//
// Without exact tests the past of an op is not known from the net, so no schedule can be built for
// it. Random plays of the declared program find most races in a few tries, because a race is
// usually open in most schedules.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "proofs/subject.hpp"

namespace spatialcert::proofs::ordering {

/// Two plays that run a pair of transitions in different orders.
struct BothOrders {
  std::size_t pair = 0;       ///< index into the pairs asked about
  ir::Schedule first_before;  ///< up to the second of the two
  ir::Schedule last_before;
};

/// Plays until some of `pairs` (of transitions of the stretch) has been seen both ways round;
/// nothing if that does not happen in a limited number of plays.
[[nodiscard]] std::optional<BothOrders> play_both_orders(
    const Subject& subject, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs);

}  // namespace spatialcert::proofs::ordering
