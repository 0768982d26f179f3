#include "compose/models/tiling.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spatialcert::compose::models {
namespace {

using namespace sections;  // NOLINT: the kinds of work

std::uint64_t up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
std::uint64_t at_least_one(std::uint64_t n) { return std::max<std::uint64_t>(n, 1); }

std::uint64_t sites_of(const Hardware& hardware) {
  return std::uint64_t{hardware.mesh_width} * hardware.mesh_height;
}

/// A piece of `length` for every site, or several equal ones if one would be more than `most`; at
/// least `least`, and a multiple of `block`.
std::uint64_t share(std::uint64_t length, std::uint64_t least, std::uint64_t most,
                    std::uint64_t block, const Hardware& hardware) {
  const std::uint64_t sites = sites_of(hardware);
  const std::uint64_t rounds = at_least_one(up(length, sites * at_least_one(most)));
  const std::uint64_t piece = std::max(up(length, sites * rounds), std::min(least, length));
  return std::min(up(piece, block) * block, length);
}

/// Equal pieces of at most `most`, and a multiple of `block`.
std::uint64_t piece(std::uint64_t length, std::uint64_t most, std::uint64_t block) {
  const std::uint64_t whole = std::max(most / block * block, block);
  const std::uint64_t even = up(length, up(length, whole));
  return std::min(up(even, block) * block, length);
}

class Choice {
 public:
  Choice(const TensorOf& tensor, const Hardware& hardware) : tensor_(tensor), on_(hardware) {}

  Tiling operator()(const Matmul& w) const {
    const SectionTensor& b = tensor_(w.b);
    const SectionTensor& result = tensor_(w.result);
    const std::uint64_t inner = tensor_(w.a).cols;
    std::uint64_t block_rows = 1, block_cols = 1, bytes = ir::size_of(b.dtype);
    if (!w.scales.empty()) {
      const SectionTensor& scales = tensor_(w.scales);
      block_rows = b.rows / scales.rows;
      block_cols = b.cols / scales.cols;
      bytes = ir::size_of(scales.dtype);  // of the tile that is dequantised
    }
    Tiling out;
    const std::uint64_t cols = w.one_row ? result.cols / w.batch : result.cols;
    out.tile.rows = w.one_row ? result.rows : result.rows / w.batch;
    const std::uint64_t most = std::max<std::uint64_t>(kWidest, block_cols);
    if (w.batch > 1) {
      out.tile.cols = piece(cols, most, block_cols);
    } else {
      out.split = Split::columns;
      out.tile.cols = share(result.cols, on_.least_elements / 8, most, block_cols, on_);
    }
    out.tile.inner =
        piece(inner, at_least_one(on_.page_bytes / (out.tile.cols * bytes)), block_rows);
    return out;
  }
  Tiling operator()(const Elementwise& w) const { return plain(w.result); }
  Tiling operator()(const RowReduction& w) const { return whole_rows(w.operand); }
  Tiling operator()(const RmsNorm& w) const { return whole_rows(w.operand); }
  Tiling operator()(const Softmax& w) const { return whole_rows(w.operand); }
  Tiling operator()(const TopK& w) const { return whole_rows(w.operand); }
  Tiling operator()(const Rope& w) const { return whole_rows(w.operand); }
  /// A load reads the table's rows, of all of which a tile is a piece: one piece is best.
  Tiling operator()(const GatherRows& w) const {
    const SectionTensor& result = tensor_(w.result);
    const std::uint64_t most = at_least_one(on_.page_bytes / ir::size_of(result.dtype));
    Tiling out;
    out.tile.cols = piece(result.cols, most, 1);
    out.split = out.tile.cols < result.cols ? Split::columns : Split::rows;
    return out;
  }
  Tiling operator()(const AppendRows& w) const { return plain(w.source); }
  Tiling operator()(const AppendColumn& w) const { return whole_columns(w.source); }
  Tiling operator()(const ShiftRows& w) const { return whole_columns(w.state); }
  Tiling operator()(const RepeatRows& w) const { return plain(w.source); }
  Tiling operator()(const Conv1d& w) const { return whole_columns(w.operand); }
  Tiling operator()(const Rescale& w) const { return plain(w.result); }
  Tiling operator()(const Copy& w) const { return plain(w.source); }
  Tiling operator()(const DeltaUpdate& w) const {
    const SectionTensor& state = tensor_(w.state);
    Tiling out;
    out.split = w.heads > 1 ? Split::rows : Split::columns;
    out.tile = {state.rows / w.heads, state.cols, 1};
    return out;
  }

  [[nodiscard]] Tiling plain(std::uint64_t rows, std::uint64_t cols, std::uint64_t bytes) const {
    Tiling out;
    out.split = cols >= rows ? Split::columns : Split::rows;
    const std::uint64_t most = at_least_one(on_.page_bytes / bytes);
    if (out.split == Split::columns) {
      out.tile.cols = share(cols, on_.least_elements, most, 1, on_);
      out.tile.rows = piece(rows, at_least_one(most / out.tile.cols), 1);
    } else {
      out.tile.cols = piece(cols, most, 1);
      const std::uint64_t least = at_least_one(on_.least_elements / out.tile.cols);
      out.tile.rows = share(rows, least, at_least_one(most / out.tile.cols), 1, on_);
    }
    return out;
  }

 private:
  /// Widest tile of a product: wider ones are no better, and leave less of the inner dimension.
  static constexpr std::uint64_t kWidest = 512;

  [[nodiscard]] Tiling plain(const std::string& name) const {
    const SectionTensor& t = tensor_(name);
    return plain(t.rows, t.cols, ir::size_of(t.dtype));
  }
  [[nodiscard]] Tiling whole_rows(const std::string& name) const {
    const SectionTensor& t = tensor_(name);
    const std::uint64_t least = at_least_one(on_.least_elements / t.cols);
    const std::uint64_t most = at_least_one(on_.page_bytes / (t.cols * ir::size_of(t.dtype)));
    Tiling out;
    out.tile = {share(t.rows, least, most, 1, on_), t.cols, 1};
    return out;
  }
  [[nodiscard]] Tiling whole_columns(const std::string& name) const {
    const SectionTensor& t = tensor_(name);
    const std::uint64_t least = at_least_one(on_.least_elements / t.rows);
    const std::uint64_t most = at_least_one(on_.page_bytes / (t.rows * ir::size_of(t.dtype)));
    Tiling out;
    out.split = Split::columns;
    out.tile = {t.rows, share(t.cols, least, most, 1, on_), 1};
    return out;
  }

  const TensorOf& tensor_;
  const Hardware& on_;
};

}  // namespace

Tiling tiling_of(const sections::Work& work, const TensorOf& tensor, const Hardware& hardware) {
  return std::visit(Choice(tensor, hardware), work);
}

Tiling tiling_of(std::uint64_t rows, std::uint64_t cols, std::uint64_t element_bytes,
                 const Hardware& hardware) {
  const TensorOf none;
  return Choice(none, hardware).plain(rows, cols, element_bytes);
}

ir::Target target_of(const Configuration& configuration, const Hardware& hardware) {
  ir::Target out;
  out.name = fmt::format("{} chip{} of {} x {} tiles", hardware.chips,
                         hardware.chips == 1 ? "" : "s", hardware.mesh_width, hardware.mesh_height);
  out.chips = hardware.chips;
  out.mesh_width = hardware.mesh_width;
  out.mesh_height = hardware.mesh_height;
  out.engines = {"load", "compute", "store"};
  out.spaces = {{"sram", hardware.sram_bytes, 64}};
  out.semaphores_per_site = 64;
  out.semaphore_maximum = 1 << 20;
  out.handoffs = {{"local", false}, {"link", true}};
  out.tile_rows = 32;
  out.tile_cols = 32;
  const bool integer = configuration.arithmetic == Arithmetic::integer;
  out.float_type = integer ? ir::DType::f32 : configuration.dtype;
  out.widest_integer = integer ? ir::DType::i64 : ir::DType::i32;
  return out;
}

}  // namespace spatialcert::compose::models
