#include "certify/gate/costs.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "ir/folding.hpp"
#include "ir/require.hpp"
#include "ir/sections.hpp"

namespace spatialcert::certify::gate {
namespace {

constexpr std::array<std::string_view, 6> kNames{"ops",        "transitions", "semaphores",
                                                 "fifo_pages", "memory",      "phases"};

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return a > most - b ? most : a + b;
}

bool is_unplaced(const ir::Buffer& buffer) {
  return buffer.view ||
         (buffer.kind == ir::BufferKind::fifo && buffer.depth == ir::Depth::guaranteed);
}

}  // namespace

std::string_view to_string(Cost cost) {
  const auto index = static_cast<std::size_t>(cost);
  SPATIALCERT_REQUIRE(index < kNames.size(), "enumerator out of range");
  return kNames[index];
}

std::optional<Cost> parse_cost(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Cost>(found - kNames.begin());
}

std::optional<std::uint64_t> Costs::figure(Cost cost, std::string_view space) const {
  switch (cost) {
    case Cost::ops:
      return ops;
    case Cost::transitions:
      return transitions;
    case Cost::semaphores:
      return semaphores;
    case Cost::fifo_pages:
      return fifo_pages;
    case Cost::phases:
      return phases;
    case Cost::memory:
      break;
  }
  for (const SpaceUse& use : memory) {
    if (use.space == space) return use.bytes;
  }
  return std::nullopt;
}

Costs costs_of(const ir::Program& program) {
  Costs costs;
  costs.ops = ir::op_count(program);
  costs.transitions = ir::op_instances(program);
  costs.semaphores = program.semaphores.size();
  costs.phases = ir::phases_of(program).count;
  for (const ir::MemorySpace& space : program.target.spaces)
    costs.memory.push_back({space.name, 0});
  for (const ir::Buffer& buffer : program.buffers) {
    if (buffer.kind == ir::BufferKind::fifo)
      costs.fifo_pages = saturating_sum(costs.fifo_pages, buffer.pages);
    if (is_unplaced(buffer)) continue;
    std::uint64_t& high = costs.memory[buffer.space.value()].bytes;
    high = std::max(high, saturating_sum(buffer.address, buffer.bytes()));
  }
  return costs;
}

}  // namespace spatialcert::certify::gate
