#include "compose/sections/tiles.hpp"

#include <fmt/format.h>

namespace spatialcert::compose::sections {

std::vector<Rectangle> rectangles(Plan& plan, const Grid& grid, Interval rows, Interval cols) {
  std::vector<Rectangle> out;
  for (const TileRun& r : runs_of(rows, grid.tile_rows)) {
    for (const TileRun& c : runs_of(cols, grid.tile_cols)) {
      out.push_back({r, c, plan.variables, plan.variables + 1});
      plan.variables += 2;
    }
  }
  return out;
}

StorePart load(Section& section, Plan& plan, std::vector<Load>& loads, std::size_t operand,
               const std::string& tensor, Extent rows, Extent cols) {
  const std::uint32_t id = section.tensor(tensor);
  const StorePart to = plan.part(Store::Kind::stream, fmt::format("in{}/{}", operand, tensor),
                                 section.tensors[id].dtype, rows.size, cols.size);
  loads.push_back({section.load_stage(tensor), {{id, std::move(rows), std::move(cols)}}, to});
  return to;
}

StorePart result_page(const Section& section, Plan& plan, const std::string& tensor,
                      std::uint64_t rows, std::uint64_t cols) {
  return plan.part(Store::Kind::stream, "out/" + tensor, section.named(tensor).dtype, rows, cols);
}

Save save(Section& section, StorePart from, const std::string& tensor, Extent rows, Extent cols) {
  return {section.store_stage(tensor),
          from,
          {section.tensor(tensor), std::move(rows), std::move(cols)}};
}

void nest(Plan& plan, const Rectangle& rectangle, std::vector<Load> held, std::vector<Load> per_row,
          std::vector<Node> body) {
  std::vector<Node> nodes;
  nodes.push_back({Loop{rectangle.col, rectangle.cols.trips, std::move(body)}});
  const auto hold = [&](std::vector<Load> loads) {
    if (loads.empty()) return;
    Hold inside{std::move(loads), std::move(nodes)};
    nodes.clear();
    nodes.push_back({std::move(inside)});
  };
  hold(std::move(per_row));
  Loop rows{rectangle.row, rectangle.rows.trips, std::move(nodes)};
  nodes.clear();
  nodes.push_back({std::move(rows)});
  hold(std::move(held));
  for (Node& node : nodes) plan.body.push_back(std::move(node));
}

}  // namespace spatialcert::compose::sections
