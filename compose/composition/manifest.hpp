// Manifests of compositions: which section files become one program, and how (docs/compose.md).
//
// A manifest is a JSON object, format `spatialcert-composition`, version 1. It is read as strictly
// as program files: unknown and duplicate members, wrong types and trailing data are refused by
// file, line and path. What only the sections can show, such as names of boundaries, is not checked
// here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compose/composition/composer.hpp"
#include "compose/composition/instance.hpp"
#include "compose/composition/placement.hpp"
#include "compose/parallel/manifest.hpp"
#include "ir/program.hpp"
#include "ir/result.hpp"

namespace spatialcert::compose {

struct SectionFile {
  std::string file;   ///< as it stands in the manifest: relative to its folder, or absolute
  std::string name;   ///< what the section is to be called (rename_section); empty: as it is
  Renamings tensors;  ///< what its tensors are bound to (rebind_tensors)
};

/// Which boundaries are closed.
struct WantedPhases {
  enum class Kind : std::uint8_t {
    automatic,      ///< sections are reordered into phases, with a closed boundary between two
    all,            ///< source order, every boundary closed
    flags,          ///< source order, closed where `closed` says
    after_sections  ///< source order, closed after these sections
  };
  Kind kind = Kind::automatic;
  std::vector<bool> closed;
  std::vector<std::string> sections;
};

struct Manifest {
  std::vector<SectionFile> sections;  ///< in source order
  Placement placement;
  WantedPhases phases;
  bool separate_memory = true;
  std::string parallelism;  ///< file of a parallelism manifest, as `file`s are; empty: none
  ComposeOptions options;   ///< name, execution, carried, what to do with lost postconditions
};

/// `file` only labels refusals.
[[nodiscard]] ir::Result<Manifest> parse_manifest(std::string_view json, const std::string& file);
[[nodiscard]] ir::Result<Manifest> read_manifest(const std::string& path);

/// Path of a file that the manifest at `manifest` names.
[[nodiscard]] std::string path_of(const std::string& manifest, const std::string& file);

/// The order of performance that is wanted, for validated sections in source order. Refused: names
/// that are no sections, and flags for another number of them.
[[nodiscard]] Outcome<PhaseOrder> wanted_order(const Manifest& manifest,
                                               const std::vector<ir::Program>& sections);

/// Everything that a manifest asks of validated sections: compose them, and separate memory. With
/// a (valid) manifest of a split over chips, sections get the owners that it says, and the program
/// its full tensors (compose/parallel/attach.hpp).
[[nodiscard]] Outcome<Composed> compose_manifest(
    const Manifest& manifest, const std::vector<ir::Program>& sections,
    const std::optional<parallel::Manifest>& parallelism = std::nullopt);

}  // namespace spatialcert::compose
