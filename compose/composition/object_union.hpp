// Buffers and semaphores of all sections. Resident buffers and declared links are unified by name;
// all other names are a section's own. Throws Refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compose/composition/initial_contents.hpp"
#include "compose/composition/placement.hpp"
#include "ir/program.hpp"

namespace spatialcert::compose {

/// Names of one kind, and whose they are.
class OwnNames {
 public:
  struct Entry {
    std::uint32_t number = 0;
    std::uint32_t section = 0;
    bool shared = false;
  };
  OwnNames(const std::vector<ir::Program>& sections, const char* kind)
      : sections_(sections), kind_(kind) {}

  /// Gives `name` the number `number`, or, if it is shared and was so before, returns its entry.
  /// Refuses a name that is taken.
  [[nodiscard]] const Entry* add(std::string_view name, const Entry& entry);
  [[nodiscard]] const std::string& section(std::uint32_t source) const {
    return sections_[source].sections.front().name;
  }

 private:
  const std::vector<ir::Program>& sections_;
  const char* kind_;
  std::unordered_map<std::string_view, Entry> entries_;
};

class BufferUnion {
 public:
  explicit BufferUnion(const std::vector<ir::Program>& sections)
      : sections_(sections), names_(sections, "buffer") {}

  /// As TensorUnion::add.
  [[nodiscard]] std::vector<std::uint32_t> add(std::uint32_t source, const ObjectUses& uses,
                                               std::uint32_t first_location, Offset offset);
  /// `position`: of every section in the order of performance, from its source position.
  [[nodiscard]] std::vector<ir::Buffer> finish(const std::vector<std::uint32_t>& position);

  [[nodiscard]] bool written_before(std::uint32_t source, std::uint32_t buffer) const {
    return written_[root_of(buffers_, buffer)] < source;
  }
  [[nodiscard]] const std::vector<ir::Buffer>& buffers() const { return buffers_; }

 private:
  void compare(std::uint32_t source, std::uint32_t number, const ir::Buffer& buffer) const;
  void decide_contents(std::uint32_t number);

  const std::vector<ir::Program>& sections_;
  OwnNames names_;
  std::vector<ir::Buffer> buffers_;
  std::vector<std::vector<InitClaim>> claims_;  // by buffer; its sections, in source order
  std::vector<std::uint32_t> written_;
};

class SemaphoreUnion {
 public:
  explicit SemaphoreUnion(const std::vector<ir::Program>& sections)
      : sections_(sections), names_(sections, "semaphore") {}

  [[nodiscard]] std::vector<std::uint32_t> add(std::uint32_t source, Offset offset);
  [[nodiscard]] std::vector<ir::Semaphore> finish() { return std::move(semaphores_); }

 private:
  const std::vector<ir::Program>& sections_;
  OwnNames names_;
  std::vector<ir::Semaphore> semaphores_;
};

/// Is the FIFO (or semaphore) of this number a declared link of the section?
[[nodiscard]] std::vector<bool> links_of(const ir::Program& section, bool fifos);

}  // namespace spatialcert::compose
