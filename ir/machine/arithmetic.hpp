// Sums and products of one element, exact or not at all for integers; and which element of a
// smaller operand belongs to one of a larger result.
#pragma once

#include <cmath>
#include <cstdint>

#include "ir/machine/evaluate.hpp"
#include "ir/machine/fault.hpp"

namespace spatialcert::ir::machine {

[[noreturn]] inline void overflowed() {
  throw Failure{FaultKind::integer_overflow, "an intermediate result does not fit 64 bits"};
}

inline double plus(double a, double b) { return a + b; }
inline double minus(double a, double b) { return a - b; }
inline double times(double a, double b) { return a * b; }
inline std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) overflowed();
  return out;
}
inline std::int64_t minus(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_sub_overflow(a, b, &out)) overflowed();
  return out;
}
inline std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) overflowed();
  return out;
}

/// Calls `body` with a zero of the element class of `type`: std::int64_t or double.
template <typename Body>
auto by_class(DType type, Body body) {
  return is_integer(type) ? body(std::int64_t{0}) : body(0.0);
}

/// Element (row, col) of a result of `shape` in an operand whose rows and columns divide those of
/// the result: every element of the operand stands for a block.
struct Spread {
  const Matrix* operand;
  std::uint64_t row_step;
  std::uint64_t col_step;

  Spread(const Matrix& m, const Shape& shape)
      : operand(&m), row_step(shape.rows / m.rows), col_step(shape.cols / m.cols) {}
  [[nodiscard]] std::uint64_t index(std::uint64_t row, std::uint64_t col) const {
    return row / row_step * operand->cols + col / col_step;
  }
};

}  // namespace spatialcert::ir::machine
