// Counterexamples of isolation, recomputed from the program: nothing has to be played. Trusted.
#pragma once

#include "proofs/counterexample.hpp"

namespace spatialcert::proofs::isolation {

[[nodiscard]] ReplayResult recompute(const ir::Program& program, const Counterexample& c);

}  // namespace spatialcert::proofs::isolation
