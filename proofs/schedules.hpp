// Schedules for counterexamples. Untrusted: whatever is built here is replayed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "proofs/counterexample.hpp"
#include "proofs/subject.hpp"

namespace spatialcert::proofs {

/// Everything that comes before one of `ends` in the stretch (the ends included), as marks per
/// transition. `with_credit`: also what only the depth of a guaranteed FIFO orders.
[[nodiscard]] std::vector<char> causal_past(const Subject& subject,
                                            const std::vector<std::uint32_t>& ends,
                                            bool with_credit);

/// The marked transitions in the order of `position`, as a schedule. `skip` (valid transitions) are
/// left out.
[[nodiscard]] ir::Schedule schedule_of(const Subject& subject,
                                       const std::vector<std::uint32_t>& position,
                                       const std::vector<char>& marks);

/// Guaranteed FIFOs in which `schedule` reserves more than the declared pages, and by how many.
using DeeperFifos = std::vector<std::pair<ir::BufferId, std::int64_t>>;
[[nodiscard]] DeeperFifos deeper_fifos(const Subject& subject, const ir::Schedule& schedule);

void append_schedule(ir::Schedule& to, const ir::Schedule& more);

}  // namespace spatialcert::proofs
