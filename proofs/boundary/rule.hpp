// boundary: every op of a section before a closed boundary comes before every op of a section after
// it, in every schedule.
//
// Premises: over paths of program order and places (never credits) that keep near the boundary,
//  - either it has a *centre*, an op: the last section op of every engine program in the phase
//    before leads to the centre, the centre leads to the first one of every engine program in the
//    phase after, and the centre of the boundary before, if it has one, leads to this one;
//  - or it has none, and all of those before lead to all of those after, of which there are some.
// Conclusion: as stated.
//
// Why: a path is an order that always holds. So the ops of a phase come before those of the next;
// and before those of later phases, because there are ops in between or the centres come one after
// the other. The boundaries of a persistent program stand in a circle, with the first after the
// last of the iteration before. There the first iteration, which has none before it, and the second
// stand for all.
//
// The rendezvous of the composer have a centre, the wait of the root, and paths among their own
// ops, which are tried first. Others may hold thanks to hand-offs of sections.
//
// Z3 is asked for a reachable state in which the centre was performed and an op before the boundary
// was not, or an op after it was and the centre was not; without a centre, one in which an op after
// it was and one before it was not.
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

/// Transitions of one iteration, by closed boundary; `kNone` where it has no centre.
struct Witness {
  std::vector<std::uint32_t> centre;
};

[[nodiscard]] Search<Witness> prove(const Subject& subject,
                                    const std::vector<std::uint32_t>& position,
                                    smt::Session& session);
[[nodiscard]] Check check(const Subject& subject, const Witness& witness);

}  // namespace spatialcert::proofs::boundary
