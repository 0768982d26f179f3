// Work that computes nothing: copies, gathered rows, rows appended to a cache.
#include "compose/sections/tiles.hpp"

namespace spatialcert::compose::sections {
namespace {

/// Every tile of the source to the same place of the result, `down` rows further down.
void move_tiles(Section& section, Plan& plan, const std::string& source, const std::string& result,
                std::uint64_t down, Interval rows, Interval cols) {
  for (const Rectangle& at : rectangles(plan, grid_of(section), rows, cols)) {
    TileStep step;
    const StorePart page =
        load(section, plan, step.loads, 0, source, at.row_extent(), at.col_extent());
    Extent to = at.row_extent();
    to.first += down;
    step.save = save(section, page, result, to, at.col_extent());
    nest(plan, at, {}, {}, {{std::move(step)}});
  }
}

}  // namespace

void plan(Section& section, Plan& plan, const Copy& work, Interval rows, Interval cols) {
  move_tiles(section, plan, work.source, work.result, 0, rows, cols);
}

void plan(Section& section, Plan& plan, const AppendRows& work, Interval rows, Interval cols) {
  move_tiles(section, plan, work.source, work.cache, work.position, rows, cols);
}

// A row and a column of equal length are the same bytes.
void plan(Section& section, Plan& plan, const AppendColumn& work, Interval rows, Interval cols) {
  for (const Rectangle& at : rectangles(plan, grid_of(section), rows, cols)) {
    TileStep step;
    const StorePart page =
        load(section, plan, step.loads, 0, work.source, at.row_extent(), at.col_extent());
    plan.stores[page.store].shapeless = true;
    step.save = save(section, page, work.cache, at.col_extent(), {work.position, 1, {}});
    nest(plan, at, {}, {}, {{std::move(step)}});
  }
}

// The rows that stay have been loaded before their places are stored to: the store engine takes
// what the load engine gives.
void plan(Section& section, Plan& plan, const ShiftRows& work, Interval rows, Interval cols) {
  const std::uint64_t fresh = section.named(work.source).rows;
  const std::uint64_t kept = section.named(work.state).rows - fresh;
  for (const Rectangle& at : rectangles(plan, grid_of(section), rows, cols)) {
    const auto move = [&](std::size_t operand, const std::string& source, Extent from, Extent to) {
      TileStep step;
      const StorePart page =
          load(section, plan, step.loads, operand, source, std::move(from), at.col_extent());
      step.save = save(section, page, work.state, std::move(to), at.col_extent());
      return Node{std::move(step)};
    };
    std::vector<Node> body;
    body.push_back(move(0, work.state, {fresh, kept, {}}, whole(kept)));
    body.push_back(move(1, work.source, whole(fresh), {kept, fresh, {}}));
    nest(plan, at, {}, {}, std::move(body));
  }
}

void plan(Section& section, Plan& plan, const RepeatRows& work, Interval rows, Interval cols) {
  const std::uint64_t length = section.named(work.source).rows;
  const std::uint64_t copies = section.named(work.result).rows / length;
  for (const Rectangle& at : rectangles(plan, grid_of(section), rows, cols)) {
    TileStep step;
    const StorePart page =
        load(section, plan, step.loads, 0, work.source, at.row_extent(), at.col_extent());
    const Variable copy = plan.variables++;
    Extent to = at.row_extent();
    to.terms.push_back({copy, length});
    step.save = save(section, page, work.result, to, at.col_extent());
    Loop loop{copy, copies, {}};
    loop.body.push_back({std::move(step)});
    std::vector<Node> body;
    body.push_back({std::move(loop)});
    nest(plan, at, {}, {}, std::move(body));
  }
}

// Which row of the table is read is known only when the index is, so a load reads all of them.
void plan(Section& section, Plan& plan, const GatherRows& work, Interval rows, Interval cols) {
  for (const Rectangle& at : rectangles(plan, grid_of(section), rows, cols)) {
    TileStep step;
    Load gathered;
    gathered.stage = section.stage(ir::StageKind::load, ir::OpKind::gather, "gather/" + work.table);
    gathered.from = {
        {section.tensor(work.table), whole(section.named(work.table).rows), at.col_extent()},
        {section.tensor(work.index), at.row_extent(), whole(1)}};
    gathered.to = plan.part(Store::Kind::stream, "in0/" + work.table,
                            section.named(work.table).dtype, at.rows.size, at.cols.size);
    step.save = save(section, gathered.to, work.result, at.row_extent(), at.col_extent());
    step.loads.push_back(std::move(gathered));
    nest(plan, at, {}, {}, {{std::move(step)}});
  }
}

}  // namespace spatialcert::compose::sections
