#include "proofs/composition/carried.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spatialcert::proofs::composition {
namespace {

/// What lies in a tensor, or in a resident buffer of the class's program.
void list_parts(const Class& its, Piece& piece) {
  const ir::AccessMap& map = piece.subject->accesses;
  std::vector<char> written(map.segments.size(), 0);
  for (const ir::ResolvedAccess& access : map.accesses) {
    for (std::uint32_t s = access.first_segment; access.write && s < access.last_segment; ++s)
      written[s] = 1;
  }
  for (std::uint32_t i = 0; i < its.touched.size(); ++i) {
    piece.first_part.push_back(static_cast<std::uint32_t>(piece.parts.size()));
    const Touched& what = its.touched[i];
    if (!what.tensor && piece.program.buffers[what.object].kind == ir::BufferKind::fifo) continue;
    // Segments of a storage follow one another.
    const std::uint32_t storage =
        (what.tensor ? map.storage_of_tensor : map.storage_of_buffer)[what.object];
    std::uint64_t base = 0, end = ~std::uint64_t{0};
    if (!what.tensor) {
      const ir::Buffer& buffer = piece.program.buffers[what.object];
      base = buffer.address;
      end = base + buffer.bytes();
    }
    auto s = static_cast<std::uint32_t>(
        std::partition_point(map.segments.begin(), map.segments.end(),
                             [&](const ir::Segment& one) {
                               return one.storage < storage ||
                                      (one.storage == storage && one.low < base);
                             }) -
        map.segments.begin());
    for (; s < map.segments.size() && map.segments[s].storage == storage; ++s) {
      const ir::Segment& segment = map.segments[s];
      if (segment.high > end) break;
      if (written[s] != 0) piece.written.push_back(static_cast<std::uint32_t>(piece.parts.size()));
      piece.parts.push_back({s, i, {segment.low - base, segment.high - base}});
    }
  }
  piece.first_part.push_back(static_cast<std::uint32_t>(piece.parts.size()));
}

}  // namespace

void Runs::cut(std::uint64_t at) {
  auto next = runs_.lower_bound(at);
  if (next == runs_.begin()) return;
  const auto run = std::prev(next);
  if (run->second.high <= at) return;
  const Run second = run->second;
  run->second.high = at;
  runs_.emplace_hint(next, at, second);
}

void Runs::assign(const Interval& where, std::uint32_t number) {
  cut(where.low);
  cut(where.high);
  const auto first = runs_.lower_bound(where.low);
  runs_.erase(first, runs_.lower_bound(where.high));
  runs_[where.low] = {where.high, number};
}

std::variant<std::vector<Piece>, std::string> pieces(const ir::Program& program,
                                                     const Division& division,
                                                     const std::vector<Subject>& subjects) {
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const ir::Buffer& buffer = program.buffers[b];
    if (buffer.init == ir::Init::external && !is_resident(program, b))
      return fmt::format("the host fills buffer {}, which is not resident", buffer.name);
  }
  std::vector<Piece> out(division.classes.size());
  for (std::size_t c = 0; c < out.size(); ++c) {
    Piece& piece = out[c];
    piece.subject = &subjects[c];
    piece.program = *subjects[c].program;
    const Excerpt& excerpt = division.classes[c].excerpt;
    for (std::size_t t = 0; t < excerpt.tensors.size(); ++t)
      piece.program.tensors[t].owner = program.tensors[excerpt.tensors[t]].owner;
    const auto position = linear_extension(subjects[c]);
    if (!position || subjects[c].accesses.limit || !subjects[c].accesses.faults.empty())
      return std::string("the ops of a section cannot be put in order");
    piece.order.resize(position->size());
    for (std::uint32_t t = 0; t < position->size(); ++t) piece.order[(*position)[t]] = t;
    list_parts(division.classes[c], piece);
  }
  return out;
}

std::vector<std::uint32_t> per_part(const Piece& piece, const Begin& begin, std::size_t first) {
  std::vector<std::uint32_t> out;
  out.reserve(piece.parts.size());
  auto next = begin.begin() + static_cast<std::ptrdiff_t>(first);
  for (std::size_t i = 0; i + 1 < piece.first_part.size(); ++i) {
    const std::size_t parts = piece.first_part[i + 1] - piece.first_part[i];
    if (parts == 0) continue;
    if (*next == kAllOver) {
      out.insert(out.end(), parts, *std::next(next));
      next += 2;
    } else {
      out.insert(out.end(), next, next + static_cast<std::ptrdiff_t>(parts));
      next += static_cast<std::ptrdiff_t>(parts);
    }
  }
  return out;
}

Place place_of_tensor(const ir::Program& program, std::uint32_t tensor) {
  std::uint64_t low = 0;
  std::uint32_t v = tensor;
  for (; program.tensors[v].view; v = program.tensors[v].view->base.value())
    low += program.tensors[v].view->offset;
  return {v, {low, low + program.tensors[tensor].rows * program.tensors[tensor].cols}};
}

Place place_of_buffer(const ir::Program& program, std::uint32_t buffer) {
  const std::uint32_t base = base_buffer(program, buffer);
  const std::uint64_t low = program.buffers[buffer].address - program.buffers[base].address;
  return {base, {low, low + program.buffers[buffer].bytes()}};
}

std::vector<Intervals> kept_tensors(const ir::Program& program) {
  std::vector<Intervals> kept(program.tensors.size());
  std::vector<std::string> carried = program.carried;
  std::sort(carried.begin(), carried.end());
  for (std::uint32_t t = 0; t < program.tensors.size(); ++t) {
    const ir::Tensor& tensor = program.tensors[t];
    if (program.execution == ir::Execution::once && tensor.role != ir::TensorRole::state &&
        !std::binary_search(carried.begin(), carried.end(), tensor.name))
      continue;
    const Place place = place_of_tensor(program, t);
    kept[place.base].push_back(place.where);
  }
  return kept;
}

}  // namespace spatialcert::proofs::composition
