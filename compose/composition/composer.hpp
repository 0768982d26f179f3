// The composer: sections in, one program out, or a refusal by name (DESIGN 4).
//
// A section is a program with exactly one section. Its ops are taken over as they are; ids are
// offset, engine programs are concatenated per (site, engine), and closed boundaries get a
// rendezvous of every engine program that has an op.
//
// **Tensors** are unified by name. What one section has as output and a later one as input becomes
// an activation; what is carried becomes state. Initial contents that a section takes from outside
// (`external`) are an assumption: an earlier section that writes the tensor discharges it, and the
// composed tensor starts as the first section says. A carried tensor starts as the first section
// says that reads it. *Later* and *earlier* mean source order, whatever the order of performance.
//
// **Resident buffers** of one name are unified if they are the same (initial contents by the rule
// of tensors; lifetimes are joined), and so are FIFOs and semaphores that both sections declare as
// links. All other names are a section's own, and must be unique.
//
// **Postconditions** of a section speak of what it finds and leaves. One is taken over if it still
// means that: no earlier section writes what its terms lie in, no later one writes its region, and
// neither lies in memory that lives for a section only. Otherwise it is refused, or, where the
// options say so, left out with a note, and the result counts as not specified.
//
// Promised: the program passes ir/validate.hpp, holds every op of every section exactly once, and
// sections keep their source positions. Not promised: anything that proofs are for. A composed
// program can deadlock, race or overwrite; the certificate says that it does not.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compose/composition/phases.hpp"
#include "compose/composition/placement.hpp"
#include "compose/composition/refusal.hpp"
#include "compose/composition/rendezvous.hpp"
#include "ir/program.hpp"

namespace spatialcert::compose {

struct ComposeOptions {
  std::string name = "composed";
  /// `persistent`: engine programs wrap around. Every section is performed once per iteration, so
  /// sections that are performed once will do; what wraps around in itself cannot be performed
  /// once.
  ir::Execution execution = ir::Execution::once;
  /// Tensors that live on to the next token, beside those that the sections name.
  std::vector<std::string> carried;
  /// Leave out postconditions that mean something else in the whole, instead of refusing them.
  bool drop_lost_postconditions = false;
  /// What is wrong with a section on its own, if anything. The composer proves nothing itself.
  std::function<std::optional<std::string>(const ir::Program& section)> section_fault;
  /// Most elements of a kind that are numbered; lower for tests only.
  std::uint64_t most_numbers = 0xfffffffeU;
};

struct Composed {
  ir::Program program;
  std::uint32_t rendezvous_count = 0;    ///< one per closed boundary
  std::optional<Rendezvous> rendezvous;  ///< of each of them, if there is any
  std::vector<std::string> notes;        ///< what was left out, where that was asked for
};

/// All sections, in source order, with every boundary between two of them closed, and, if
/// persistent, the one around which the program wraps.
[[nodiscard]] Outcome<Composed> compose(const std::vector<ir::Program>& sections,
                                        const Placement& placement = {},
                                        const ComposeOptions& options = {});

/// The same with the boundaries closed that `barrier_after` says, one entry per section; the last
/// one is the end of the program, or, if persistent, what it wraps around.
[[nodiscard]] Outcome<Composed> compose_phased(const std::vector<ir::Program>& sections,
                                               const std::vector<bool>& barrier_after,
                                               const Placement& placement = {},
                                               const ComposeOptions& options = {});

/// The same in another order of performance: `phases.order` numbers the sections by their source
/// positions, `phases.barrier_after` stands in the order of performance.
[[nodiscard]] Outcome<Composed> compose_ordered(const std::vector<ir::Program>& sections,
                                                const PhaseOrder& phases,
                                                const Placement& placement = {},
                                                const ComposeOptions& options = {});

/// The phases of validated sections, from what they touch.
[[nodiscard]] PhaseOrder phases_of(const std::vector<ir::Program>& sections);

}  // namespace spatialcert::compose
