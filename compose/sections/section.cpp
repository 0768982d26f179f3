#include "compose/sections/section.hpp"

#include <algorithm>

#include "ir/require.hpp"
#include "ir/validate.hpp"

namespace spatialcert::compose {
namespace sections {

std::uint32_t Section::tensor(std::string_view name) const {
  const auto at = std::find_if(tensors.begin(), tensors.end(),
                               [&](const SectionTensor& t) { return t.name == name; });
  SPATIALCERT_REQUIRE(at != tensors.end(), "the tensors of the work are known");
  return static_cast<std::uint32_t>(at - tensors.begin());
}

StageIndex Section::stage(ir::StageKind kind, ir::OpKind op, const std::string& name,
                          double scale) {
  const std::string full = description->name + "/" + name;
  const auto at = std::find_if(stages.begin(), stages.end(),
                               [&](const ir::Stage& s) { return s.name == full; });
  if (at != stages.end()) return static_cast<StageIndex>(at - stages.begin());
  stages.push_back({full, kind, op, scale, ir::SectionId(0U)});
  return static_cast<StageIndex>(stages.size() - 1);
}

StageIndex Section::load_stage(std::string_view tensor_name) {
  return stage(ir::StageKind::load, ir::OpKind::copy, "load/" + std::string(tensor_name));
}

StageIndex Section::store_stage(std::string_view tensor_name) {
  return stage(ir::StageKind::store, ir::OpKind::copy, "store/" + std::string(tensor_name));
}

namespace {

/// Size of what is shared out, and what tiles cannot cut.
struct Extents {
  const Section& section;
  Grid operator()(const Matmul& w) const {
    Grid grid = of(w.result);
    if (w.batch > 1 && w.one_row) {
      grid.tile_rows = grid.rows;
      grid.rows *= w.batch;
      grid.cols /= w.batch;
      grid.tile_cols = std::min(grid.tile_cols, grid.cols);
    } else if (w.batch > 1) {
      grid.tile_rows = grid.rows / w.batch;
    }
    return grid;
  }
  Grid operator()(const Elementwise& w) const { return of(w.result); }
  Grid operator()(const RowReduction& w) const { return of(w.operand, true); }
  Grid operator()(const RmsNorm& w) const { return of(w.operand, true); }
  Grid operator()(const Softmax& w) const { return of(w.operand, true); }
  Grid operator()(const Rope& w) const {
    Grid grid = of(w.operand);
    grid.tile_cols = 2 * section.named(w.cosine).cols;
    return grid;
  }
  Grid operator()(const GatherRows& w) const { return of(w.result); }
  Grid operator()(const AppendRows& w) const { return of(w.source); }
  Grid operator()(const AppendColumn& w) const { return of(w.source, false, true); }
  Grid operator()(const ShiftRows& w) const { return of(w.state, false, true); }
  Grid operator()(const RepeatRows& w) const { return of(w.source); }
  Grid operator()(const Conv1d& w) const { return of(w.result, false, true); }
  Grid operator()(const TopK& w) const { return of(w.operand, true); }
  Grid operator()(const Rescale& w) const { return of(w.result); }
  Grid operator()(const DeltaUpdate& w) const {
    Grid grid = of(w.state, false, w.heads == 1);
    grid.tile_rows = grid.rows / w.heads;
    return grid;
  }
  Grid operator()(const Copy& w) const { return of(w.source); }

  [[nodiscard]] Grid of(const std::string& name, bool whole_rows = false,
                        bool whole_columns = false) const {
    const SectionTensor& t = section.named(name);
    const auto& tile = section.description->tile;
    return {t.rows,
            t.cols,
            whole_columns ? t.rows : std::min(tile.rows, t.rows),
            whole_rows ? t.cols : std::min(tile.cols, t.cols),
            whole_rows,
            whole_columns};
  }
};

}  // namespace

Grid grid_of(const Section& section) {
  return std::visit(Extents{section}, section.description->work);
}

void plan_site(Section& section, std::uint64_t site) {
  const SectionDescription& about = *section.description;
  const Grid grid = grid_of(section);
  Interval rows{0, grid.rows};
  Interval cols{0, grid.cols};
  const std::uint64_t shares = about.sites.size();
  if (about.split == Split::rows) {
    rows = share_of(grid.rows, grid.tile_rows, site, shares);
  } else {
    cols = share_of(grid.cols, grid.tile_cols, site, shares);
  }
  Plan& of_site = section.plans.emplace_back();
  if (rows.begin == rows.end || cols.begin == cols.end) return;
  std::visit([&](const auto& work) { plan(section, of_site, work, rows, cols); }, about.work);
}

}  // namespace sections

ir::Result<ir::Program> build_section(const SectionDescription& description) {
  try {
    sections::Section section = sections::checked(description);
    for (std::uint64_t s = 0; s < description.sites.size(); ++s) sections::plan_site(section, s);
    ir::Program program = sections::written_out(section);
    if (const ir::Status status = ir::validate(program)) return *status;
    return program;
  } catch (ir::Refusal& refusal) {
    return std::move(refusal);
  }
}

}  // namespace spatialcert::compose
