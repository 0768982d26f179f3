// What a program costs the hardware: figures that a compiler change should not raise unnoticed.
//
// Computed from the program alone, in one pass over its objects and op texts; loops are counted,
// not unrolled. Nothing of it is a bound that was proved: whether buffers fit is the rule `memory`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.hpp"

namespace spatialcert::certify::gate {

/// `memory` is one figure per memory space of the target.
enum class Cost : std::uint8_t { ops, transitions, semaphores, fifo_pages, memory, phases };
/// Name with underscores, e.g. `fifo_pages`.
[[nodiscard]] std::string_view to_string(Cost cost);
[[nodiscard]] std::optional<Cost> parse_cost(std::string_view name);

/// Highest byte of a space that any buffer takes, plus one: the largest over all sites. Views and
/// FIFOs of guaranteed depth do not count: those share storage, these have no address.
struct SpaceUse {
  std::string space;
  std::uint64_t bytes = 0;
};

struct Costs {
  std::uint64_t ops = 0;          ///< op texts
  std::uint64_t transitions = 0;  ///< op instances of one iteration; saturates at 2^63 - 1
  std::uint64_t semaphores = 0;
  std::uint64_t fifo_pages = 0;  ///< of all FIFOs; saturates
  std::uint64_t phases = 0;      ///< runs of sections with no closed boundary between them
  std::vector<SpaceUse> memory;  ///< one per space of the target, in its order

  /// The figure, for `memory` of `space`; nothing if there is no such space.
  [[nodiscard]] std::optional<std::uint64_t> figure(Cost cost, std::string_view space = {}) const;
};

/// `program` is validated.
[[nodiscard]] Costs costs_of(const ir::Program& program);

}  // namespace spatialcert::certify::gate
