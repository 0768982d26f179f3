// Which sections run at once: phases, and the order of performance.
//
// A section depends on an earlier one (in source order) if it reads what that one writes, or writes
// what that one reads or writes. `phase_order` puts each section, in source order, in the earliest
// phase after every section it depends on in which all its chips are free. Sections of one phase
// thus share no chip and no name that either writes. It promises nothing about bytes: memory of
// sections that share sites is `separate_phase_memory`'s business.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/program.hpp"

namespace spatialcert::compose {

/// What one section touches. Names are numbered by TouchNames; all lists may hold doubles.
struct Touches {
  std::vector<std::uint32_t> reads;
  std::vector<std::uint32_t> writes;
  std::vector<std::uint32_t> chips;
};

/// Numbers for the names that sections share; one per composition.
class TouchNames {
 public:
  enum class Kind : char { tensor = 't', buffer = 'b', semaphore = 's' };
  /// The number of a name of this kind, given when it is first asked for.
  [[nodiscard]] std::uint32_t number(Kind kind, std::string_view name);

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// What the ops of a program touch, from their accesses: tensors and buffers (a view touches its
/// base, as a whole), FIFOs and semaphores (every op on them counts as a write: it moves a
/// counter). Chips are those of every site that has ops or that they name.
[[nodiscard]] Touches touches_of(const ir::Program& section, TouchNames& names);

struct PhaseOrder {
  std::vector<std::uint32_t> order;  ///< position in source order of every section performed
  /// After order[i]: does the next one belong to a later phase? False for the last.
  std::vector<bool> barrier_after;
};

/// Linear in the sections and what they touch, up to the inverse Ackermann function, as long as
/// the different sets of chips are few.
[[nodiscard]] PhaseOrder phase_order(const std::vector<Touches>& touches);

}  // namespace spatialcert::compose
