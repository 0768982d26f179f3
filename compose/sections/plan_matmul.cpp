// Products, summed over tiles of the inner dimension.
//
// The first tile of the inner dimension begins the sums in the accumulator, the last one adds to
// them and writes the page that is stored, so that sums are converted once. Of several products
// (`batch`) a tile has all rows of one.
#include <algorithm>

#include "compose/sections/tiles.hpp"

namespace spatialcert::compose::sections {
namespace {

ir::DType accumulator(const Section& section, const Matmul& work) {
  if (work.accumulator) return *work.accumulator;
  const ir::DType type = section.named(work.a).dtype;
  if (type <= ir::DType::i64) return section.description->target.widest_integer;
  const ir::DType result = section.named(work.result).dtype;
  return type == ir::DType::f64 || result == ir::DType::f64 ? ir::DType::f64 : ir::DType::f32;
}

/// The tiles of one result tile.
class Products {
 public:
  Products(Section& section, Plan& plan, const Matmul& work, const Rectangle& at)
      : section_(section), plan_(plan), work_(work), at_(at) {
    const SectionTensor& b = section.named(work.b);
    one_rows_ = work.side_by_side ? b.rows : b.rows / work.batch;
    one_cols_ = work.side_by_side ? b.cols / work.batch : b.cols;
    sums_ = plan.part(Store::Kind::accumulator, "sums/" + work.result, accumulator(section, work),
                      at.rows.size, at.cols.size);
    page_ = result_page(section, plan, work.result, at.rows.size, at.cols.size);
  }

  /// `inner`: what it takes of the inner dimension.
  [[nodiscard]] Node step(const Extent& inner, bool first, bool last) {
    TileStep step;
    const bool one_for_all =
        work_.batch > 1 && (work_.one_row || section_.named(work_.a).rows < rows_of_result());
    const Extent rows = one_for_all ? whole(at_.rows.size) : at_.row_extent();
    const StorePart a = load(section_, plan_, step.loads, 0, work_.a, rows, inner);
    const StorePart b = factor(step, inner);
    Run run;
    run.stage = section_.stage(ir::StageKind::compute, ir::OpKind::matmul, "matmul");
    run.from = {a, b};
    if (!first) run.from.push_back(sums_);
    run.to = last ? page_ : sums_;
    step.runs.push_back(std::move(run));
    if (last) step.save = result();
    return {std::move(step)};
  }

 private:
  [[nodiscard]] Save result() {
    if (work_.batch == 1 || !work_.one_row) {
      return save(section_, page_, work_.result, at_.row_extent(), at_.col_extent());
    }
    Extent cols = at_.col_extent();
    cols.first += at_.rows.first / at_.rows.size * one_cols_;
    cols.terms.push_back({at_.row, one_cols_});
    return save(section_, page_, work_.result, whole(at_.rows.size), cols);
  }
  [[nodiscard]] std::uint64_t rows_of_result() const { return section_.named(work_.result).rows; }

  /// The tile of b, of the matrix that belongs to these rows; scaled, where b stands for more.
  StorePart factor(TileStep& step, const Extent& inner) {
    Extent rows = inner;
    Extent cols = at_.col_extent();
    if (work_.batch > 1) {
      Extent& moving = work_.side_by_side ? cols : rows;
      const std::uint64_t distance = work_.side_by_side ? one_cols_ : one_rows_;
      moving.first += at_.rows.first / at_.rows.size * distance;
      moving.terms.push_back({at_.row, distance});
    }
    const StorePart b = load(section_, plan_, step.loads, 1, work_.b, rows, cols);
    if (work_.scales.empty()) return b;
    const SectionTensor& values = section_.named(work_.b);
    const SectionTensor& scales = section_.named(work_.scales);
    const StorePart s =
        load(section_, plan_, step.loads, 2, work_.scales, divided(rows, values.rows / scales.rows),
             divided(cols, values.cols / scales.cols));
    Run run;
    run.stage = section_.stage(ir::StageKind::compute, ir::OpKind::dequantise, "dequantise");
    run.from = {b, s};
    run.to =
        plan_.part(Store::Kind::scratch, "scaled/" + work_.b, scales.dtype, rows.size, cols.size);
    step.runs.push_back(run);
    return run.to;
  }

  Section& section_;
  Plan& plan_;
  const Matmul& work_;
  const Rectangle& at_;
  std::uint64_t one_rows_ = 0;  ///< of one matrix of b
  std::uint64_t one_cols_ = 0;
  StorePart sums_;
  StorePart page_;
};

}  // namespace

void plan(Section& section, Plan& plan, const Matmul& work, Interval rows, Interval cols) {
  const std::uint64_t inner = section.named(work.a).cols;
  const std::uint64_t tile = std::min(section.description->tile.inner, inner);
  const std::uint64_t steps = (inner - 1) / tile + 1;
  const auto piece = [&](std::uint64_t number) {
    return Extent{number * tile, std::min(tile, inner - number * tile), {}};
  };
  for (const Rectangle& at : rectangles(plan, grid_of(section), rows, cols)) {
    Products products(section, plan, work, at);
    std::vector<Node> body;
    body.push_back(products.step(piece(0), true, steps == 1));
    if (steps > 2) {
      const Variable k = plan.variables++;
      Extent middle{tile, tile, {{k, tile}}};
      Loop loop{k, steps - 2, {}};
      loop.body.push_back(products.step(middle, false, false));
      body.push_back({std::move(loop)});
    }
    if (steps > 1) body.push_back(products.step(piece(steps - 1), false, true));
    nest(plan, at, {}, {}, std::move(body));
  }
}

}  // namespace spatialcert::compose::sections
