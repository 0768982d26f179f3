// Faults as edits of a program that is right. Where each of them strikes: docs/collectives.md.
#pragma once

#include "compose/collectives/model.hpp"

namespace spatialcert::compose {

/// Faults of the steps themselves, before waits are derived: whatever goes wrong is then not also a
/// race. False if the program has no place for the fault; true and no change for every other fault.
[[nodiscard]] bool edit_steps(CollectiveProgram& program, Fault fault, Collective collective);

/// Faults of the waits, and of addresses that no wait could be derived for. Same results.
[[nodiscard]] bool edit_waits(CollectiveProgram& program, Fault fault);

}  // namespace spatialcert::compose
