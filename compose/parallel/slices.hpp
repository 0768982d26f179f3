// Slice arithmetic: which element of a full tensor an element of a part is, and the reverse.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compose/parallel/manifest.hpp"
#include "ir/program.hpp"

namespace spatialcert::compose::parallel {

/// Length of all ranges together.
[[nodiscard]] std::uint64_t length(const std::vector<ir::IndexRange>& ranges);

struct Element {
  std::uint64_t row = 0;
  std::uint64_t col = 0;
  friend bool operator==(const Element&, const Element&) = default;
};

/// One part of a full tensor of rows x cols that is cut along an axis. The ranges are not empty,
/// end inside the axis, and stand in the order in which the part holds them, which need not be
/// ascending. Questions cost the logarithm of the number of ranges.
class PartOfTensor {
 public:
  PartOfTensor(std::uint64_t rows, std::uint64_t cols, ir::Axis axis,
               std::vector<ir::IndexRange> ranges);
  PartOfTensor(const FullTensor& full, const Part& part)
      : PartOfTensor(full.rows, full.cols, full.axis, part.ranges) {}
  PartOfTensor(const ir::SlicedTensor& full, const ir::Slice& slice)
      : PartOfTensor(full.rows, full.cols, full.axis, slice.ranges) {}

  /// Of the part itself.
  [[nodiscard]] std::uint64_t rows() const { return along_rows_ ? length_ : rows_; }
  [[nodiscard]] std::uint64_t cols() const { return along_rows_ ? cols_ : length_; }
  [[nodiscard]] std::uint64_t length() const { return length_; }  ///< along the axis

  /// The element of the full tensor that element (row, col) of the part is; inside the part.
  [[nodiscard]] Element full(std::uint64_t row, std::uint64_t col) const;
  /// Its flat row-major index.
  [[nodiscard]] std::uint64_t flat(std::uint64_t row, std::uint64_t col) const;
  /// The element of the part that holds (row, col) of the full tensor, if one does; where ranges
  /// overlap, one of them.
  [[nodiscard]] std::optional<Element> local(std::uint64_t row, std::uint64_t col) const;

 private:
  std::uint64_t rows_, cols_;
  bool along_rows_;
  std::vector<ir::IndexRange> ranges_;
  std::vector<std::uint64_t> first_;        // index in the part of the first entry of each range
  std::vector<std::uint32_t> by_begin_;     // ranges in ascending order
  std::vector<std::uint64_t> furthest_;     // by that order: greatest end up to here
  std::vector<std::uint32_t> furthest_at_;  // the range that has it
  std::uint64_t length_ = 0;
};

}  // namespace spatialcert::compose::parallel
