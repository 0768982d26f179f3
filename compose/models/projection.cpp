// Products with weights, of which a chip has some columns or rows.
#include <fmt/format.h>

#include <limits>
#include <utility>

#include "compose/models/writer.hpp"
#include "compose/parallel/slices.hpp"

namespace spatialcert::compose::models {

void ModelWriter::quantised_weight(const std::string& weight, std::uint32_t chip,
                                   std::uint64_t rows, std::uint64_t cols, const Cut& cut,
                                   const std::vector<ir::IndexRange>& ranges,
                                   sections::Matmul& work) {
  const Quantisation& block = *configuration_.quantised;
  const std::uint64_t along = cut.axis == ir::Axis::rows ? block.rows : block.cols;
  std::vector<ir::IndexRange> blocks = ranges;
  bool whole = rows % block.rows == 0 && cols % block.cols == 0;
  for (ir::IndexRange& range : blocks) {
    whole = whole && range.begin % along == 0 && range.end % along == 0;
    range = {range.begin / along, range.end / along};
  }
  if (!whole) {
    throw ir::Refusal{
        "", 0, fmt::format("{}: quantised", model_.name),
        fmt::format("blocks that divide every part of {}, {} x {}", weight, rows, cols),
        fmt::format("{} x {}", block.rows, block.cols)};
  }
  work.b = part(weight + ".values", chip, rows, cols, cut, ranges, ir::TensorRole::weight,
                ir::DType::i8);
  work.scales =
      part(weight + ".scales", chip, rows / block.rows, cols / block.cols, cut, std::move(blocks));
  const std::string full = full_name(on(weight, chip));
  if (chips() > 1) model_.manifest.owners.emplace(full, chip);
  model_.manifest.quantised.push_back({full, full_name(work.b), full_name(work.scales)});
}

std::string ModelWriter::project(const std::string& name, const std::string& weight, Chip chip,
                                 const std::string& a, std::uint64_t rows, std::uint64_t cols,
                                 const Cut& cut, const std::vector<ir::IndexRange>& ranges,
                                 bool sum) {
  const std::string called = sum ? partial(name) : name;
  const std::uint64_t own = cut.axis == ir::Axis::rows ? cols : parallel::length(ranges);
  std::string result = activation(called, chip, 1, own, sum ? sum_type() : configuration_.dtype);
  if (sum) leave_room(result);
  sections::Matmul work;
  work.a = a;
  work.result = result;
  if (configuration_.quantised) {
    quantised_weight(weight, *chip, rows, cols, cut, ranges, work);
  } else {
    work.b = part(weight, *chip, rows, cols, cut, ranges);
  }
  section(called, chip, work);
  return result;
}

// That the sum of all chips fits its type is declared: tests choose their contents so.
void ModelWriter::leave_room(const std::string& partial_sum) {
  if (!integer() || chips() == 1) return;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / chips();
  tensors_.at(partial_sum).values = ir::ValueRange{-most, most};
}

}  // namespace spatialcert::compose::models
