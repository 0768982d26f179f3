// What a section touches of what outlives it: tensors and resident buffers. Trusted.
//
// Read off the op texts, loops not unrolled, so it does not grow with trip counts. A region that
// moves with loops is replaced by the least one with constant bounds that holds it at all trips.
// Whoever reads or writes touches no more than that. What is *filled* is written for certain: where
// the trips leave no gap. (Take the loops by the size of their step: each must step no farther than
// what the smaller ones have covered together.) Nothing is filled by a region whose rows and
// columns move with the same loop.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "proofs/composition/excerpt.hpp"

namespace spatialcert::proofs::composition {

/// Locations [low, high): elements of a tensor without views, row by row, or bytes of a buffer.
struct Interval {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};
/// Disjoint, ascending, none next to another.
using Intervals = std::vector<Interval>;

struct Touched {
  bool tensor = false;
  std::uint32_t object = 0;  ///< own number of the tensor or buffer, which is no view
  Intervals reads, writes;   ///< at most
  Intervals fills;           ///< at least; of the writes
};

/// One entry per tensor and resident buffer, as they occur. Nothing if a region leaves its object,
/// or if there are more intervals than op texts of a large program.
[[nodiscard]] std::optional<std::vector<Touched>> touched(const ir::Program& program,
                                                          const Excerpt& excerpt);

}  // namespace spatialcert::proofs::composition
