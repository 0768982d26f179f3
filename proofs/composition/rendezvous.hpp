// Are the closed boundaries of a program closed by rendezvous? Trusted; linear in their ops.
//
// A rendezvous of P engine programs, which are all that have an op, on whatever sites:
//   the root:        post a 1;  wait a P;  post r E_r, for every release r once;  wait r' 1
//   everybody else:  post a 1;  wait r 1
// where E_r is the number of those that wait for r. The root and the arrival a are the same at all
// boundaries. Two consecutive rendezvous have no release in common; in a persistent program the
// last and the first are consecutive too, and there are two at least. All these semaphores are at
// 0 at first, may count to P (an arrival) or to the largest E_r, and are used by nothing else.
//
// What follows. Let rendezvous k gather, the root's `wait a P`, at some moment, and let all that is
// claimed hold of those before. Whoever has passed its `wait r` of k - 1 did so after everybody had
// posted the arrival of k - 1, hence after everybody had taken its release of k - 2 and of all
// before, so no token of those is left. Nobody passes its `wait r` of k before the gathering of k:
// tokens of r could only be of k - 1, which does not use r. So nobody has posted more than k + 1
// arrivals, and the gathering, which is the (k + 1)st to take P, needs all of them:
//   every op before boundary k  <  gathering k  <  every op after boundary k
// Nor can a release of k go to anybody else: the next one who waits for it does so at k + 2 or
// later. So whoever comes to a rendezvous gets through it once all have come; a never exceeds P, r
// never E_r; and at the end, and between two iterations, all are at 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/program.hpp"
#include "ir/sections.hpp"

namespace spatialcert::proofs::composition {

struct Meeting {
  std::vector<char> semaphores;    ///< per semaphore: is it one of rendezvous?
  std::uint32_t participants = 0;  ///< P; 0 if no boundary is closed
  std::uint64_t ops = 0;           ///< of all rendezvous
  std::uint64_t used = 0;          ///< semaphores
};

/// What is used by others too is not looked at here. Otherwise the boundary and what is wrong.
[[nodiscard]] std::variant<Meeting, std::string> meeting(const ir::Program& program,
                                                         const ir::Phases& phases);

}  // namespace spatialcert::proofs::composition
