// Whose writes the reads of one schedule see.
#pragma once

#include <set>

#include "ir/token_game.hpp"
#include "tests/oracle/memory_model.hpp"

namespace spatialcert::tests {

struct ReadSources {
  /// Reads of a byte that dies with its section (in a persistent program: at the wrap-around) and
  /// was last written, or initialised, in another wrap (DESIGN 13.4).
  std::set<AccessInstance> outlived;
  /// Reads that see what a stage wrote that no edge declares as producer, where edges are declared
  /// for the buffer and the reading stage.
  std::set<AccessInstance> wrong_producers;
};

/// `schedule` must be playable on the program's declared depths.
[[nodiscard]] ReadSources read_sources(const ir::Program& program, const ir::Unrolled& unrolled,
                                       const MemoryModel& model, const ir::Schedule& schedule);

}  // namespace spatialcert::tests
