// The net with sets of transitions joined to single nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "proofs/subject.hpp"

namespace spatialcert::proofs::folding {

/// Program order and token-free places of one iteration, the transitions with the same number
/// joined (~0: on their own): a joined set that is on a circuit, or behind one; nothing if there is
/// no circuit. Linear.
[[nodiscard]] std::optional<std::uint32_t> on_a_circuit(const Subject& subject,
                                                        const std::vector<std::uint32_t>& joined,
                                                        std::size_t sets);

}  // namespace spatialcert::proofs::folding
