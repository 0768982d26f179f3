// Words that refusals share.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

namespace spatialcert::compose::parallel {

[[nodiscard]] inline std::string owner_text(std::optional<std::uint32_t> owner) {
  return owner ? fmt::format("chip {}", *owner) : "the spine";
}

}  // namespace spatialcert::compose::parallel
