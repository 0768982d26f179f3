// Where in the mesh of its chips every section stands.
//
// A section is moved as a whole: all its sites by one offset in x and y, on the chips that it
// names. So hand-offs, owners and order of sites stay what they were. Regions are rectangles as
// large as what stands in them, packed row by row (shelves) over the mesh of every chip they use;
// two regions never share a site.
#pragma once

#include <cstdint>
#include <vector>

#include "compose/composition/refusal.hpp"
#include "ir/program.hpp"

namespace spatialcert::compose {

struct Placement {
  enum class Kind : std::uint8_t {
    same_sites,          ///< as the sections say
    own_regions,         ///< every section in a rectangle of its own
    round_robin_regions  ///< section i in region i modulo `regions`
  };
  Kind kind = Kind::same_sites;
  std::uint32_t regions = 0;  ///< round_robin_regions only
};

struct Offset {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
};

/// The offset of every section. Unless the kind is `same_sites`, refused are: no regions, a section
/// whose sites do not begin at column 0 and row 0, and a section that finds no room.
[[nodiscard]] Outcome<std::vector<Offset>> place_sections(const std::vector<ir::Program>& sections,
                                                          const Placement& placement);

}  // namespace spatialcert::compose
