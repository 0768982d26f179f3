// The largest value that a semaphore can reach, as far as known order tells.
//
// Right after a post, every other engine program has performed at least what is known to come
// before the post and nothing known to come after it; the largest sum of their shares over such
// prefixes bounds the value. Exact for one raising and one lowering program; an upper bound
// otherwise. Where the places between raiser and lowerer alone show that the maximum is kept
// (ir/direct_bounds.hpp), the bound is theirs, which may be greater than what order through others
// would tell.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/net.hpp"
#include "ir/program.hpp"
#include "ir/unroll.hpp"

namespace spatialcert::ir {

struct SemaphoreBound {
  SemaphoreId semaphore;
  std::optional<std::int64_t>
      largest;        ///< nothing: unbounded, or beyond the limits of the analysis
  TransitionId post;  ///< where the bound is reached or lost (one iteration)
};

/// Bounds of the semaphores whose initial value plus all posts of one run exceeds the maximum (in a
/// persistent program: of all that are posted). The others cannot overflow.
[[nodiscard]] std::vector<SemaphoreBound> semaphore_bounds(const Program& program,
                                                           const Unrolled& one, const Net& net);

}  // namespace spatialcert::ir
