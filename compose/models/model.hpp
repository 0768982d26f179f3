// A decoding step of a whole model, for one token, as sections: split over chips, tiled for a mesh,
// to be composed into one program (docs/models.md).
//
// The split is Megatron-LM's [Shoeybi et al. 2019]: projections into heads and columns of the
// feed-forward network belong to chips, and what comes out of each block is a partial sum of every
// chip, which an all-reduce puts on the spine. The same generators write the unsharded model, which
// is the one for one chip.
//
// Promised: sections that are equal in two layers are one section that is used twice; every tensor
// that a chip owns and that comes from outside is a part of a full tensor of the manifest. Not
// promised: that the program certifies; that is for `certify` to say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compose/composition/instance.hpp"
#include "compose/composition/manifest.hpp"
#include "compose/models/configuration.hpp"
#include "compose/parallel/manifest.hpp"
#include "ir/program.hpp"
#include "ir/result.hpp"

namespace spatialcert::compose::models {

/// What the model runs on, and in how small pieces.
struct Hardware {
  std::uint32_t chips = 1;
  std::uint32_t mesh_width = 4;
  std::uint32_t mesh_height = 4;
  std::uint64_t sram_bytes = 1'572'864;  ///< per site
  std::uint64_t page_bytes = 393'216;    ///< about the most that a tile may have
  std::uint64_t least_elements = 512;    ///< of a row: fewer are not shared out between sites
  std::uint32_t depth = 2;               ///< pages per hand-off
  /// Weights lie in panels of so many columns, one below the other, so that a tile is one stretch
  /// of memory; or of half, a quarter as many, where a chip would not have whole ones. 0: row by
  /// row, as what has no whole ones at all.
  std::uint64_t panel_columns = 64;
};

struct ModelOptions {
  Hardware hardware;
  std::optional<std::uint64_t> layers;  ///< only the first ones; none: all
  std::uint64_t context = 4096;         ///< positions that caches have room for
  std::uint64_t position = 0;           ///< of the token; it attends to so many before it
  bool automatic_phases = true;         ///< else source order with every boundary closed
};

/// A section of the model: one of the distinct ones, under a name and on tensors of its own.
struct SectionUse {
  std::uint32_t section = 0;
  std::string name;
  Renamings tensors;
};

struct Model {
  std::string name;
  std::vector<ir::Program> sections;  ///< distinct ones
  std::vector<std::string> files;     ///< names for them, without extension
  std::vector<SectionUse> uses;       ///< in source order
  std::vector<std::string> carried;   ///< caches and states
  bool automatic_phases = true;
  parallel::Manifest manifest;
};

/// Refused: chips that do not divide what they are to share out (heads, columns, experts,
/// vocabulary), a position outside the context, more layers than there are, tiles that do not fit
/// the memory of a site.
[[nodiscard]] ir::Result<Model> generate_model(const Configuration& configuration,
                                               const ModelOptions& options);

/// The program: all sections composed, and the full tensors of the manifest attached.
[[nodiscard]] ir::Result<ir::Program> composed(const Model& model);

/// Writes the distinct sections, `composition.json` and, if there are several chips,
/// `parallelism.json` into a folder, which is made. What `spatialcert compose` makes of them is the
/// same program.
[[nodiscard]] ir::Status write_sections(const Model& model, const std::string& folder);

}  // namespace spatialcert::compose::models
