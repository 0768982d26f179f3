// Memory of sections that run at once.
//
// Sections of one phase run side by side. Where two of them share a site, the later one's buffers
// on that site move past the earlier one's, per memory space. Everything of a section in one space
// of one site moves by one distance, a multiple of the space's alignment, so its layout, and what
// is wrong with it, stays as it was. Sections on disjoint sites, and sections that a closed
// boundary separates, keep their layout and reuse bytes.
//
// Buffers that live in other phases too are kept clear and stay where they are: resident ones,
// those that several sections touch, those that begin with contents (which are there from the first
// phase on), FIFOs of a persistent program that several phases touch (which may hold pages in all
// of them), and those that no op touches, which count as alive throughout. A section that would
// collide with one of them moves past it. In a persistent program whose wrap-around is no closed
// boundary the last phase is the first one.
#pragma once

#include <cstdint>
#include <vector>

#include "compose/composition/refusal.hpp"
#include "ir/program.hpp"

namespace spatialcert::compose {

struct MemoryUse {
  ir::Site site;
  ir::SpaceId space;
  std::uint64_t bytes = 0;  ///< one past the highest byte in use
};

/// Gives the buffers of a validated program their addresses; returns the bytes in use, by site and
/// space. Refused, and the program left as it was, if a memory is too small. Linear in the program,
/// up to sorting, if few buffers stay where they are.
[[nodiscard]] Outcome<std::vector<MemoryUse>> separate_phase_memory(ir::Program& program);

/// Bytes in use where every buffer stands, by site and space.
[[nodiscard]] std::vector<MemoryUse> memory_use(const ir::Program& program);

}  // namespace spatialcert::compose
