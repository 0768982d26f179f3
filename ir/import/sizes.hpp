// How message sizes turn into chunks per transfer: the runtimes' default buffers.
#pragma once

#include <cstdint>

#include "ir/import/algorithm.hpp"
#include "ir/import/msccl.hpp"
#include "ir/result.hpp"

namespace spatialcert::ir::msccl {

/// Bytes of payload that one transfer carries at most.
[[nodiscard]] std::uint64_t transfer_bytes(Protocol protocol, MscclRuntime runtime);

struct TransferSize {
  std::uint32_t chunks = 1;       ///< per transfer
  std::uint64_t chunk_bytes = 1;  ///< of one iteration
};

/// What the runtime does with a logical buffer of `bytes` bytes. Refused: sizes it refuses itself.
[[nodiscard]] Result<TransferSize> transfer_size(const Algorithm& algorithm, MscclRuntime runtime,
                                                 std::uint64_t bytes);

}  // namespace spatialcert::ir::msccl
