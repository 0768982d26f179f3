// Which buffers are in which memory at the same time. Trusted.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.hpp"

namespace spatialcert::proofs::memory {

/// Buffers that live in one memory space of one site during one phase. Views are left out: they
/// share by design. So are FIFOs of guaranteed depth, whose slots the platform places.
struct Occupancy {
  ir::Site site;
  ir::SpaceId space;
  std::uint32_t phase = 0;
  std::vector<ir::BufferId> buffers;  ///< by id
};

/// All occupancies, by site, space and phase. A resident buffer lives from its first to its last
/// section; every buffer in the phases of the sections that touch it, and in all phases if it is
/// neither touched nor bounded. What begins with contents is there from the first phase on. A FIFO
/// whose ends are used in different phases may hold pages in those between them: of a persistent
/// program, in all.
[[nodiscard]] std::vector<Occupancy> occupancies(const ir::Program& program);

}  // namespace spatialcert::proofs::memory
