// Sections to be composed: four chains, one per chip, that go to and fro between two sites.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.hpp"

namespace spatialcert::bench {

/// Sections of 48 ops, about `ops` in all; made when first asked for, then kept.
[[nodiscard]] const std::vector<ir::Program>& chained_sections(std::int64_t ops);

}  // namespace spatialcert::bench
