// boundary: every op of a section before a closed boundary comes before every op of a section after
// it, in every schedule.
//
// Premises: per closed boundary a *centre*, one of its ops, such that over program order and places
// among the boundary's own ops (never credits; within one iteration)
//  - from every engine program that has section ops in the phase before it, one of the program's
//  ops
//    of the boundary leads to the centre;
//  - the centre leads to an op of the boundary in every program with section ops in the phase
//  after;
//  - the engine program of the centre before it is among those that lead to it.
// Conclusion: as stated.
//
// Why: ops of a section before the boundary stand before the boundary's ops in their program, those
// of a section after it after them, and a path is an order that always holds. So the ops of a phase
// come after the centre before the phase and before the one after it, and by the third premise the
// centres come one after the other; which covers ops that are several phases apart. The boundaries
// of a persistent program stand in a circle, with the first after the last of the iteration before.
//
// Z3 is asked for a reachable state in which the centre was performed and an op before the boundary
// was not, or an op after it was and the centre was not.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "proofs/boundary/gather.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::smt {
struct Session;
}

namespace spatialcert::proofs::boundary {

/// Transitions of one iteration, by closed boundary.
struct Witness {
  std::vector<std::uint32_t> centre;
};

[[nodiscard]] Search<Witness> prove(const Subject& subject,
                                    const std::vector<std::uint32_t>& position,
                                    smt::Session& session);
[[nodiscard]] Check check(const Subject& subject, const Witness& witness);

}  // namespace spatialcert::proofs::boundary
