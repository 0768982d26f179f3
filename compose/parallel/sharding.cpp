#include "compose/parallel/sharding.hpp"

namespace spatialcert::compose::parallel {

Sharding::Sharding(const Manifest& manifest)
    : chips_(manifest.chips), owners_(manifest.owners.begin(), manifest.owners.end()) {
  for (const Quantised& weight : manifest.quantised) {
    const auto found = owners_.find(weight.weight);
    if (found == owners_.end()) continue;  // of the spine, as its values and scales
    const std::uint32_t chip = found->second;
    owners_.emplace(weight.values, chip);
    owners_.emplace(weight.scales, chip);
  }
  for (std::size_t c = 0; c < manifest.collectives.size(); ++c) {
    for (const std::string& fold : manifest.collectives[c].folds) folds_.emplace(fold, c);
  }
}

std::optional<std::uint32_t> Sharding::owner(std::string_view tensor) const {
  const auto found = owners_.find(std::string(tensor));
  if (found == owners_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::size_t> Sharding::collective_of(std::string_view fold) const {
  const auto found = folds_.find(std::string(fold));
  if (found == folds_.end()) return std::nullopt;
  return found->second;
}

}  // namespace spatialcert::compose::parallel
