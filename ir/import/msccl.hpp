// Importer of MSCCL collective algorithms (XML, optionally zstd-compressed).
//
// A rank becomes a chip with one site, a thread block an engine program, a connection (sender,
// receiver, channel) a FIFO of the runtime's guaranteed depth, a dependency flag a semaphore that
// is awaited, and the input, output and scratch buffers become buffers with the aliasing of the
// placement. The meaning is that of the runtimes that execute these files, not that of the compiler
// that wrote them: docs/msccl.md.
//
// One file describes several programs: the placement (in place or not) and the number of transfers
// a step needs at a message size change the program, so every combination is imported as a variant
// of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.hpp"
#include "ir/result.hpp"

namespace spatialcert::ir {

enum class MscclPlacement : std::uint8_t { in_place, out_of_place };
/// The runtime whose meaning is used where they differ (LL sends without a barrier under RCCL).
enum class MscclRuntime : std::uint8_t { msccl, rccl };

/// How many transfers a step of `cnt` chunks becomes: ceil(cnt / chunks_per_transfer).
struct MscclTransfers {
  enum class Mode : std::uint8_t {
    one_per_step,   ///< the message is small: every step is one transfer
    one_per_chunk,  ///< the message is as large as can be: every chunk is a transfer of its own
    for_bytes       ///< what the runtime does at `bytes` bytes of message with default buffers
  };
  Mode mode = Mode::one_per_step;
  std::uint64_t bytes = 0;  ///< `for_bytes`: size of the logical buffer
};

struct MscclOptions {
  /// Empty: every placement the file allows.
  std::optional<MscclPlacement> placement;
  MscclRuntime runtime = MscclRuntime::msccl;
  /// Empty: `one_per_step` and `one_per_chunk` (only one of them if they are the same program).
  std::optional<MscclTransfers> transfers;
};

struct MscclVariant {
  MscclPlacement placement = MscclPlacement::out_of_place;
  MscclTransfers transfers;
  /// Chunks per transfer that this variant was built with (largest `cnt` if one transfer per step).
  std::uint32_t chunks_per_transfer = 1;
  std::string description;  ///< e.g. "in place, one transfer per step"
  Program program;          ///< validated
};

/// What a file says of itself, for messages about sizes.
struct MscclSummary {
  std::string name;
  std::string collective;  ///< normalised: allreduce, allgather, reduce_scatter, alltoall, ...
  std::string protocol;    ///< Simple, LL, LL128
  std::uint32_t ranks = 0;
  std::uint32_t chunks = 0;         ///< nchunksperloop
  std::uint32_t largest_count = 1;  ///< largest `cnt` of a step
  std::uint64_t steps = 0;
};

struct MscclImport {
  MscclSummary summary;
  std::vector<MscclVariant> variants;
};

/// Imports `path`. Refuses ill-formed files by element and line.
[[nodiscard]] Result<MscclImport> import_msccl(const std::string& path,
                                               const MscclOptions& options);
/// The same from text; `file` labels refusals and source locations.
[[nodiscard]] Result<MscclImport> import_msccl_text(std::string_view xml, const std::string& file,
                                                    const MscclOptions& options);

/// Imports one variant with exactly `chunks_per_transfer` chunks per transfer. Used to find the
/// message size at which a program stops being live.
[[nodiscard]] Result<MscclVariant> import_msccl_with_transfers(std::string_view xml,
                                                               const std::string& file,
                                                               MscclPlacement placement,
                                                               MscclRuntime runtime,
                                                               std::uint32_t chunks_per_transfer);

/// Largest logical message in bytes at which a transfer still carries `chunks_per_transfer` chunks,
/// with the runtime's default buffers.
[[nodiscard]] std::uint64_t largest_message(const MscclSummary& summary, MscclRuntime runtime,
                                            std::uint32_t chunks_per_transfer);

/// No document may be larger than this when decompressed.
inline constexpr std::uint64_t kMaximumMscclBytes = std::uint64_t{1} << 30U;

/// True if `bytes` look like an MSCCL XML document rather than a program.
[[nodiscard]] bool looks_like_msccl(std::string_view bytes);

}  // namespace spatialcert::ir
