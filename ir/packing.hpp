// Bytes in one zstd frame, as a part of a file. For whole compressed files see ir/bytes_file.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spatialcert::ir {

inline constexpr int kUsualLevel = 3;

/// One zstd frame that carries its content's size and a checksum. Equal bytes, level and version of
/// zstd give equal frames.
[[nodiscard]] std::string pack(std::string_view bytes, int level);

/// What `frame` holds if it is exactly one sound frame of exactly `size` bytes; otherwise nothing.
/// Never takes more memory than `size` bytes and a constant, and takes none if `frame` is too short
/// for them: zstd expands no frame by more than kMostExpansion.
[[nodiscard]] std::optional<std::string> unpack(std::string_view frame, std::uint64_t size);
/// A block of 4 bytes gives at most 128 KiB.
inline constexpr std::uint64_t kMostExpansion = std::uint64_t{1} << 15U;

}  // namespace spatialcert::ir
