// Random small compositions: sections with the shape of real ones, put together by the composer,
// and then, in more than half of them, one fault.
//
// Sections are made of *motifs*: pipelines over FIFOs, buffers and tensors handed over by
// semaphores, copies by one engine, state updated in place, buffers that stay resident from section
// to section, and hand-offs declared as links. A motif is right on its own and uses no tensor that
// another one of its section changes. Whether the composition is right is not promised (boundaries
// may be open where sections depend on each other through a wrap-around, memory may not have been
// separated), nor that a fault does harm.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compose/composition/composer.hpp"
#include "ir/program.hpp"
#include "tests/oracle/generator.hpp"

namespace spatialcert::tests {

struct CompositionSample {
  std::uint64_t seed = 0;
  ir::Program undamaged;
  ir::Program program;
  std::string fault = "none";
  bool persistent = false;
  std::vector<std::string> features;  ///< motifs and forms of composition in it
};

/// The composition of a seed; always valid.
[[nodiscard]] CompositionSample random_composition(std::uint64_t seed);

/// The same of sections most of which do what the first one does: names aside they are alike, or
/// almost.
[[nodiscard]] CompositionSample repeated_composition(std::uint64_t seed);

/// Makes one fault of a random kind in a composed program; empty if that kind has nothing to damage
/// or would leave no valid program.
[[nodiscard]] std::string damage_composition(ir::Program& program, Random& random);

/// The smallest program found by leaving out ops and accesses for which `wanted` still holds.
[[nodiscard]] ir::Program shrink_ops(ir::Program program,
                                     const std::function<bool(const ir::Program&)>& wanted);

}  // namespace spatialcert::tests
