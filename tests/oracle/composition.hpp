// The oracle's idea of sections, phases and boundaries (DESIGN 4, 7, 13.4 to 13.7): written without
// ir/sections.hpp, by looking at every pair.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ir/program.hpp"
#include "ir/unroll.hpp"
#include "tests/oracle/memory_model.hpp"

namespace spatialcert::tests {

class Composition {
 public:
  Composition(const ir::Program& program, const ir::Unrolled& unrolled);

  /// Section of an op instance; nothing for ops of boundaries.
  [[nodiscard]] std::optional<std::uint32_t> section(std::uint32_t transition) const;
  /// May ops of the two sections be performed at the same time?
  [[nodiscard]] bool share_a_phase(std::uint32_t a, std::uint32_t b) const;
  /// Does boundary `b` stand between two op instances of sections, in this order?
  [[nodiscard]] bool separates(std::uint32_t b, std::uint32_t before, std::uint32_t after) const;
  /// Must `a` come before `b`, if they conflict? By iteration, then by place in the source.
  [[nodiscard]] bool precedes(std::uint32_t a, std::uint32_t b) const;
  /// Does a buffer, or what shares its storage as a view, declare contents?
  [[nodiscard]] bool begins_with_contents(std::uint32_t buffer) const;
  /// Sections in which a buffer lives, those included that it merely has to survive.
  [[nodiscard]] std::set<std::uint32_t> lifetime(std::uint32_t buffer) const;
  /// Can two buffers be in memory at the same time?
  [[nodiscard]] bool live_together(std::uint32_t a, std::uint32_t b) const;
  /// Does what one run leaves in a buffer last until another reads it?
  [[nodiscard]] bool lasts(std::uint32_t buffer, std::uint32_t writer, std::uint32_t reader) const;
  /// Do two sections of one phase, that no chain of links joins, share a location or counter that
  /// one of them changes?
  [[nodiscard]] bool interference(const MemoryModel& model) const;

 private:
  [[nodiscard]] std::uint32_t wrap(std::uint32_t transition) const;
  /// The section that ends at the boundary which an op of a boundary belongs to.
  [[nodiscard]] std::uint32_t section_before(std::uint32_t boundary_op) const;
  [[nodiscard]] bool closed_after(std::uint32_t section) const;
  [[nodiscard]] bool joined(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] bool uses_counter(std::uint32_t t, bool fifo, std::uint32_t object) const;

  const ir::Program& program_;
  const ir::Unrolled& unrolled_;
};

}  // namespace spatialcert::tests
