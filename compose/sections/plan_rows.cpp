// Work of one op per tile: reductions, normalisations, softmax, rotations, state updates.
#include "compose/sections/tiles.hpp"

namespace spatialcert::compose::sections {
namespace {

StageIndex compute(Section& section, ir::OpKind op) {
  return section.stage(ir::StageKind::compute, op, std::string(ir::to_string(op)));
}

/// Adds `op` on `from`, and where its result goes.
void finish(Section& section, Plan& plan, TileStep& step, ir::OpKind op,
            std::vector<StorePart> from, const std::string& result, const Extent& rows,
            const Extent& cols) {
  const StorePart page = result_page(section, plan, result, rows.size, cols.size);
  step.runs.push_back({compute(section, op), std::move(from), page});
  step.save = save(section, page, result, rows, cols);
}

}  // namespace

void plan(Section& section, Plan& plan, const RowReduction& work, Interval rows, Interval cols) {
  for (const Rectangle& at : rectangles(plan, grid_of(section), rows, cols)) {
    TileStep step;
    const StorePart x =
        load(section, plan, step.loads, 0, work.operand, at.row_extent(), at.col_extent());
    finish(section, plan, step, work.op, {x}, work.result, at.row_extent(), whole(1));
    nest(plan, at, {}, {}, {{std::move(step)}});
  }
}

void plan(Section& section, Plan& plan, const Softmax& work, Interval rows, Interval cols) {
  for (const Rectangle& at : rectangles(plan, grid_of(section), rows, cols)) {
    TileStep step;
    const StorePart x =
        load(section, plan, step.loads, 0, work.operand, at.row_extent(), at.col_extent());
    finish(section, plan, step, ir::OpKind::softmax, {x}, work.result, at.row_extent(),
           at.col_extent());
    nest(plan, at, {}, {}, {{std::move(step)}});
  }
}

void plan(Section& section, Plan& plan, const RmsNorm& work, Interval rows, Interval cols) {
  for (const Rectangle& at : rectangles(plan, grid_of(section), rows, cols)) {
    TileStep step;
    std::vector<Load> held;
    const StorePart weight = load(section, plan, held, 1, work.weight, whole(1), at.col_extent());
    const StorePart x =
        load(section, plan, step.loads, 0, work.operand, at.row_extent(), at.col_extent());
    finish(section, plan, step, ir::OpKind::rmsnorm, {x, weight}, work.result, at.row_extent(),
           at.col_extent());
    nest(plan, at, std::move(held), {}, {{std::move(step)}});
  }
}

void plan(Section& section, Plan& plan, const Rope& work, Interval rows, Interval cols) {
  for (const Rectangle& at : rectangles(plan, grid_of(section), rows, cols)) {
    TileStep step;
    std::vector<Load> held, per_row;
    const auto angle = [&](std::size_t operand, const std::string& name) {
      const SectionTensor& t = section.named(name);
      const bool shared = t.rows == 1;
      return load(section, plan, shared ? held : per_row, operand, name,
                  shared ? whole(1) : at.row_extent(), whole(t.cols));
    };
    const StorePart cosine = angle(1, work.cosine);
    const StorePart sine = angle(2, work.sine);
    const StorePart x =
        load(section, plan, step.loads, 0, work.operand, at.row_extent(), at.col_extent());
    finish(section, plan, step, ir::OpKind::rope, {x, cosine, sine}, work.result, at.row_extent(),
           at.col_extent());
    nest(plan, at, std::move(held), std::move(per_row), {{std::move(step)}});
  }
}

void plan(Section& section, Plan& plan, const DeltaUpdate& work, Interval rows, Interval cols) {
  const std::uint64_t tokens = section.named(work.key).rows;
  const std::uint64_t keys = section.named(work.key).cols;
  for (const Rectangle& at : rectangles(plan, grid_of(section), rows, cols)) {
    TileStep step;
    std::vector<Load> held;
    const StorePart key = load(section, plan, held, 1, work.key, whole(tokens), whole(keys));
    const StorePart decay = load(section, plan, held, 3, work.decay, whole(tokens), whole(1));
    const StorePart rate = load(section, plan, held, 4, work.rate, whole(tokens), whole(1));
    const StorePart state =
        load(section, plan, step.loads, 0, work.state, at.row_extent(), at.col_extent());
    const StorePart value =
        load(section, plan, step.loads, 2, work.value, whole(tokens), at.col_extent());
    finish(section, plan, step, ir::OpKind::gated_delta, {state, key, value, decay, rate},
           work.state, at.row_extent(), at.col_extent());
    nest(plan, at, std::move(held), {}, {{std::move(step)}});
  }
}

}  // namespace spatialcert::compose::sections
