// Counterexamples of `memory` have nothing to play: they are recomputed from the layout. Trusted.
#pragma once

#include "ir/program.hpp"
#include "proofs/counterexample.hpp"

namespace spatialcert::proofs::memory {

/// Does an overlap, an out-of-memory or a misaligned buffer hold as it is claimed?
[[nodiscard]] ReplayResult recompute(const ir::Program& program,
                                     const Counterexample& counterexample);

}  // namespace spatialcert::proofs::memory
