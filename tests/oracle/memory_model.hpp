// The oracle's own idea of which bytes and elements a `run` touches (DESIGN 13.2, 13.12).
//
// Written without ir/accesses.hpp, so that the two can be compared: every touch is a single
// location, a byte of a memory space of a site or an element of a tensor, never an interval. A page
// of a FIFO has two locations per byte. Its *place* is where it physically lies (slot (head + i)
// mod pages; for a guaranteed depth, whose slots have no address, the number of the page): places
// decide conflicts. Its *content* is the byte of that page counted since the start: a page that has
// just been reserved holds nothing that may be read, whatever its slot held before.
//
// Only for small programs: everything is a list of numbered locations.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "ir/program.hpp"
#include "ir/unroll.hpp"

namespace spatialcert::tests {

/// An access of one op instance: wrap, engine program, op within the wrap, index into
/// Program::accesses.
struct AccessInstance {
  std::uint32_t wrap = 0;
  std::uint32_t program = 0;
  std::uint32_t step = 0;
  std::uint32_t access = 0;
  friend auto operator<=>(const AccessInstance&, const AccessInstance&) = default;
};
/// Where an op instance of the unrolled program stands.
[[nodiscard]] AccessInstance instance(const ir::Unrolled& unrolled, std::uint32_t transition,
                                      std::uint32_t access);

/// One access of a `run` instance, location by location in row-major order.
struct Touch {
  std::uint32_t access = 0;  ///< index into Program::accesses
  bool write = false;
  std::vector<std::uint32_t> place;
  std::vector<std::uint32_t> content;
};

struct Footprint {
  std::vector<Touch> touches;
  bool leaves_object = false;  ///< some region is empty or not inside its object; it has no touch
};

class MemoryModel {
 public:
  /// Both must outlive the model.
  MemoryModel(const ir::Program& program, const ir::Unrolled& unrolled);

  [[nodiscard]] const Footprint& footprint(std::uint32_t transition) const {
    return footprints_[transition];
  }
  [[nodiscard]] std::uint32_t locations() const { return static_cast<std::uint32_t>(init_.size()); }
  /// What the location holds before the first op.
  [[nodiscard]] ir::Init init(std::uint32_t location) const { return init_[location]; }
  [[nodiscard]] std::string name(std::uint32_t location) const;
  /// Locations of a constant region of a tensor or byte buffer, in row-major order.
  [[nodiscard]] std::vector<std::uint32_t> locate(const ir::Region& region);

 private:
  enum class Space : std::uint8_t { tensor, memory, page };
  /// Space, then tensor | site and memory space | FIFO, then position.
  using Key = std::tuple<Space, std::uint64_t, std::uint64_t>;

  std::uint32_t number(const Key& key);
  [[nodiscard]] ir::Init initial_content(const Key& key) const;
  [[nodiscard]] std::uint64_t space_of(const ir::Buffer& buffer) const;
  bool resolve(const ir::Access& access, const std::vector<std::int64_t>& loops, Touch& touch);
  void resolve_tensor(std::uint32_t tensor, const std::int64_t (&bound)[4], Touch& touch);
  void resolve_page(const ir::Access& access, const std::int64_t (&bound)[4], Touch& touch);

  const ir::Program& program_;
  std::map<Key, std::uint32_t> numbers_;
  std::vector<ir::Init> init_;
  std::vector<Footprint> footprints_;
  std::vector<std::uint64_t> pushed_, popped_;  // by buffer, at the op that is being resolved
};

}  // namespace spatialcert::tests
