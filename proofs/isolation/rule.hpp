// isolation: sections of one phase touch nothing in common that either writes.
//
// Touched are locations (bytes, elements of tensors), FIFOs and semaphores; what a counter is used
// for changes it. Sections of one phase that a declared link joins are one *unit*: within it the
// other rules put accesses in order. A link itself may be used by all of its unit.
//
// Premises: per location and phase, the units that access it are one, or none of their accesses
// writes; per counter and phase, the units that use it are one. Conclusion: sections of one phase
// in different units run at the same time as they would run alone.
//
// Why this is asked although `ordering` puts all conflicting accesses in order: a section is
// verified alone, and two sections that share no boundary were declared to be independent. FIFO
// pages are their FIFO's.
//
// Z3 is asked, per phase, for a location that two units hold, one of which writes it.
#pragma once

#include <cstdint>
#include <optional>

#include "proofs/isolation/sharing.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::smt {
struct Session;
}

namespace spatialcert::proofs::isolation {

/// All sets are recomputed.
struct Witness {};

[[nodiscard]] Search<Witness> prove(const Subject& subject, smt::Session& session);
[[nodiscard]] Check check(const Subject& subject, const Witness& witness);

}  // namespace spatialcert::proofs::isolation
