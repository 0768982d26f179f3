// The configurations of the folder, which the build has made part of the library.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compose/models/configuration.hpp"
#include "compose/models/embedded.hpp"
#include "ir/require.hpp"

namespace spatialcert::compose::models {
namespace {

/// Insertions, deletions and replacements between two words [Levenshtein 1966].
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> known_models() {
  std::vector<std::string> out;
  for (const EmbeddedFile& file : embedded_configurations()) out.emplace_back(file.name);
  std::sort(out.begin(), out.end());
  return out;
}

ir::Result<Configuration> known_model(std::string_view name) {
  for (const EmbeddedFile& file : embedded_configurations()) {
    if (file.name != name) continue;
    auto configuration = parse_configuration(file.text, fmt::format("{}.json", file.name));
    SPATIALCERT_REQUIRE(configuration.has_value(), "the library's own configurations are good");
    return configuration;
  }
  const std::vector<std::string> known = known_models();
  const auto nearest = std::min_element(
      known.begin(), known.end(),
      [&](const auto& a, const auto& b) { return distance(a, name) < distance(b, name); });
  return ir::Refusal{"", 0, "model",
                     fmt::format("one of {}; did you mean {}?", fmt::join(known, ", "), *nearest),
                     std::string(name)};
}

}  // namespace spatialcert::compose::models
