#include "ir/import/sizes.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace spatialcert::ir {
namespace msccl {

// Simple: half of a 4 MiB buffer. LL: 8 lines of 16 bytes, half of them flags, per thread (512
// threads; RCCL: 256) and slot. LL128: 120 words per thread (640 threads; RCCL: 256) and slot, of
// which 15 in 16 carry data.
std::uint64_t transfer_bytes(Protocol protocol, MscclRuntime runtime) {
  const bool rccl = runtime == MscclRuntime::rccl;
  switch (protocol) {
    case Protocol::ll:
      return std::uint64_t{8} * 16 / 2 * (rccl ? 256 : 512);
    case Protocol::ll128:
      return std::uint64_t{120} * 8 * (rccl ? 256 : 640) / 16 * 15;
    case Protocol::simple:
      break;
  }
  return std::uint64_t{2} << 20;
}

Result<TransferSize> transfer_size(const Algorithm& algorithm, MscclRuntime runtime,
                                   std::uint64_t bytes) {
  if (bytes == 0 || bytes % algorithm.chunks != 0) {
    return Refusal{algorithm.file, algorithm.line, "algo/@nchunksperloop",
                   fmt::format("a message of a positive multiple of {} bytes, one per chunk",
                               algorithm.chunks),
                   fmt::format("{} bytes", bytes)};
  }
  const std::uint64_t chunk = bytes / algorithm.chunks;
  const std::uint64_t most = transfer_bytes(algorithm.protocol, runtime);
  const std::uint64_t fit = std::clamp<std::uint64_t>(most / chunk, 1, kMaximumCount);
  return TransferSize{static_cast<std::uint32_t>(fit), std::min(chunk, most)};
}

}  // namespace msccl

std::uint64_t largest_message(const MscclSummary& summary, MscclRuntime runtime,
                              std::uint32_t chunks_per_transfer) {
  if (chunks_per_transfer == 0 || chunks_per_transfer > msccl::kMaximumCount) return 0;
  auto protocol = msccl::Protocol::simple;
  for (const auto candidate : {msccl::Protocol::ll, msccl::Protocol::ll128}) {
    if (summary.protocol == msccl::to_string(candidate)) protocol = candidate;
  }
  return msccl::transfer_bytes(protocol, runtime) / chunks_per_transfer * summary.chunks;
}

}  // namespace spatialcert::ir
