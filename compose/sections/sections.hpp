// The section builder: a tiled, placed, sized and scheduled section from a description of what it
// computes (docs/sections.md).
//
// The result is a program of exactly one section: on every site engine programs that load tiles,
// compute and store, handing pages over in FIFOs or in buffers with semaphores, as loops with
// affine regions; buffers laid out from the base of each site's memory. What the section reads is
// init `external`, so that it certifies on its own. Names are qualified by the section's
// (`NAME/...`), save those of tensors, which sections share by name.
//
// What is promised: the program is valid, and the builder means it to certify; that it does is for
// `certify` to say. The values are those of docs/machine.md, tile by tile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compose/sections/expression.hpp"
#include "ir/program.hpp"
#include "ir/result.hpp"

namespace spatialcert::compose {

namespace sections {

/// result = a b, accumulated over tiles of the inner dimension. Of real numbers the result may also
/// be f32 or f64, whatever the target computes in: sums as they are accumulated.
struct Matmul {
  std::string a;
  std::string b;
  std::string result;
  /// Of the partial sums; by default the target's widest integer, or f32 (f64 of f64).
  std::optional<ir::DType> accumulator = {};
  /// So many products: the result is that of the first, below it that of the second, and so on. a
  /// stands in the same way, or is one matrix for all.
  std::uint64_t batch = 1;
  /// The matrices of b stand side by side, not one below the other.
  bool side_by_side = false;
  /// Of every matrix of b only as many of the first rows and columns are used as the others have: a
  /// cache that is filled so far.
  bool prefix = false;
  /// b is of i8 and stands for b times these scales, of blocks of equal size; empty: it is not.
  std::string scales = {};
  /// The products stand side by side: one product with a b that lies in panels of columns, one
  /// below the other. a is one for all then.
  bool one_row = false;
};
/// The result may be one of the operands of its own shape: the tensor is then updated in place.
struct Elementwise {
  Expression value;
  std::string result;
};
/// `sum` or `max` of every row: m x n becomes m x 1.
struct RowReduction {
  ir::OpKind op = ir::OpKind::sum;
  std::string operand;
  std::string result;
};
/// weight is 1 x n. May be in place, as Softmax and Rope.
struct RmsNorm {
  std::string operand;
  std::string weight;
  std::string result;
};
struct Softmax {
  std::string operand;
  std::string result;
};
/// Turns every run of 2h columns by the angles of its row; cosine and sine are m x h or 1 x h.
struct Rope {
  std::string operand;
  std::string cosine;
  std::string sine;
  std::string result;
};
/// Row r of the result is row index[r] of the table; the index is r x 1.
struct GatherRows {
  std::string table;
  std::string index;
  std::string result;
};
/// Writes the rows of the source to the cache, from row `position` on.
struct AppendRows {
  std::string source;
  std::string cache;
  std::uint64_t position = 0;
};
/// Writes the source, 1 x d, to column `position` of the cache, d x n: keys as a matmul wants them.
struct AppendColumn {
  std::string source;
  std::string cache;
  std::uint64_t position = 0;
};
/// The state gives up its first rows, moves up, and takes the rows of the source at its end: the
/// last inputs, which a convolution wants.
struct ShiftRows {
  std::string source;  ///< r x n
  std::string state;   ///< s x n, s > r
};
/// The rows of the source, again and again: m x n becomes c m x n.
struct RepeatRows {
  std::string source;
  std::string result;
};
/// A convolution of every column on its own: m x n with weights k x n becomes (m - k + 1) x n.
struct Conv1d {
  std::string operand;
  std::string weight;
  std::string result;
  std::string bias = {};  ///< 1 x n; empty: none
};
/// The k largest of every row: m x n becomes m x k, their columns if the result is of integers,
/// themselves if it is of real numbers.
struct TopK {
  std::string operand;
  std::string result;
};
/// `quantise`: real numbers divided by their scales become integers; `dequantise`: the reverse.
/// Rows and columns of the scales divide those of the values: each is that of a block.
struct Rescale {
  ir::OpKind op = ir::OpKind::dequantise;
  std::string operand;
  std::string scales;
  std::string result;
};
/// One step of the gated delta rule per row of key and value, on the state in place. Several heads
/// stand one below the other in every operand; the shapes are those of one.
struct DeltaUpdate {
  std::string state;  ///< d x e
  std::string key;    ///< t x d
  std::string value;  ///< t x e
  std::string decay;  ///< t x 1
  std::string rate;   ///< t x 1
  std::uint64_t heads = 1;
};
struct Copy {
  std::string source;
  std::string result;
};

using Work =
    std::variant<Matmul, Elementwise, RowReduction, RmsNorm, Softmax, Rope, GatherRows, AppendRows,
                 AppendColumn, ShiftRows, RepeatRows, Conv1d, TopK, Rescale, DeltaUpdate, Copy>;

}  // namespace sections

struct SectionTensor {
  std::string name;
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  ir::DType dtype = ir::DType::f32;
  /// Of what the section reads and does not write: `input` or `weight`. What it writes becomes
  /// `output`, what it reads and writes, or writes in part, `state`.
  ir::TensorRole role = ir::TensorRole::input;
  /// Chip whose own the tensor is; none: all chips share it. The owner of a view is its base's.
  std::optional<std::uint32_t> owner = {};
  /// The storage of another tensor of the description, from flat element `view_offset` on.
  std::string view_of = {};
  std::uint64_t view_offset = 0;
  /// Of integers: what the elements are declared to be in.
  std::optional<ir::ValueRange> values = {};
};

/// How a page goes from engine to engine. `semaphores`: `depth` buffers with two semaphores each.
enum class Handover : std::uint8_t { fifo, semaphores };
/// Which dimension of the tile grid the sites share out.
enum class Split : std::uint8_t { rows, columns };

struct SectionDescription {
  std::string name;
  ir::Target target;
  std::vector<ir::Site> sites;
  std::vector<SectionTensor> tensors;
  sections::Work work;
  /// Largest tile of the result; `inner`: of the dimension that a matmul sums over. Where an op
  /// needs whole rows (or whole columns) the tile is as wide (high) as the tensor.
  struct Tiling {
    std::uint64_t rows = 1;
    std::uint64_t cols = 1;
    std::uint64_t inner = 1;
  } tile;
  Split split = Split::rows;
  Handover handover = Handover::fifo;
  std::uint32_t depth = 2;  ///< pages per hand-off
  std::string space = "sram";
  std::string load_engine = "load";
  std::string compute_engine = "compute";
  std::string store_engine = "store";
};

/// Refuses, at `section NAME...`, what docs/sections.md lists.
[[nodiscard]] ir::Result<ir::Program> build_section(const SectionDescription& description);

}  // namespace spatialcert::compose
