// Helpers of the plans: rectangles of equal tiles, and the parts that a tile takes of every tensor.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compose/sections/section.hpp"

namespace spatialcert::compose::sections {

/// Tiles of one size, in rows and columns of loops.
struct Rectangle {
  TileRun rows;
  TileRun cols;
  Variable row = 0;
  Variable col = 0;

  [[nodiscard]] Extent row_extent() const { return {rows.first, rows.size, {{row, rows.size}}}; }
  [[nodiscard]] Extent col_extent() const { return {cols.first, cols.size, {{col, cols.size}}}; }
};

/// The same of something that has one row (column) per `block` of these; all numbers are multiples.
[[nodiscard]] inline Extent divided(Extent extent, std::uint64_t block) {
  extent.first /= block;
  extent.size /= block;
  for (Term& term : extent.terms) term.step /= block;
  return extent;
}
[[nodiscard]] inline Extent whole(std::uint64_t size) { return {0, size, {}}; }

/// The rectangles that a share of the grid consists of: at most one of full tiles and three of
/// smaller ones at the edges.
[[nodiscard]] std::vector<Rectangle> rectangles(Plan& plan, const Grid& grid, Interval rows,
                                                Interval cols);

/// Appends the load of a part of a tensor, operand number `operand` of the work.
StorePart load(Section& section, Plan& plan, std::vector<Load>& loads, std::size_t operand,
               const std::string& tensor, Extent rows, Extent cols);
/// A page for what is stored to a part of a tensor.
StorePart result_page(const Section& section, Plan& plan, const std::string& tensor,
                      std::uint64_t rows, std::uint64_t cols);
[[nodiscard]] Save save(Section& section, StorePart from, const std::string& tensor, Extent rows,
                        Extent cols);

/// for every row of tiles { per_row; for every column { body } }, all inside `held`. Loads that are
/// empty hold nothing.
void nest(Plan& plan, const Rectangle& rectangle, std::vector<Load> held, std::vector<Load> per_row,
          std::vector<Node> body);

}  // namespace spatialcert::compose::sections
