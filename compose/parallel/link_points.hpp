// Where the program of one chip halts, so that the host can carry tensors to and fro.
#pragma once

#include <cstdint>
#include <vector>

#include "compose/parallel/refusal.hpp"
#include "compose/parallel/transfers.hpp"
#include "ir/program.hpp"

namespace spatialcert::compose::parallel {

/// One halt of a chip's program, at the boundary before section number `boundary` (in order of
/// performance); the number of sections is the end of the program. What is sent is there when the
/// chip halts; it goes on when all that it receives has come.
struct Halt {
  std::uint32_t boundary = 0;
  std::vector<std::uint32_t> receives;  ///< positions in the list of transfers
  std::vector<std::uint32_t> sends;
};

struct ChipHalts {
  std::uint32_t sections = 0;
  std::vector<Halt> halts;  ///< ascending, at most one per boundary
};

/// The halts of `chip`, whose program is `program`: it sends a tensor after the last section that
/// stores it, and receives one before the first section that loads it; what is received before the
/// first section is the host's to place at the start. Transfers of other chips are passed over.
///
/// Refused: a tensor that is sent and that no section stores; one that is received and that no
/// section loads, or that a section of the chip itself stores. Linear.
[[nodiscard]] Outcome<ChipHalts> link_points(const ir::Program& program, std::uint32_t chip,
                                             const std::vector<Transfer>& transfers);

}  // namespace spatialcert::compose::parallel
