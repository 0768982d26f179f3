// Which segment of which folded loop every transition of a folded program belongs to.
//
// An *instance* of a group is one execution of its loops: the n-th execution of each of them. Loops
// at one depth do not contain one another, so a transition is in one instance of one group at most.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/folding.hpp"
#include "proofs/subject.hpp"

namespace spatialcert::proofs::folding {

inline constexpr std::uint32_t kNone = 0xffffffffU;

/// Of one depth; by transition of one iteration.
struct Segments {
  std::vector<std::uint32_t> instance;  ///< of the segment that it is in, or ~0
  std::vector<std::uint32_t> segment;   ///< where there is an instance
  /// Instance whose loops it is in, in whatever trip, or beside whose loops it stands: see
  /// `beside`.
  std::vector<std::uint32_t> around;
  std::vector<std::uint32_t> group;  ///< of every instance
  /// Transitions in `around` that are in none of the loops: the ops directly before and after a
  /// loop, of the same section and of the same enclosing loop, up to the next loop, and up to the
  /// next `run` that touches a tensor whose widened accesses the group writes.
  std::vector<char> beside;
};

struct Uneven {
  std::uint32_t group = 0;  ///< whose loops are not executed equally often
};

/// Linear in the transitions and the program's text.
[[nodiscard]] std::variant<Segments, Uneven> segments_at(const ir::Folding& folding,
                                                         const ir::Folded& folded,
                                                         const ir::Unrolled& one,
                                                         std::uint32_t depth);

}  // namespace spatialcert::proofs::folding
