// The section that stands for the folds of a collective: an all-reduce over all chips.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compose/parallel/manifest.hpp"
#include "compose/parallel/refusal.hpp"
#include "compose/parallel/sharding.hpp"
#include "compose/sections/sections.hpp"
#include "ir/program.hpp"

namespace spatialcert::compose::parallel {

/// Size, place and schedule of an all-reduce, in the words of SectionDescription.
struct AllreduceDescription {
  std::string name;
  ir::Target target;
  std::uint64_t rows = 0;  ///< of every partial, and of the result
  std::uint64_t cols = 0;
  ir::DType dtype = ir::DType::f32;  ///< of the partials
  /// Of integers: what the partials are declared to be in. Partials as wide as the sum need it, if
  /// `certify` is to know that the sum has room.
  std::optional<ir::ValueRange> values;
  std::vector<ir::Site> sites = {{}};  ///< of the root chip; each does its share of the tiles
  SectionDescription::Tiling tile;
  compose::Split split = compose::Split::rows;
  std::uint32_t depth = 2;
  std::string space = "sram";
  std::string load_engine = "load";
  std::string compute_engine = "compute";
  std::string store_engine = "store";
};

/// ONE section in place of a collective's folds. It is built as a sum of C operands on the root
/// chip, and then spread: the partial of chip c is loaded there, by the load engine of the site in
/// the same column and row, and handed to the root in a FIFO that crosses chips and lies at the
/// root, where it was placed and sized. One stage of kind `allreduce` adds them up in chip order,
/// and the root stores the result, which is of the spine.
///
/// Integers are added in the target's widest integer, which is the type of the result, and are
/// exact. Floating-point numbers are
/// added in their own type; the order that the numerics claim names is chip order, whatever order
/// the folds of the source have.
///
/// Refused: a target of another number of chips than the manifest; partials that are not one of
/// every chip, in chip order; a result that a chip owns; a target without a hand-off that crosses
/// chips; integers that are wider than the widest, numbers of another type than the datapath's;
/// sites that are not of the root chip; what the builder
/// refuses.
[[nodiscard]] Outcome<ir::Program> allreduce_section(const Collective& collective,
                                                     const AllreduceDescription& description,
                                                     const Sharding& sharding);

/// The same sum on the root chip alone, for a relay (relay.hpp): what it loads are the root's own
/// copies of the partials. Needs no hand-off that crosses.
[[nodiscard]] Outcome<ir::Program> fold_section(const Collective& collective,
                                                const AllreduceDescription& description,
                                                const Sharding& sharding);

}  // namespace spatialcert::compose::parallel
