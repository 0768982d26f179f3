// Tiles and sites of a section, from its shapes and the hardware.
#pragma once

#include <functional>
#include <string>

#include "compose/models/model.hpp"
#include "compose/sections/sections.hpp"

namespace spatialcert::compose::models {

[[nodiscard]] ir::Target target_of(const Configuration& configuration, const Hardware& hardware);

struct Tiling {
  SectionDescription::Tiling tile;
  Split split = Split::rows;
};
using TensorOf = std::function<const SectionTensor&(const std::string&)>;

/// Every site gets about as much, in tiles that are as large as a page may be.
[[nodiscard]] Tiling tiling_of(const sections::Work& work, const TensorOf& tensor,
                               const Hardware& hardware);
/// The same for elements of `rows` x `cols`, of which tiles are cut either way.
[[nodiscard]] Tiling tiling_of(std::uint64_t rows, std::uint64_t cols, std::uint64_t element_bytes,
                               const Hardware& hardware);

}  // namespace spatialcert::compose::models
