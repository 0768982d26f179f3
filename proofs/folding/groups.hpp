// Which loops belong together, and how many trips of each make a segment. Untrusted.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/folding.hpp"

namespace spatialcert::proofs::folding {

/// A group of loops at one depth, joined by the counters that they touch; `removed` is not yet set.
struct Candidate {
  std::vector<ir::FoldedLoop> loops;  ///< by engine program
  std::int64_t segments = 0;          ///< in the whole program
};

/// Loops of at least `least_trips` trips. Left out: groups with a counter that is not between two
/// engine programs, with two loops of one engine program, or whose rates do not match.
[[nodiscard]] std::vector<Candidate> candidate_groups(const ir::Program& program,
                                                      std::int64_t least_trips);

}  // namespace spatialcert::proofs::folding
