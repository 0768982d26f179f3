#pragma once

#include <cstdint>

namespace spatialcert::ir::io {

/// How deep loops may nest. Loop levels then fit a 64-bit set, and recursion over them is bounded.
inline constexpr std::uint32_t kMaximumLoopDepth = 64;

}  // namespace spatialcert::ir::io
