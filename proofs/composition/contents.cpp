#include "proofs/composition/contents.hpp"

#include <algorithm>

namespace spatialcert::proofs::composition {

Contents::Contents(const ir::Program& program)
    : tensors_(program.tensors.size()), buffers_(program.buffers.size()) {
  for (std::uint32_t t = 0; t < program.tensors.size(); ++t) {
    const ir::Tensor& tensor = program.tensors[t];
    if (tensor.init == ir::Init::undefined) continue;
    std::uint64_t offset = 0;
    std::uint32_t base = t;
    while (program.tensors[base].view) {
      offset += program.tensors[base].view->offset;
      base = program.tensors[base].view->base.value();
    }
    define(true, base, {offset, offset + tensor.rows * tensor.cols});
  }
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const ir::Buffer& buffer = program.buffers[b];
    if (buffer.init == ir::Init::undefined || !is_resident(program, b)) continue;
    const std::uint32_t base = base_buffer(program, b);
    const std::uint64_t offset = buffer.address - program.buffers[base].address;
    define(false, base, {offset, offset + buffer.bytes()});
  }
}

void Contents::split(Pieces& all, std::uint64_t at) {
  auto next = all.lower_bound(at);
  if (next == all.begin()) return;
  const auto piece = std::prev(next);
  if (piece->second.high <= at) return;
  Piece second = piece->second;
  piece->second.high = at;
  all.emplace_hint(next, at, second);
}

/// Visits the pieces that make up `where`, new ones included.
template <typename Each>
void Contents::visit(Pieces& all, const Interval& where, const Each& each) {
  split(all, where.low);
  split(all, where.high);
  auto at = all.lower_bound(where.low);
  for (std::uint64_t low = where.low; low < where.high;) {
    const bool gap = at == all.end() || at->first != low;
    if (gap) {
      Piece fresh;
      fresh.high = at == all.end() ? where.high : std::min(where.high, at->first);
      at = all.emplace_hint(at, low, fresh);
    }
    ++uses_;
    each(at->second);
    low = at->second.high;
    ++at;
  }
}

void Contents::define(bool tensor, std::uint32_t object, const Interval& where) {
  visit(pieces(tensor, object), where, [](Piece& piece) { piece.defined = true; });
}

bool Contents::defined(bool tensor, std::uint32_t object, const Intervals& where) const {
  const Pieces& all = tensor ? tensors_[object] : buffers_[object];
  for (const Interval& interval : where) {
    auto at = all.upper_bound(interval.low);
    if (at == all.begin()) return false;
    --at;
    // A piece that ends before the interval leads to no piece that begins where it ends.
    for (std::uint64_t low = interval.low; low < interval.high; ++at) {
      if (at == all.end() || at->first > low || !at->second.defined) return false;
      low = at->second.high;
    }
  }
  return true;
}

std::optional<Contents::Fault> Contents::use(Piece& piece, const Turn& turn, bool write) {
  if (piece.phase != turn.phase) {
    piece.phase = turn.phase;
    piece.section = turn.section;
    piece.several = piece.written = false;
  }
  piece.several |= piece.section != turn.section;
  piece.written |= write;
  if (piece.several && piece.written) return Fault::shared;
  if (piece.writer != kNone && turn.source < piece.writer) return Fault::reordered;
  if (!write) {
    if (piece.reader == kNone || piece.reader < turn.source) piece.reader = turn.source;
    return std::nullopt;
  }
  if (piece.reader != kNone && turn.source < piece.reader) return Fault::reordered;
  // No reader so far is later, so whoever does not come before this write comes before none.
  piece.writer = turn.source;
  return std::nullopt;
}

std::optional<Contents::Fault> Contents::touch(const Turn& turn, std::uint32_t object,
                                               const Touched& what) {
  Pieces& all = pieces(what.tensor, object);
  std::optional<Fault> fault;
  for (const bool write : {false, true}) {
    for (const Interval& interval : write ? what.writes : what.reads) {
      visit(all, interval, [&](Piece& piece) {
        const auto found = use(piece, turn, write);
        if (!fault) fault = found;
      });
    }
  }
  for (const Interval& interval : what.fills) define(what.tensor, object, interval);
  return fault;
}

}  // namespace spatialcert::proofs::composition
