// All small programs of a few families, and witnesses found without the prover. For the tests that
// compare a check with the token game.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proofs/liveness/rule.hpp"
#include "proofs/memory/rule.hpp"
#include "proofs/ordering/rule.hpp"
#include "tests/proofs/draft.hpp"

namespace spatialcert::tests {

using Ops = std::vector<std::string>;

/// Every sequence of at most `longest` of `ops`, with repetition; the empty one too.
[[nodiscard]] std::vector<Ops> sequences(const Ops& ops, std::size_t longest);
/// Every order of every subset of `ops`.
[[nodiscard]] std::vector<Ops> arrangements(const Ops& ops);

/// A buffer handed to the store and back by two semaphores that hold one token each: all that can
/// go wrong by leaving out or exchanging ops.
[[nodiscard]] std::vector<Draft> hand_offs();
/// A FIFO, filled and emptied in all kinds of ways, right and wrong.
[[nodiscard]] std::vector<Draft> fifo_uses();
/// A buffer written and read in halves, by one engine and by two.
[[nodiscard]] std::vector<Draft> partial_accesses();
/// Sums, differences and copies on their way to a declared result.
[[nodiscard]] std::vector<Draft> sums();

/// The least potential that grows along program order and token-free places; nothing if none does.
[[nodiscard]] std::optional<proofs::liveness::Witness> potential(const proofs::Subject& subject);
/// A shortest path per pair, an empty one where there is none.
[[nodiscard]] proofs::ordering::Witness paths(const proofs::Subject& subject,
                                              const std::vector<std::uint32_t>& position);
/// The buffers of every occupancy by address.
[[nodiscard]] proofs::memory::Witness by_address(const ir::Program& program);

}  // namespace spatialcert::tests
