// Which postconditions of sections still mean the same in the composed program.
//
// A section's postcondition says that a region finally holds a sum of initial contents: what it
// finds, and what it leaves. In the whole, *initial* is before the first section and *final* after
// the last, so it is meaningful only if no earlier section writes the storage of its terms, no
// later section writes into its region, and all of it lies in tensors or in memory that is resident
// throughout. Regions are compared by the range of elements (bytes) that encloses them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.hpp"

namespace spatialcert::compose {

/// Per section (by source position) and per postcondition of it: why it has lost its meaning, if it
/// has. Linear in ops and postconditions, up to sorting.
[[nodiscard]] std::vector<std::vector<std::optional<std::string>>> lost_postconditions(
    const std::vector<ir::Program>& sections);

}  // namespace spatialcert::compose
