// Sections, closed boundaries and phases of a program, and whose transitions are whose.
//
// A *phase* is a maximal run of sections with no closed boundary between them. In a persistent
// program whose last boundary is open, the last phase of one iteration and the first of the next
// run at once: they are one phase here too (DESIGN 13.6). Trusted; all of it is linear.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.hpp"
#include "ir/unroll.hpp"

namespace spatialcert::ir {

struct Phases {
  std::vector<std::uint32_t> of;  ///< per section, in the order of the program
  /// The same within one iteration, where what is behind an open wrap-around's last boundary is a
  /// phase of its own: the first one of the next iteration, but not yet of this one.
  std::vector<std::uint32_t> in_order;
  std::uint32_t count = 1;         ///< phases
  std::vector<BoundaryId> closed;  ///< closed[k] ends phase k; one fewer than phases if the last
                                   ///< phase of a `once` program has no boundary after it
};
[[nodiscard]] Phases phases_of(const Program& program);

/// Transitions of one iteration that belong to one section or boundary: [begin, end), not empty.
struct Piece {
  ProgramId program;
  SectionId section;  ///< exactly one of the two is valid
  BoundaryId boundary;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// The pieces of every engine program, in order of the transitions of one iteration.
[[nodiscard]] std::vector<Piece> pieces_of(const Program& program, const Unrolled& one);

/// Section whose op transition `run`, a `run`, is: that of its stage, as validated.
[[nodiscard]] inline SectionId section_of_run(const Program& program, const Unrolled& unrolled,
                                              TransitionId run) {
  return program.stages[unrolled.op_of(program, run).object].section;
}

}  // namespace spatialcert::ir
