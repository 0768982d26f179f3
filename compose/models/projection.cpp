// Products with weights: where the weights lie, and what a chip has of them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compose/models/writer.hpp"
#include "compose/parallel/slices.hpp"

namespace spatialcert::compose::models {
namespace {

/// Panels that do not fit are halved down to this width.
constexpr std::uint64_t kLeastPanel = 8;

}  // namespace

// In panels a weight of K rows is panel after panel, of K rows each. Columns that belong to a chip
// are whole panels, which are rows of the tensor then; and are not summed up over, so it is
// stacked. Rows that belong to a chip are rows in every panel.
ModelWriter::Layout ModelWriter::layout(std::uint64_t rows, std::uint64_t cols, const Cut& cut,
                                        const std::vector<ir::IndexRange>& ranges) const {
  const bool by_rows = cut.axis == ir::Axis::rows;
  const auto fits = [&](std::uint64_t width) {
    if (by_rows) return cols % width == 0;
    return std::all_of(ranges.begin(), ranges.end(), [&](const ir::IndexRange& r) {
      return r.begin % width == 0 && r.end % width == 0;
    });
  };
  std::uint64_t width = options_.hardware.panel_columns;
  while (width > kLeastPanel && !fits(width)) width /= 2;
  const std::uint64_t own = by_rows ? cols : parallel::length(ranges);
  if (width == 0 || !fits(width)) return {rows, cols, cut, ranges, 1};
  Layout out{rows * (cols / width), width, cut, {}, own / width};
  out.cut.axis = ir::Axis::rows;
  if (!by_rows) {
    out.cut.stacked = true;
    for (const ir::IndexRange& r : ranges) {
      out.ranges.push_back({r.begin / width * rows, r.end / width * rows});
    }
    return out;
  }
  for (std::uint64_t panel = 0; panel < out.panels; ++panel) {
    for (const ir::IndexRange& r : ranges) {
      const std::uint64_t begin = panel * rows + r.begin, end = panel * rows + r.end;
      if (!out.ranges.empty() && out.ranges.back().end == begin) {
        out.ranges.back().end = end;
      } else {
        out.ranges.push_back({begin, end});
      }
    }
  }
  return out;
}

std::optional<ModelWriter::Layout> ModelWriter::blocks(const Layout& whole,
                                                       const Quantisation& block) {
  if (whole.rows % block.rows != 0 || whole.cols % block.cols != 0) return std::nullopt;
  Layout out = whole;
  out.rows /= block.rows;
  out.cols /= block.cols;
  const std::uint64_t along = whole.cut.axis == ir::Axis::rows ? block.rows : block.cols;
  for (ir::IndexRange& range : out.ranges) {
    if (range.begin % along != 0 || range.end % along != 0) return std::nullopt;
    range = {range.begin / along, range.end / along};
  }
  return out;
}

void ModelWriter::quantised_weight(const std::string& weight, std::uint32_t chip,
                                   const Layout& whole, sections::Matmul& work) {
  const auto scales = blocks(whole, *configuration_.quantised);
  if (!scales) {
    throw ir::Refusal{
        "", 0, fmt::format("{}: quantised", model_.name),
        fmt::format("blocks that divide every part of {}, {} x {}", weight, whole.rows, whole.cols),
        fmt::format("{} x {}", configuration_.quantised->rows, configuration_.quantised->cols)};
  }
  work.b = part(weight + ".values", chip, whole.rows, whole.cols, whole.cut, whole.ranges,
                ir::TensorRole::weight, ir::DType::i8);
  work.scales =
      part(weight + ".scales", chip, scales->rows, scales->cols, scales->cut, scales->ranges);
  const std::string full = full_name(on(weight, chip));
  if (chips() > 1) model_.manifest.owners.emplace(full, chip);
  model_.manifest.quantised.push_back({full, full_name(work.b), full_name(work.scales)});
}

std::string ModelWriter::project(const std::string& name, const std::string& weight, Chip chip,
                                 const std::string& a, std::uint64_t rows, std::uint64_t cols,
                                 const Cut& cut, const std::vector<ir::IndexRange>& ranges,
                                 bool sum) {
  const Layout at = layout(rows, cols, cut, ranges);
  const std::string called = sum ? partial(name) : name;
  const std::uint64_t own = cut.axis == ir::Axis::rows ? cols : parallel::length(ranges);
  std::string result = activation(called, chip, 1, own, sum ? sum_type() : configuration_.dtype);
  sections::Matmul work;
  work.a = a;
  work.batch = at.panels;
  work.one_row = at.panels > 1;
  work.result = result;
  if (configuration_.quantised) {
    quantised_weight(weight, *chip, at, work);
  } else {
    work.b = part(weight, *chip, at.rows, at.cols, at.cut, at.ranges);
  }
  section(called, chip, work);
  return result;
}

}  // namespace spatialcert::compose::models
