#include "ir/machine/matrix.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "ir/require.hpp"

namespace spatialcert::ir::machine {
namespace {

bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

std::string element_text(const Matrix& m, std::uint64_t i) {
  if (!m.defined() && m.undefined[i] != 0) return "undefined";
  return is_integer(m.dtype) ? fmt::format("{}", m.integers[i]) : fmt::format("{}", m.reals[i]);
}

bool same_element(const Matrix& a, const Matrix& b, std::uint64_t i) {
  const bool a_undefined = !a.defined() && a.undefined[i] != 0;
  const bool b_undefined = !b.defined() && b.undefined[i] != 0;
  if (a_undefined || b_undefined) return a_undefined == b_undefined;
  return is_integer(a.dtype) ? a.integers[i] == b.integers[i] : same(a.reals[i], b.reals[i]);
}

template <typename T>
Matrix made_of(DType type, std::uint64_t rows, std::uint64_t cols, std::vector<T> values) {
  SPATIALCERT_REQUIRE(values.size() == rows * cols, "as many values as the matrix has elements");
  SPATIALCERT_REQUIRE(is_integer(type) == (std::is_same_v<T, std::int64_t>), "values of the type");
  Matrix out;
  out.dtype = type;
  out.rows = rows;
  out.cols = cols;
  out.values<T>() = std::move(values);
  return out;
}

}  // namespace

Matrix::Matrix(DType type, std::uint64_t row_count, std::uint64_t col_count)
    : dtype(type), rows(row_count), cols(col_count) {
  if (is_integer(type)) {
    integers.assign(size(), 0);
  } else {
    reals.assign(size(), 0);
  }
}

Matrix Matrix::of(DType type, std::uint64_t rows, std::uint64_t cols,
                  std::vector<std::int64_t> values) {
  return made_of(type, rows, cols, std::move(values));
}

Matrix Matrix::of(DType type, std::uint64_t rows, std::uint64_t cols, std::vector<double> values) {
  return made_of(type, rows, cols, std::move(values));
}

std::optional<std::string> difference(const Matrix& a, const Matrix& b) {
  if (a.dtype != b.dtype || a.rows != b.rows || a.cols != b.cols) {
    return fmt::format("{} x {} of {} and {} x {} of {}", a.rows, a.cols, to_string(a.dtype),
                       b.rows, b.cols, to_string(b.dtype));
  }
  for (std::uint64_t i = 0; i < a.size(); ++i) {
    if (same_element(a, b, i)) continue;
    return fmt::format("row {}, column {}: {} and {}", i / a.cols, i % a.cols, element_text(a, i),
                       element_text(b, i));
  }
  return std::nullopt;
}

}  // namespace spatialcert::ir::machine
