// memory: buffers that live at the same time share no byte; every buffer is aligned and inside its
// space.
//
// Premises: per site, space and phase, the buffers in order of address, each ending at or before
// the next one begins; every address a multiple of the alignment; every end at most the size.
// Conclusion: pairwise disjoint, because disjointness of neighbours in a sorted chain is
// transitive.
//
// Z3 is asked, per occupancy, for a byte that two buffers hold or that lies beyond the space.
#pragma once

#include <cstdint>
#include <vector>

#include "proofs/memory/layout.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::smt {
struct Session;
}

namespace spatialcert::proofs::memory {

/// The buffers of every occupancy, by address.
struct Witness {
  std::vector<std::vector<ir::BufferId>> order;
};

[[nodiscard]] Search<Witness> prove(const Subject& subject, smt::Session& session);
[[nodiscard]] Check check(const Subject& subject, const Witness& witness);

}  // namespace spatialcert::proofs::memory
