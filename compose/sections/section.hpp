// A section while it is built: its tensors, its stages, the plan of every site.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compose/sections/grid.hpp"
#include "compose/sections/plan.hpp"
#include "compose/sections/sections.hpp"

namespace spatialcert::compose::sections {

struct Section {
  const SectionDescription* description = nullptr;
  std::vector<SectionTensor> tensors;  ///< those that the work names and what they are views of
  std::vector<char> read;              ///< per tensor
  std::vector<char> written;
  std::vector<char> written_in_part;
  std::vector<ir::Stage> stages;
  std::vector<Plan> plans;  ///< per site
  std::string approximate;  ///< why the numbers are not exact; empty if they are

  [[nodiscard]] std::uint32_t tensor(std::string_view name) const;
  [[nodiscard]] const SectionTensor& named(std::string_view name) const {
    return tensors[tensor(name)];
  }
  /// The stage of that name; added if there is none.
  StageIndex stage(ir::StageKind kind, ir::OpKind op, const std::string& name, double scale = 1);
  /// The load, or the store, of a tensor.
  StageIndex load_stage(std::string_view tensor_name);
  StageIndex store_stage(std::string_view tensor_name);
};

/// Throws ir::Refusal for everything that docs/sections.md lists but the memory. Fills tensors,
/// `read` and `written`.
[[nodiscard]] Section checked(const SectionDescription& description);

/// The plan of site number `site`; empty if it has no share.
void plan_site(Section& section, std::uint64_t site);

/// Throws ir::Refusal if a memory or the semaphores of a site do not suffice.
[[nodiscard]] ir::Program written_out(const Section& section);

/// The kinds of work, each for its share of the grid.
void plan(Section& section, Plan& plan, const Matmul& work, Interval rows, Interval cols);
void plan(Section& section, Plan& plan, const Elementwise& work, Interval rows, Interval cols);
void plan(Section& section, Plan& plan, const RowReduction& work, Interval rows, Interval cols);
void plan(Section& section, Plan& plan, const RmsNorm& work, Interval rows, Interval cols);
void plan(Section& section, Plan& plan, const Softmax& work, Interval rows, Interval cols);
void plan(Section& section, Plan& plan, const Rope& work, Interval rows, Interval cols);
void plan(Section& section, Plan& plan, const GatherRows& work, Interval rows, Interval cols);
void plan(Section& section, Plan& plan, const AppendRows& work, Interval rows, Interval cols);
void plan(Section& section, Plan& plan, const AppendColumn& work, Interval rows, Interval cols);
void plan(Section& section, Plan& plan, const ShiftRows& work, Interval rows, Interval cols);
void plan(Section& section, Plan& plan, const RepeatRows& work, Interval rows, Interval cols);
void plan(Section& section, Plan& plan, const Conv1d& work, Interval rows, Interval cols);
void plan(Section& section, Plan& plan, const TopK& work, Interval rows, Interval cols);
void plan(Section& section, Plan& plan, const Rescale& work, Interval rows, Interval cols);
void plan(Section& section, Plan& plan, const DeltaUpdate& work, Interval rows, Interval cols);
void plan(Section& section, Plan& plan, const Copy& work, Interval rows, Interval cols);

/// The grid that is shared out: size of the result (or of what is moved), and of its tiles.
struct Grid {
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  std::uint64_t tile_rows = 0;
  std::uint64_t tile_cols = 0;
  bool whole_rows = false;     ///< tiles cannot be narrower than the tensor
  bool whole_columns = false;  ///< nor lower
};
[[nodiscard]] Grid grid_of(const Section& section);

}  // namespace spatialcert::compose::sections
