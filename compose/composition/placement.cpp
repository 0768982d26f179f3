#include "compose/composition/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace spatialcert::compose {
namespace {

/// What a section or a region takes of the mesh of each of its chips.
struct Extent {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<std::uint32_t> chips;  ///< ascending
  std::uint32_t least_x = 0xffffffffU;
  std::uint32_t least_y = 0xffffffffU;

  void add(const ir::Site& site) {
    width = std::max(width, site.x + 1);
    height = std::max(height, site.y + 1);
    least_x = std::min(least_x, site.x);
    least_y = std::min(least_y, site.y);
    chips.push_back(site.chip);
  }
  void add(const Extent& other) {
    width = std::max(width, other.width);
    height = std::max(height, other.height);
    chips.insert(chips.end(), other.chips.begin(), other.chips.end());
  }
  void finish() {
    std::sort(chips.begin(), chips.end());
    chips.erase(std::unique(chips.begin(), chips.end()), chips.end());
  }
};

Extent extent_of(const ir::Program& section) {
  Extent extent;
  for (const ir::EngineProgram& program : section.programs) extent.add(program.site);
  for (const ir::Buffer& buffer : section.buffers) extent.add(buffer.site);
  for (const ir::Semaphore& semaphore : section.semaphores) extent.add(semaphore.site);
  extent.finish();
  return extent;
}

/// Packs rectangles in shelves. On every chip, the rows before the shelf are used up, and so are
/// the columns before `x` of the shelf.
class Shelves {
 public:
  Shelves(std::uint32_t width, std::uint32_t height, std::uint32_t chips)
      : width_(width), height_(height), used_(chips) {}

  [[nodiscard]] std::optional<Offset> place(const Extent& extent) {
    Offset at;
    std::uint64_t below = 0;  // first row that no chip has begun
    for (const std::uint32_t chip : extent.chips) {
      at.y = std::max(at.y, used_[chip].y);
      below = std::max(below, std::uint64_t{used_[chip].y} + used_[chip].height);
    }
    for (const std::uint32_t chip : extent.chips) {
      if (used_[chip].y + used_[chip].height > at.y) at.x = std::max(at.x, used_[chip].x);
    }
    if (std::uint64_t{at.x} + extent.width > width_) at = {0, static_cast<std::uint32_t>(below)};
    if (extent.width > width_ || std::uint64_t{at.y} + extent.height > height_) return std::nullopt;
    const auto end = std::max<std::uint64_t>(below, std::uint64_t{at.y} + extent.height);
    for (const std::uint32_t chip : extent.chips)
      used_[chip] = {at.x + extent.width, at.y, static_cast<std::uint32_t>(end - at.y)};
    return at;
  }

 private:
  struct Shelf {
    std::uint32_t x = 0, y = 0, height = 0;
  };
  std::uint32_t width_, height_;
  std::vector<Shelf> used_;
};

std::string name_of(const ir::Program& section) { return section.sections.front().name; }

void check_corner(const ir::Program& section, const Extent& extent) {
  if (extent.least_x == 0 && extent.least_y == 0) return;
  throw Refused{RefusalReason::bad_placement,
                fmt::format("section \"{}\" begins at column {}, row {} and is to be moved",
                            name_of(section), extent.least_x, extent.least_y),
                "let its sites begin at column 0, row 0, or place it on the same sites"};
}

std::vector<Offset> place(const std::vector<ir::Program>& sections, std::size_t count) {
  const ir::Target& target = sections.front().target;
  std::vector<Extent> regions(count);
  for (std::size_t s = 0; s < sections.size(); ++s) {
    const Extent extent = extent_of(sections[s]);
    check_corner(sections[s], extent);
    regions[s % count].add(extent);
  }
  Shelves shelves(target.mesh_width, target.mesh_height, target.chips);
  std::vector<Offset> offsets;
  for (std::size_t r = 0; r < count; ++r) {
    regions[r].finish();
    const auto at = shelves.place(regions[r]);
    if (!at) {
      throw Refused{RefusalReason::does_not_fit,
                    fmt::format("section \"{}\" needs {} x {} sites, for which the mesh of {} x {} "
                                "has no room behind the sections before it",
                                name_of(sections[r]), regions[r].width, regions[r].height,
                                target.mesh_width, target.mesh_height),
                    "use fewer regions, in which sections take turns, or smaller sections"};
    }
    offsets.push_back(*at);
  }
  for (std::size_t s = count; s < sections.size(); ++s) offsets.push_back(offsets[s % count]);
  return offsets;
}

}  // namespace

Outcome<std::vector<Offset>> place_sections(const std::vector<ir::Program>& sections,
                                            const Placement& placement) {
  if (placement.kind == Placement::Kind::same_sites || sections.empty())
    return std::vector<Offset>(sections.size());
  std::size_t count = sections.size();
  if (placement.kind == Placement::Kind::round_robin_regions) {
    if (placement.regions == 0) {
      return Refused{RefusalReason::bad_placement, "a placement in turns over no regions",
                     "name at least one region"};
    }
    count = std::min<std::size_t>(count, placement.regions);
  }
  try {
    return place(sections, count);
  } catch (Refused& refused) {
    return std::move(refused);
  }
}

}  // namespace spatialcert::compose
