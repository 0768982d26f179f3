#include "compose/parallel/slices.hpp"

#include <algorithm>
#include <utility>

#include "ir/require.hpp"

namespace spatialcert::compose::parallel {

std::uint64_t length(const std::vector<ir::IndexRange>& ranges) {
  std::uint64_t sum = 0;
  for (const ir::IndexRange& range : ranges) sum += range.end - range.begin;
  return sum;
}

PartOfTensor::PartOfTensor(std::uint64_t rows, std::uint64_t cols, ir::Axis axis,
                           std::vector<ir::IndexRange> ranges)
    : rows_(rows), cols_(cols), along_rows_(axis == ir::Axis::rows), ranges_(std::move(ranges)) {
  for (std::uint32_t r = 0; r < ranges_.size(); ++r) {
    SPATIALCERT_REQUIRE(
        ranges_[r].begin < ranges_[r].end && ranges_[r].end <= (along_rows_ ? rows_ : cols_),
        "ranges are not empty and inside the axis");
    first_.push_back(length_);
    length_ += ranges_[r].end - ranges_[r].begin;
    by_begin_.push_back(r);
  }
  std::sort(by_begin_.begin(), by_begin_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return ranges_[a].begin < ranges_[b].begin; });
  // Of the ranges that begin up to an index, the one that ends last holds it if any does.
  for (const std::uint32_t r : by_begin_) {
    const bool further = furthest_.empty() || ranges_[r].end > furthest_.back();
    furthest_at_.push_back(further ? r : furthest_at_.back());
    furthest_.push_back(ranges_[furthest_at_.back()].end);
  }
}

Element PartOfTensor::full(std::uint64_t row, std::uint64_t col) const {
  SPATIALCERT_REQUIRE(row < rows() && col < cols(), "the element is inside the part");
  std::uint64_t& index = along_rows_ ? row : col;
  const auto after = std::upper_bound(first_.begin(), first_.end(), index);
  const auto range = static_cast<std::size_t>(after - first_.begin()) - 1;
  index = ranges_[range].begin + (index - first_[range]);
  return {row, col};
}

std::uint64_t PartOfTensor::flat(std::uint64_t row, std::uint64_t col) const {
  const Element at = full(row, col);
  return at.row * cols_ + at.col;
}

std::optional<Element> PartOfTensor::local(std::uint64_t row, std::uint64_t col) const {
  if (row >= rows_ || col >= cols_) return std::nullopt;
  std::uint64_t& index = along_rows_ ? row : col;
  const auto after = std::upper_bound(
      by_begin_.begin(), by_begin_.end(), index,
      [&](std::uint64_t value, std::uint32_t range) { return value < ranges_[range].begin; });
  if (after == by_begin_.begin()) return std::nullopt;
  const auto last = static_cast<std::size_t>(after - by_begin_.begin()) - 1;
  if (index >= furthest_[last]) return std::nullopt;
  const std::uint32_t range = furthest_at_[last];
  index = first_[range] + (index - ranges_[range].begin);
  return Element{row, col};
}

}  // namespace spatialcert::compose::parallel
