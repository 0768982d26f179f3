// Counterexamples of `shard`, played and recomputed. Trusted.
//
// Misplaced accesses are looked up in the program. Everything else is played on the token game,
// with the labels of all contents followed along the schedule: it ends with the store that it is
// about, whose label must be what is claimed, and every op of the path must read what the op before
// it wrote, the first one the own data of a chip.
#pragma once

#include "ir/token_game.hpp"
#include "proofs/counterexample.hpp"

namespace spatialcert::proofs::shard {

/// `game`: of the program unrolled `counterexample.iterations` times.
[[nodiscard]] ReplayResult recompute(const ir::TokenGame& game,
                                     const Counterexample& counterexample);

}  // namespace spatialcert::proofs::shard
