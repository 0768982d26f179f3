#include "ir/import/algorithm.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace spatialcert::ir::msccl {

// The table of what the runtimes do. A receiving step's source operand is a comment of the
// compiler, save where the value is combined with it: then it is read on the rank that receives.
const StepTraits& traits(StepType type) {
  static constexpr std::array<StepTraits, 9> kTraits{{
      {"s", true, false, true, false, false},
      {"r", false, true, false, false, true},
      {"rcs", true, true, false, false, true},
      {"rrs", true, true, true, false, false},
      {"rrc", false, true, true, false, true},
      {"rrcs", true, true, true, false, true},
      {"cpy", false, false, true, false, true},
      {"re", false, false, true, true, true},
      {"nop", false, false, false, false, false},
  }};
  return kTraits[static_cast<std::size_t>(type)];
}

char letter(BufferLetter which) { return "ios"[static_cast<std::size_t>(which)]; }

std::string_view to_string(Protocol protocol) {
  static constexpr std::array<std::string_view, 3> kNames{"Simple", "LL", "LL128"};
  return kNames[static_cast<std::size_t>(protocol)];
}

std::string_view to_string(Collective collective) {
  static constexpr std::array<std::string_view, 12> kNames{
      "allreduce", "allgather", "reduce_scatter", "alltoall", "broadcast", "reduce",
      "custom",    "send",      "recv",           "gather",   "scatter",   "alltoallv"};
  return kNames[static_cast<std::size_t>(collective)];
}

std::uint64_t Algorithm::step_count() const {
  std::uint64_t steps = 0;
  for (const Rank& rank : ranks) {
    for (const Block& block : rank.blocks) steps += block.steps.size();
  }
  return steps;
}

std::uint32_t Algorithm::largest_count() const {
  std::uint32_t largest = 1;
  for (const Rank& rank : ranks) {
    for (const Block& block : rank.blocks) {
      for (const Step& step : block.steps) {
        if (step.type != StepType::nop) largest = std::max(largest, step.count);
      }
    }
  }
  return largest;
}

std::string path_of(std::size_t rank) { return fmt::format("algo/gpu[@id={}]", rank); }

std::string path_of(std::size_t rank, std::size_t block) {
  return fmt::format("algo/gpu[@id={}]/tb[@id={}]", rank, block);
}

std::string path_of(std::size_t rank, std::size_t block, std::size_t step) {
  return fmt::format("algo/gpu[@id={}]/tb[@id={}]/step[@s={}]", rank, block, step);
}

}  // namespace spatialcert::ir::msccl
