// Token-free cycles and stuck states: the counterexamples of liveness. Untrusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "proofs/counterexample.hpp"
#include "proofs/subject.hpp"

namespace spatialcert::proofs::liveness {

/// A token-free cycle with the fewest hand-offs, among those the fewest ops, as indices of net
/// places in the order of waiting: each place's `from` stands after the next one's `to`. Empty if
/// there is none.
[[nodiscard]] std::vector<std::uint32_t> shortest_cycle(const Subject& subject);

/// The cycle as a chain of waits.
[[nodiscard]] std::vector<WaitLink> cycle_chain(const Subject& subject,
                                                const std::vector<std::uint32_t>& places);

/// Who waits for whom in a state in which nobody can step: follows, from the first blocked program,
/// the next op that would raise what it waits for, until a circle closes or nobody is left to raise
/// it, or until `most` programs have been looked at, each of which takes a walk over what is left
/// of the program.
struct StuckChain {
  std::vector<WaitLink> links;
  bool circle = false;
};
[[nodiscard]] StuckChain stuck_chain(const ir::TokenGame& game, const ir::PlayState& state,
                                     std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace spatialcert::proofs::liveness
