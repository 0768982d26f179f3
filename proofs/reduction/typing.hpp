// The types of contents over all rounds, and their counterexamples. Trusted.
#pragma once

#include "ir/token_game.hpp"
#include "proofs/reduction/rule.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::proofs::reduction {

/// Is there anything to type? The program names full tensors.
[[nodiscard]] bool has_types(const ir::Program& program);

/// Performs the rounds of the witness: no run may show a fault, and the types must recur.
[[nodiscard]] Check check_types(const Subject& subject, const Typing& witness);

/// `game`: of the program unrolled `counterexample.iterations` times.
[[nodiscard]] ReplayResult recompute_types(const ir::TokenGame& game,
                                           const Counterexample& counterexample);

}  // namespace spatialcert::proofs::reduction
