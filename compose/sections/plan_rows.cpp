// Work of one op per tile: reductions, normalisations, softmax, rotations, convolutions, the
// largest of a row, scaled values, state updates.
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

void plan(Section& section, Plan& plan, const Conv1d& work, Interval rows, Interval cols) {
  for (const Rectangle& at : rectangles(plan, grid_of(section), rows, cols)) {
    TileStep step;
    const auto operand = [&](std::size_t number, const std::string& name) {
      return load(section, plan, step.loads, number, name, whole(section.named(name).rows),
                  at.col_extent());
    };
    std::vector<StorePart> from{operand(0, work.operand), operand(1, work.weight)};
    if (!work.bias.empty()) from.push_back(operand(2, work.bias));
    finish(section, plan, step, ir::OpKind::conv1d, std::move(from), work.result, at.row_extent(),
           at.col_extent());
    nest(plan, at, {}, {}, {{std::move(step)}});
  }
}

void plan(Section& section, Plan& plan, const TopK& work, Interval rows, Interval cols) {
  for (const Rectangle& at : rectangles(plan, grid_of(section), rows, cols)) {
    TileStep step;
    const StorePart x =
        load(section, plan, step.loads, 0, work.operand, at.row_extent(), at.col_extent());
    finish(section, plan, step, ir::OpKind::topk, {x}, work.result, at.row_extent(),
           whole(section.named(work.result).cols));
    nest(plan, at, {}, {}, {{std::move(step)}});
  }
}

void plan(Section& section, Plan& plan, const Rescale& work, Interval rows, Interval cols) {
  const SectionTensor& values = section.named(work.operand);
  const SectionTensor& scales = section.named(work.scales);
  for (const Rectangle& at : rectangles(plan, grid_of(section), rows, cols)) {
    TileStep step;
    const StorePart x =
        load(section, plan, step.loads, 0, work.operand, at.row_extent(), at.col_extent());
    const StorePart s = load(section, plan, step.loads, 1, work.scales,
                             divided(at.row_extent(), values.rows / scales.rows),
                             divided(at.col_extent(), values.cols / scales.cols));
    finish(section, plan, step, work.op, {x, s}, work.result, at.row_extent(), at.col_extent());
    nest(plan, at, {}, {}, {{std::move(step)}});
  }
}

// A tile has all rows of one head, or some of its columns.
void plan(Section& section, Plan& plan, const DeltaUpdate& work, Interval rows, Interval cols) {
  const std::uint64_t tokens = section.named(work.key).rows / work.heads;
  const std::uint64_t keys = section.named(work.key).cols;
  for (const Rectangle& at : rectangles(plan, grid_of(section), rows, cols)) {
    TileStep step;
    std::vector<Load> per_head;
    const Extent head{at.rows.first / at.rows.size * tokens, tokens, {{at.row, tokens}}};
    const StorePart key = load(section, plan, per_head, 1, work.key, head, whole(keys));
    const StorePart decay = load(section, plan, per_head, 3, work.decay, head, whole(1));
    const StorePart rate = load(section, plan, per_head, 4, work.rate, head, whole(1));
    const StorePart state =
        load(section, plan, step.loads, 0, work.state, at.row_extent(), at.col_extent());
    const StorePart value = load(section, plan, step.loads, 2, work.value, head, at.col_extent());
    finish(section, plan, step, ir::OpKind::gated_delta, {state, key, value, decay, rate},
           work.state, at.row_extent(), at.col_extent());
    nest(plan, at, {}, std::move(per_head), {{std::move(step)}});
  }
}

}  // namespace spatialcert::compose::sections
