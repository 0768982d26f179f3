#include "proofs/slices/tiling.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace spatialcert::proofs::slices {
namespace {

/// Either end of a range.
struct End {
  std::uint64_t index = 0;
  bool begins = false;
  std::uint32_t part = 0;
  friend auto operator<=>(const End& a, const End& b) {
    return std::pair(a.index, a.begins) <=> std::pair(b.index, b.begins);
  }
};

Counterexample fault(Kind kind, std::uint64_t index, std::vector<SliceRef> slices) {
  Counterexample c;
  c.kind = kind;
  c.value = static_cast<std::int64_t>(index);
  c.slices = std::move(slices);
  return c;
}

bool has(const ir::Slice& slice, std::uint64_t index) {
  return std::any_of(slice.ranges.begin(), slice.ranges.end(), [&](const ir::IndexRange& range) {
    return range.begin <= index && index < range.end;
  });
}

std::int64_t times(const ir::Slice& slice, std::uint64_t index) {
  return std::count_if(slice.ranges.begin(), slice.ranges.end(), [&](const ir::IndexRange& range) {
    return range.begin <= index && index < range.end;
  });
}

std::int64_t parts_with(const ir::SlicedTensor& sliced, std::uint64_t index) {
  return std::count_if(sliced.slices.begin(), sliced.slices.end(),
                       [&](const ir::Slice& slice) { return has(slice, index); });
}

/// The first index at which the ranges of two parts differ.
std::uint64_t difference(const ir::Slice& a, const ir::Slice& b) {
  for (std::size_t r = 0; r < std::min(a.ranges.size(), b.ranges.size()); ++r) {
    if (a.ranges[r].begin != b.ranges[r].begin)
      return std::min(a.ranges[r].begin, b.ranges[r].begin);
    if (a.ranges[r].end != b.ranges[r].end) return std::min(a.ranges[r].end, b.ranges[r].end);
  }
  const auto& longer = a.ranges.size() > b.ranges.size() ? a.ranges : b.ranges;
  const std::size_t shared = std::min(a.ranges.size(), b.ranges.size());
  return shared < longer.size() ? longer[shared].begin : 0;
}

ReplayResult no(std::string why) { return NotReproduced{std::move(why)}; }

}  // namespace

std::uint64_t length_of(const ir::SlicedTensor& sliced) {
  return sliced.axis == ir::Axis::rows ? sliced.rows : sliced.cols;
}

std::optional<Counterexample> untiled(const ir::Program& program, std::uint32_t number) {
  const ir::SlicedTensor& sliced = program.sliced[number];
  std::vector<End> ends;
  for (std::uint32_t p = 0; p < sliced.slices.size(); ++p) {
    for (const ir::IndexRange& range : sliced.slices[p].ranges) {
      ends.push_back({range.begin, true, p});
      ends.push_back({range.end, false, p});
    }
  }
  std::sort(ends.begin(), ends.end());
  const std::uint64_t length = length_of(sliced);
  std::vector<std::uint32_t> open;  // parts that have the index, in the order of their beginnings
  std::uint64_t at = 0;
  for (std::size_t e = 0; at < length;) {
    for (; e < ends.size() && ends[e].index <= at; ++e) {
      if (!ends[e].begins) {
        open.erase(std::find(open.begin(), open.end(), ends[e].part));
        continue;
      }
      const bool twice = std::find(open.begin(), open.end(), ends[e].part) != open.end();
      if (twice) {
        Counterexample c =
            fault(Kind::overlap, at, {{number, ends[e].part}, {number, ends[e].part}});
        c.limit = sliced.copies;
        return c;
      }
      open.push_back(ends[e].part);
    }
    if (open.size() != sliced.copies) {
      const bool gap = open.size() < sliced.copies;
      std::vector<SliceRef> refs;
      for (const std::uint32_t part : open) refs.push_back({number, part});
      if (refs.empty()) refs.push_back({number, 0});
      Counterexample c = fault(gap ? Kind::gap : Kind::overlap, at, std::move(refs));
      c.limit = sliced.copies;
      return c;
    }
    at = e < ends.size() ? ends[e].index : length;
  }
  return std::nullopt;
}

std::optional<Counterexample> mismatched(const ir::Program& program) {
  std::map<std::string_view, std::uint32_t> first_of_dimension;
  // Heads of queries and of keys may happen to be equally many entries: not in as many copies.
  std::map<std::tuple<std::string_view, std::uint64_t, std::uint32_t>, std::uint32_t>
      first_of_length;
  for (std::uint32_t s = 0; s < program.sliced.size(); ++s) {
    const ir::SlicedTensor& sliced = program.sliced[s];
    const std::uint32_t first = first_of_dimension.emplace(sliced.dimension, s).first->second;
    const std::uint32_t alike =
        first_of_length
            .emplace(
                std::tuple(std::string_view(sliced.dimension), length_of(sliced), sliced.copies), s)
            .first->second;
    const auto owner = [&](std::uint32_t of, std::size_t p) {
      return program.tensors[program.sliced[of].slices[p].tensor.value()].owner;
    };
    for (std::uint32_t p = 0; p < sliced.slices.size(); ++p) {
      if (owner(first, p) != owner(s, p)) return fault(Kind::mismatch, 0, {{first, p}, {s, p}});
      const ir::Slice& other = program.sliced[alike].slices[p];
      if (other.ranges != sliced.slices[p].ranges)
        return fault(Kind::mismatch, difference(other, sliced.slices[p]), {{alike, p}, {s, p}});
    }
  }
  return std::nullopt;
}

ReplayResult recompute(const ir::Program& program, const Counterexample& c) {
  for (const SliceRef& ref : c.slices) {
    if (ref.sliced >= program.sliced.size() || ref.part >= program.sliced[ref.sliced].slices.size())
      return no("no such part");
  }
  if (c.slices.empty()) return no("parts are needed");
  const ir::SlicedTensor& sliced = program.sliced[c.slices[0].sliced];
  if (c.kind == Kind::mismatch) {
    if (c.slices.size() != 2 || c.slices[0].part != c.slices[1].part)
      return no("two parts of one number are needed");
    const ir::SlicedTensor& other = program.sliced[c.slices[1].sliced];
    if (other.dimension != sliced.dimension) return no("they are of two dimensions");
    const ir::Slice& a = sliced.slices[c.slices[0].part];
    const ir::Slice& b = other.slices[c.slices[1].part];
    if (program.tensors[a.tensor.value()].owner != program.tensors[b.tensor.value()].owner)
      return Reproduced{};
    if (length_of(other) == length_of(sliced) && other.copies == sliced.copies &&
        a.ranges != b.ranges)
      return Reproduced{};
    return no("they belong together");
  }
  const auto index = static_cast<std::uint64_t>(c.value);
  if (c.value < 0 || index >= length_of(sliced)) return no("no such index");
  if (c.kind == Kind::gap) {
    return parts_with(sliced, index) < std::int64_t{sliced.copies}
               ? ReplayResult{Reproduced{}}
               : no("the index is in enough parts");
  }
  if (c.kind != Kind::overlap) return no("slices do not show this kind");
  const bool twice = times(sliced.slices[c.slices[0].part], index) > 1;
  return twice || parts_with(sliced, index) > std::int64_t{sliced.copies}
             ? ReplayResult{Reproduced{}}
             : no("the index is not in too many parts");
}

}  // namespace spatialcert::proofs::slices
