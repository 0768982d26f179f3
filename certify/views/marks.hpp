// What of a program a counterexample speaks of: its ops and objects, each with what it does there.
// Private to the reports.
#pragma once

#include <string>
#include <vector>

#include "certify/names.hpp"
#include "proofs/counterexample.hpp"

namespace spatialcert::certify::views {

enum class Role : std::uint8_t {
  waiter,    ///< blocked
  supplier,  ///< would help a waiter
  access,    ///< a run that reads or writes the place in question
  op,        ///< performed, or not, against the rule
  fault,     ///< must not be performed
  use,       ///< raises or lowers the counter in question
  object     ///< a buffer or tensor
};
[[nodiscard]] std::string_view to_string(Role role);

struct Mark {
  Role role = Role::op;
  ir::TransitionId transition;  ///< of the counterexample's unrolling; invalid: an object
  ir::LocationIndex location = ir::kNoLocation;
  std::string name;   ///< `op 2 `post loaded 1``, `interm acc`
  std::string place;  ///< `load at chip 0 (0,0), section gate`, `chip 0 (0,0)`
  std::string what;   ///< `waits for semaphore fetched to reach 1 (it holds 0)`
};

/// What matters most first: the ends of a way, the first waiter of a circle. One op or object may
/// be there in several roles. Unless `unrolled`, the program cannot be unrolled, and only objects
/// are looked at.
[[nodiscard]] std::vector<Mark> marks_of(const OpNames& names,
                                         const proofs::Counterexample& counterexample,
                                         bool unrolled);

/// Of the op, or else of its stage, or else of its section.
[[nodiscard]] ir::LocationIndex location_of(const OpNames& names, ir::TransitionId t);

}  // namespace spatialcert::certify::views
