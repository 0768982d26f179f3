// What the runtime makes of the steps of every block, before any message size or placement is
// chosen.
//
// Consecutive reductions into one place become one action, `nop`s hand their dependencies to the
// next real step, and every action gets the number that the runtime counts, which is what a
// dependency names.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/import/algorithm.hpp"
#include "ir/result.hpp"

namespace spatialcert::ir::msccl {

/// A dependency: the flag of `block` must have reached step number `step`.
struct Wait {
  std::uint32_t block = 0;
  std::int32_t step = 0;
  std::uint32_t line = 0;  ///< of the step or nop that carries it
};

/// A real step, or a fused chain of reductions.
struct Action {
  std::uint32_t first = 0;       ///< index of the (first) step in its block
  std::uint32_t members = 1;     ///< 1, or the length of the chain of reductions
  std::uint32_t first_wait = 0;  ///< into BlockSchedule::waits
  std::uint32_t waits = 0;
  std::int32_t number = 0;  ///< the runtime's step number (of the last member)
  bool posts = false;       ///< sets the block's flag when it has completed
};

struct BlockSchedule {
  std::vector<Action> actions;
  std::vector<Wait> waits;
  std::vector<std::int32_t> posts;  ///< step numbers of the actions that post, increasing
  bool awaited = false;             ///< somebody waits for the flag of this block

  /// What the flag must have counted for a wait for step number `step`: the first posting action at
  /// or after it. One more than will ever be posted if there is none: then the wait is in vain.
  [[nodiscard]] std::uint32_t threshold(std::int32_t step) const;
};

/// schedules[rank][block]
using Schedules = std::vector<std::vector<BlockSchedule>>;
[[nodiscard]] Result<Schedules> schedule(const Algorithm& algorithm);

}  // namespace spatialcert::ir::msccl
