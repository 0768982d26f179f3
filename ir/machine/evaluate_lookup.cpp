// Conversions, and ops that look for elements.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ir/machine/arithmetic.hpp"
#include "ir/machine/evaluate_parts.hpp"
#include "ir/require.hpp"

namespace spatialcert::ir::machine {
namespace {

DType wanted_type(const Target& target) {
  if (target.type) return *target.type;
  throw Failure{FaultKind::wrong_type, "the region written has no type to convert to"};
}

/// To the nearest integer, ties to even.
std::int64_t nearest(double x) {
  if (std::isnan(x)) throw Failure{FaultKind::not_a_number, "NaN has no nearest integer"};
  const double whole = std::nearbyint(x);
  if (whole < -0x1p63 || whole >= 0x1p63) {
    throw Failure{FaultKind::integer_overflow, fmt::format("{} does not fit 64 bits", x)};
  }
  return static_cast<std::int64_t>(whole);
}

Operand cast(const Operands& operands, const Target& target) {
  expect_operands(operands, 1, 1);
  const DType type = wanted_type(target);
  const Matrix& x = operands.front().value;
  Operand out{x, operands.front().shaped};
  if (is_integer(x.dtype) == is_integer(type)) return out;
  out.value = Matrix(type, x.rows, x.cols);
  for (std::uint64_t i = 0; i < x.size(); ++i) {
    if (is_integer(type)) {
      out.value.integers[i] = nearest(x.reals[i]);
    } else {
      out.value.reals[i] = static_cast<double>(x.integers[i]);
    }
  }
  return out;
}

/// The scale of every element of operand 0: operand 1, every element of which stands for a block.
Spread scales(const Operands& operands) {
  expect_operands(operands, 2, 2);
  expect_shape(operands, 0);
  expect_shape(operands, 1);
  expect_real(operands, 1);
  const Matrix& x = operands[0].value;
  const Matrix& scale = operands[1].value;
  if (x.rows % scale.rows != 0 || x.cols % scale.cols != 0) shapes_differ(operands);
  return {scale, {x.rows, x.cols}};
}

Operand quantise(const Operands& operands, const Target& target) {
  const Spread scale = scales(operands);
  expect_real(operands, 0);
  const DType type = wanted_type(target);
  if (!is_integer(type)) {
    throw Failure{
        FaultKind::wrong_type,
        fmt::format("the region written is of {}, an integer type is wanted", to_string(type))};
  }
  const Matrix& x = operands[0].value;
  const IntegerRange range = range_of(type);
  Matrix out(type, x.rows, x.cols);
  for (std::uint64_t i = 0; i < x.size(); ++i) {
    const double q = x.reals[i] / scale.operand->reals[scale.index(i / x.cols, i % x.cols)];
    if (q <= static_cast<double>(range.low)) {
      out.integers[i] = range.low;
    } else if (q >= static_cast<double>(range.high)) {
      out.integers[i] = range.high;
    } else {
      out.integers[i] = nearest(q);
    }
  }
  return {std::move(out), true};
}

Operand dequantise(const Operands& operands) {
  const Spread scale = scales(operands);
  expect_integer(operands, 0);
  const Matrix& x = operands[0].value;
  Matrix out(scale.operand->dtype, x.rows, x.cols);
  for (std::uint64_t i = 0; i < x.size(); ++i) {
    out.reals[i] = static_cast<double>(x.integers[i]) *
                   scale.operand->reals[scale.index(i / x.cols, i % x.cols)];
  }
  return {std::move(out), true};
}

Operand gather(const Operands& operands) {
  expect_operands(operands, 2, 2);
  expect_shape(operands, 0);
  expect_integer(operands, 1);
  const Matrix& table = operands[0].value;
  const Matrix& index = operands[1].value;
  if (index.rows != 1 && index.cols != 1) shapes_differ(operands);
  return by_class(table.dtype, [&](auto zero) {
    using T = decltype(zero);
    Matrix out(table.dtype, index.size(), table.cols);
    for (std::uint64_t r = 0; r < index.size(); ++r) {
      const std::int64_t row = index.integers[r];
      if (row < 0 || static_cast<std::uint64_t>(row) >= table.rows) {
        throw Failure{FaultKind::index,
                      fmt::format("row {} of a table of {} rows", row, table.rows)};
      }
      const auto from = table.values<T>().begin() +
                        static_cast<std::ptrdiff_t>(static_cast<std::uint64_t>(row) * table.cols);
      std::copy_n(from, table.cols,
                  out.values<T>().begin() + static_cast<std::ptrdiff_t>(r * table.cols));
    }
    return Operand{std::move(out), true};
  });
}

/// Columns of the `count` largest elements of a row, in falling order, of equal ones the first.
template <typename T>
std::vector<std::uint64_t> largest(const Matrix& x, std::uint64_t row, std::uint64_t count) {
  std::vector<std::uint64_t> cols(x.cols);
  std::iota(cols.begin(), cols.end(), 0);
  for (const std::uint64_t c : cols) {
    const T value = x.at<T>(row, c);
    if (value != value) throw Failure{FaultKind::not_a_number, "NaN is neither large nor small"};
  }
  const auto before = [&](std::uint64_t a, std::uint64_t b) {
    return x.at<T>(row, a) != x.at<T>(row, b) ? x.at<T>(row, a) > x.at<T>(row, b) : a < b;
  };
  const auto middle = cols.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(cols.begin(), middle, cols.end(), before);
  cols.resize(count);
  return cols;
}

Operand topk(const Operands& operands, const Target& target) {
  expect_operands(operands, 1, 1);
  expect_shape(operands, 0);
  if (!target.shape) {
    throw Failure{FaultKind::no_shape, "the region written has no shape, which says how many"};
  }
  const Matrix& x = operands.front().value;
  const std::uint64_t count = target.shape->cols;
  if (target.shape->rows != x.rows || count > x.cols) {
    throw Failure{FaultKind::wrong_shape,
                  fmt::format("{} x {} have no {} x {} of the largest elements", x.rows, x.cols,
                              target.shape->rows, count)};
  }
  const bool indices = is_integer(wanted_type(target));
  Matrix out(indices ? DType::i64 : x.dtype, x.rows, count);
  return by_class(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::uint64_t r = 0; r < x.rows; ++r) {
      std::uint64_t i = r * count;
      for (const std::uint64_t c : largest<T>(x, r, count)) {
        if (indices) {
          out.integers[i++] = static_cast<std::int64_t>(c);
        } else {
          out.values<T>()[i++] = x.at<T>(r, c);
        }
      }
    }
    return Operand{std::move(out), true};
  });
}

}  // namespace

Operand evaluate_lookup(const Stage& stage, const Operands& operands, const Target& target) {
  switch (stage.op) {
    case OpKind::cast:
      return cast(operands, target);
    case OpKind::quantise:
      return quantise(operands, target);
    case OpKind::dequantise:
      return dequantise(operands);
    case OpKind::gather:
      return gather(operands);
    case OpKind::topk:
      return topk(operands, target);
    default:
      require_failed("op kind", "every op kind is evaluated", __FILE__, __LINE__);
  }
}

}  // namespace spatialcert::ir::machine
