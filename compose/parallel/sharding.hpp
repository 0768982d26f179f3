// A manifest by name: whose a tensor is, where a name is computed, what is a fold of a collective.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "compose/parallel/manifest.hpp"

namespace spatialcert::compose::parallel {

/// Where what belongs to nobody is computed.
inline constexpr std::uint32_t kRootChip = 0;

class Sharding {
 public:
  /// Of a manifest that `validate` accepts; nothing of it is kept. Linear.
  explicit Sharding(const Manifest& manifest);

  [[nodiscard]] std::uint32_t chips() const { return chips_; }
  /// None: the tensor is of the spine. Values and scales of a quantised weight are where it is.
  [[nodiscard]] std::optional<std::uint32_t> owner(std::string_view tensor) const;
  /// The chip that computes a name: its owner, or the root for the spine.
  [[nodiscard]] std::uint32_t chip_running(std::string_view name) const {
    return owner(name).value_or(kRootChip);
  }
  /// Position of the collective of which the statement that binds this name is a fold.
  [[nodiscard]] std::optional<std::size_t> collective_of(std::string_view fold) const;

 private:
  std::uint32_t chips_;
  std::unordered_map<std::string, std::uint32_t> owners_;
  std::unordered_map<std::string, std::size_t> folds_;
};

}  // namespace spatialcert::compose::parallel
