// Data files that the build has made part of the library.
#pragma once

#include <string_view>
#include <vector>

namespace spatialcert::compose::models {

struct EmbeddedFile {
  std::string_view name;  ///< without folder and extension
  std::string_view text;
};

[[nodiscard]] const std::vector<EmbeddedFile>& embedded_configurations();

}  // namespace spatialcert::compose::models
