// SHA-256 digests.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace spatialcert::ir {

using Digest = std::array<std::uint8_t, 32>;

[[nodiscard]] Digest sha256(std::string_view bytes);
[[nodiscard]] std::string to_hex(const Digest& digest);

}  // namespace spatialcert::ir
