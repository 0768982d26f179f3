// Whole files as bytes: reading with a limit and transparent zstd, writing atomically.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/result.hpp"

namespace spatialcert::ir {

/// No input may be larger than this when decompressed (simdjson takes less than 4 GiB).
inline constexpr std::uint64_t kMaximumInputBytes = std::uint64_t{4'000'000'000};

/// Looks at the beginning of a content before the rest of it is read, so that gigabytes of
/// something else cost neither time nor memory. Returns how many bytes such a content may have, or
/// why it need not be read on. A beginning that may become right is none of its business.
using FirstLook = Result<std::uint64_t> (*)(std::string_view beginning, const std::string& path);
/// Contents up to this size are read without a look.
inline constexpr std::size_t kFirstLookBytes = std::size_t{1} << 16U;

/// The content of `path`, decompressed if it begins with the zstd magic number. Refused: missing,
/// unreadable or empty files, directories, damaged or truncated frames, trailing bytes after the
/// last frame, more than `maximum` bytes (checked while decompressing, so memory stays bounded to
/// twice that), and what `look` refuses.
[[nodiscard]] Result<std::string> read_bytes(const std::string& path,
                                             std::uint64_t maximum = kMaximumInputBytes,
                                             FirstLook look = nullptr);

/// Offset of the first byte that is no white space of JSON and XML; the size if there is none.
[[nodiscard]] std::size_t first_visible(std::string_view text);

/// Writes a temporary file beside `path`, syncs it and renames it over `path`. Compresses if `path`
/// ends in `.zst`. Whoever reads `path`, during or after an interruption at any moment, finds the
/// whole old content or the whole new one (an interruption may leave the temporary file). Devices
/// and pipes are written to instead.
[[nodiscard]] Status write_bytes(const std::string& path, std::string_view bytes);
/// The same, never compressed, whatever its name.
[[nodiscard]] Status write_exact_bytes(const std::string& path, std::string_view bytes);

}  // namespace spatialcert::ir
