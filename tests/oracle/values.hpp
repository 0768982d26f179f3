// What memory holds at the end of a play, as sums of what it held at the start.
//
// A value is a linear combination of *atoms*: the external initial contents of single locations.
// `copy`, `add`, `sub` and `neg` are executed location by location; any other op kind, operands of
// unequal size, and locations that nobody wrote give an *unknown* value. A `run` reads everything
// before it writes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ir/token_game.hpp"
#include "tests/oracle/memory_model.hpp"

namespace spatialcert::tests {

struct SymbolicValue {
  bool known = false;
  bool opaque = false;  ///< not known because of what computed it, rather than never written
  std::map<std::uint32_t, std::int64_t> terms;  ///< location -> coefficient, never 0
  friend bool operator==(const SymbolicValue&, const SymbolicValue&) = default;
};

/// By location of the model.
using Contents = std::vector<SymbolicValue>;

[[nodiscard]] Contents initial_contents(const MemoryModel& model);
/// Contents after `schedule`, which must be playable.
[[nodiscard]] Contents contents_after(const ir::TokenGame& game, const MemoryModel& model,
                                      const ir::Schedule& schedule);
enum class Outcome : std::uint8_t { right, wrong, unknown };
/// A location that was never written is wrong; an opaque one unknown.
/// Does every location of the postcondition's region hold the sum of its terms? Unknown if all that
/// are known do.
[[nodiscard]] Outcome outcome(const ir::Postcondition& postcondition, MemoryModel& model,
                              const Contents& contents);

}  // namespace spatialcert::tests
