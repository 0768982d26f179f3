// Which tensors cross chips where every chip runs a program of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compose/parallel/manifest.hpp"
#include "compose/parallel/refusal.hpp"
#include "compose/parallel/sharding.hpp"

namespace spatialcert::compose::parallel {

/// What chip `to` reads of what chip `from` has written.
struct Transfer {
  std::string tensor;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t writer = 0;  ///< position of the latest earlier op that binds it
  std::uint32_t reader = 0;  ///< position of the first op of chip `to` that reads it
};

/// Of statements in source order, in the order of their first readers: once per tensor and chip
/// that reads it, from the latest earlier op that binds it. What no earlier op binds is the host's,
/// who places it on every chip that reads it, and crosses nothing.
///
/// Refused: ops that may not be fused (fusion.hpp); a tensor that is bound once more after another
/// chip has read it, as one transfer would then not do. Linear, up to hashing.
[[nodiscard]] Outcome<std::vector<Transfer>> transfers(const std::vector<SourceOp>& statements,
                                                       const Sharding& sharding);

}  // namespace spatialcert::compose::parallel
