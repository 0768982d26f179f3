// Executes the copies and sums of an imported program on numbers, so that its postconditions can be
// looked at.
//
// Every chunk of every input begins with a number of its own; `add` is addition modulo 2^64, for
// which a sum that lacks or repeats a term comes out right with negligible probability.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/program.hpp"

namespace spatialcert::ir::fixtures {

struct Execution {
  bool finished = false;  ///< everybody came to the end
  bool fault = false;     ///< the play ended in a misuse or an overflow
  bool right = false;     ///< finished, and every postcondition holds
};

/// Plays `program` to its end, in round robin or in the order of a seed.
[[nodiscard]] Execution execute(const Program& program, std::optional<std::uint64_t> seed = {});

}  // namespace spatialcert::ir::fixtures
