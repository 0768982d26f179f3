// A rendezvous: what closes a boundary.
//
// Gather and release. Every one of P participating engine programs posts one arrival at the *root*
// (the first participant in site order), the root waits for all P and posts the release of each of
// the S sites, and every program waits for its own site's release: 2 P + S + 1 ops.
//
// Root: `post a 1; wait a P; post r_i E_i` for every site i, `wait r 1`. Every other program: `post
// a 1; wait r 1`; E_i is the number of programs on site i.
//
// Release semaphores have colours, and consecutive rendezvous differ in theirs: with one colour, a
// program that took its release, went on and arrived again could take its neighbour's token of the
// rendezvous before, and the neighbour would wait for ever. One arrival semaphore is enough: nobody
// arrives again before the root has taken all P.
//
// What this promises needs what it does not check: that nothing else touches these semaphores, and
// that every program with an op takes part.
#pragma once

#include <cstdint>
#include <vector>

#include "compose/composition/refusal.hpp"
#include "ir/program.hpp"

namespace spatialcert::compose {

/// Colours that `boundaries` closed boundaries need so that neighbours differ, the last and the
/// first one included: two for an even number, three for an odd number of three or more, one for
/// one (which is right where nothing wraps around), none for none.
[[nodiscard]] std::uint32_t colours_for(std::uint32_t boundaries);
/// Colour of closed boundary number `boundary` out of `boundaries`.
[[nodiscard]] std::uint32_t colour_of(std::uint32_t boundary, std::uint32_t boundaries);

struct Rendezvous {
  struct At {
    ir::Site site;
    std::uint32_t programs = 0;             ///< that take part
    std::vector<ir::SemaphoreId> releases;  ///< by colour
  };
  std::vector<std::uint32_t> participants;  ///< indices into Program::programs, ascending
  std::vector<At> sites;                    ///< in site order; the first is the root's
  ir::SemaphoreId arrival;

  [[nodiscard]] std::uint64_t ops() const { return 2 * participants.size() + sites.size() + 1; }
};

/// Declares the semaphores of all rendezvous of a program in which the engine programs numbered
/// `participants` (ascending, at least one) take part. Refused: a maximum of the target below what
/// a semaphore must count, a site without room for another semaphore, participants on several
/// chips where no hand-off crosses, names that are taken.
[[nodiscard]] Outcome<Rendezvous> declare_rendezvous(ir::Program& program,
                                                     std::vector<std::uint32_t> participants,
                                                     std::uint32_t colours);

/// Appends the ops of one rendezvous, as spans of `boundary`, to the participating programs.
void append_rendezvous(ir::Program& program, const Rendezvous& rendezvous, ir::BoundaryId boundary,
                       std::uint32_t colour);

}  // namespace spatialcert::compose
