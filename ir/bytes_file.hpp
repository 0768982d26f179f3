// Whole files as bytes: reading with a limit and transparent zstd, writing atomically.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/result.hpp"

namespace spatialcert::ir {

/// No input may be larger than this when decompressed (simdjson takes less than 4 GiB).
inline constexpr std::uint64_t kMaximumInputBytes = std::uint64_t{4'000'000'000};

/// The content of `path`, decompressed if it begins with the zstd magic number. Refused: missing,
/// unreadable or empty files, directories, damaged or truncated frames, trailing bytes after the
/// last frame, more than `maximum` bytes (checked while decompressing, so memory stays bounded).
[[nodiscard]] Result<std::string> read_bytes(const std::string& path,
                                             std::uint64_t maximum = kMaximumInputBytes);

/// Writes a temporary file beside `path`, syncs it and renames it over `path`. Compresses if `path`
/// ends in `.zst`.
[[nodiscard]] Status write_bytes(const std::string& path, std::string_view bytes);

}  // namespace spatialcert::ir
