// Products, reductions, normalisations, rotations, convolutions, state updates.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/machine/arithmetic.hpp"
#include "ir/machine/evaluate_parts.hpp"

namespace spatialcert::ir::machine {
namespace {

constexpr double kNormEpsilon = 1e-6;

void expect_all_shapes(const Operands& operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) expect_shape(operands, i);
}

Operand matmul(const Operands& operands) {
  expect_operands(operands, 2, 3);
  expect_all_shapes(operands);
  expect_one_class(operands, 0);
  const Matrix& a = operands[0].value;
  const Matrix& b = operands[1].value;
  const bool accumulates = operands.size() == 3;
  if (a.cols != b.rows ||
      (accumulates && (operands[2].value.rows != a.rows || operands[2].value.cols != b.cols))) {
    shapes_differ(operands);
  }
  return by_class(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    Matrix out = accumulates ? operands[2].value : Matrix(a.dtype, a.rows, b.cols);
    std::vector<T>& sums = out.values<T>();
    for (std::uint64_t i = 0; i < a.rows; ++i) {
      for (std::uint64_t k = 0; k < a.cols; ++k) {
        const T factor = a.at<T>(i, k);
        for (std::uint64_t j = 0; j < b.cols; ++j) {
          T& sum = sums[i * b.cols + j];
          sum = plus(sum, times(factor, b.at<T>(k, j)));
        }
      }
    }
    return Operand{std::move(out), true};
  });
}

/// `combine` over all rows, all columns or all elements, after the shape of what is written.
template <typename Combine>
Operand reduced(const Operands& operands, const Target& target, Combine combine) {
  expect_operands(operands, 1, 1);
  expect_shape(operands, 0);
  if (!target.shape) {
    throw Failure{FaultKind::no_shape, "the region written has no shape, which says the axis"};
  }
  const Matrix& x = operands.front().value;
  const Shape shape = *target.shape;
  if ((shape.rows != 1 && shape.rows != x.rows) || (shape.cols != 1 && shape.cols != x.cols)) {
    throw Failure{FaultKind::wrong_shape, fmt::format("{} x {} cannot become {} x {}", x.rows,
                                                      x.cols, shape.rows, shape.cols)};
  }
  return by_class(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    Matrix out(x.dtype, shape.rows, shape.cols);
    std::vector<std::uint8_t> begun(out.size(), 0);
    for (std::uint64_t r = 0; r < x.rows; ++r) {
      for (std::uint64_t c = 0; c < x.cols; ++c) {
        const std::uint64_t i = (shape.rows == 1 ? 0 : r) * shape.cols + (shape.cols == 1 ? 0 : c);
        T& value = out.values<T>()[i];
        value = begun[i] != 0 ? combine(value, x.at<T>(r, c)) : x.at<T>(r, c);
        begun[i] = 1;
      }
    }
    return Operand{std::move(out), true};
  });
}

double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
std::int64_t larger(std::int64_t a, std::int64_t b) { return std::max(a, b); }

Operand rmsnorm(const Operands& operands) {
  expect_operands(operands, 1, 2);
  expect_all_shapes(operands);
  for (std::size_t i = 0; i < operands.size(); ++i) expect_real(operands, i);
  Operand out = operands.front();
  Matrix& x = out.value;
  const bool weighted = operands.size() == 2;
  if (weighted && (operands[1].value.rows != 1 || operands[1].value.cols != x.cols)) {
    shapes_differ(operands);
  }
  for (std::uint64_t r = 0; r < x.rows; ++r) {
    double squares = 0;
    for (std::uint64_t c = 0; c < x.cols; ++c) squares += x.at<double>(r, c) * x.at<double>(r, c);
    const double root = std::sqrt(squares / static_cast<double>(x.cols) + kNormEpsilon);
    for (std::uint64_t c = 0; c < x.cols; ++c) {
      double& value = x.reals[r * x.cols + c];
      value = value / root * (weighted ? operands[1].value.reals[c] : 1.0);
    }
  }
  return out;
}

Operand softmax(const Operands& operands) {
  expect_operands(operands, 1, 1);
  expect_shape(operands, 0);
  expect_real(operands, 0);
  Operand out = operands.front();
  Matrix& x = out.value;
  for (std::uint64_t r = 0; r < x.rows; ++r) {
    double* const row = &x.reals[r * x.cols];
    double largest = row[0];
    for (std::uint64_t c = 1; c < x.cols; ++c) largest = larger(largest, row[c]);
    double sum = 0;
    for (std::uint64_t c = 0; c < x.cols; ++c) sum += row[c] = std::exp(row[c] - largest);
    for (std::uint64_t c = 0; c < x.cols; ++c) row[c] /= sum;
  }
  return out;
}

Operand rope(const Operands& operands) {
  expect_operands(operands, 3, 3);
  expect_all_shapes(operands);
  expect_one_class(operands, 0);
  const Matrix& x = operands[0].value;
  const std::uint64_t half = x.cols / 2;
  for (std::size_t i = 1; i < 3; ++i) {
    const Matrix& angle = operands[i].value;
    const bool rows = angle.rows == 1 || angle.rows == x.rows;
    if (x.cols % 2 != 0 || !rows || angle.cols != half) shapes_differ(operands);
  }
  return by_class(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    const Matrix& cosine = operands[1].value;
    const Matrix& sine = operands[2].value;
    Matrix out(x.dtype, x.rows, x.cols);
    for (std::uint64_t r = 0; r < x.rows; ++r) {
      for (std::uint64_t c = 0; c < half; ++c) {
        const T a = x.at<T>(r, c);
        const T b = x.at<T>(r, c + half);
        const T co = cosine.at<T>(cosine.rows == 1 ? 0 : r, c);
        const T si = sine.at<T>(sine.rows == 1 ? 0 : r, c);
        out.values<T>()[r * x.cols + c] = minus(times(a, co), times(b, si));
        out.values<T>()[r * x.cols + c + half] = plus(times(b, co), times(a, si));
      }
    }
    return Operand{std::move(out), true};
  });
}

Operand conv1d(const Operands& operands) {
  expect_operands(operands, 2, 3);
  expect_all_shapes(operands);
  expect_one_class(operands, 0);
  const Matrix& x = operands[0].value;
  const Matrix& w = operands[1].value;
  const bool biased = operands.size() == 3;
  if (w.cols != x.cols || w.rows > x.rows ||
      (biased && (operands[2].value.rows != 1 || operands[2].value.cols != x.cols))) {
    shapes_differ(operands);
  }
  return by_class(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    Matrix out(x.dtype, x.rows - w.rows + 1, x.cols);
    for (std::uint64_t r = 0; r < out.rows; ++r) {
      for (std::uint64_t c = 0; c < x.cols; ++c) {
        T sum = biased ? operands[2].value.at<T>(0, c) : T{0};
        for (std::uint64_t t = 0; t < w.rows; ++t) {
          sum = plus(sum, times(w.at<T>(t, c), x.at<T>(r + t, c)));
        }
        out.values<T>()[r * x.cols + c] = sum;
      }
    }
    return Operand{std::move(out), true};
  });
}

/// One token of the gated delta rule. S is key x value.
template <typename T>
void delta_step(Matrix& state, const Operands& operands, std::uint64_t token) {
  const Matrix& key = operands[1].value;
  const Matrix& value = operands[2].value;
  const T decay = operands[3].value.at<T>(token, 0);
  const T rate = operands[4].value.at<T>(token, 0);
  for (T& s : state.values<T>()) s = times(s, decay);
  for (std::uint64_t j = 0; j < state.cols; ++j) {
    T recalled{0};
    for (std::uint64_t i = 0; i < state.rows; ++i) {
      recalled = plus(recalled, times(key.at<T>(token, i), state.at<T>(i, j)));
    }
    const T correction = times(rate, minus(value.at<T>(token, j), recalled));
    for (std::uint64_t i = 0; i < state.rows; ++i) {
      T& s = state.values<T>()[i * state.cols + j];
      s = plus(s, times(key.at<T>(token, i), correction));
    }
  }
}

Operand gated_delta(const Operands& operands) {
  expect_operands(operands, 5, 5);
  expect_all_shapes(operands);
  expect_one_class(operands, 0);
  Operand out = operands.front();
  const std::uint64_t tokens = operands[1].value.rows;
  const auto is = [&](std::size_t number, std::uint64_t cols) {
    return operands[number].value.rows == tokens && operands[number].value.cols == cols;
  };
  if (!is(1, out.value.rows) || !is(2, out.value.cols) || !is(3, 1) || !is(4, 1)) {
    shapes_differ(operands);
  }
  by_class(out.value.dtype, [&](auto zero) {
    for (std::uint64_t t = 0; t < tokens; ++t) delta_step<decltype(zero)>(out.value, operands, t);
  });
  return out;
}

}  // namespace

Operand evaluate_matrix(const Stage& stage, const Operands& operands, const Target& target) {
  switch (stage.op) {
    case OpKind::matmul:
      return matmul(operands);
    case OpKind::sum:
      return reduced(operands, target, [](auto a, auto b) { return plus(a, b); });
    case OpKind::max:
      return reduced(operands, target, [](auto a, auto b) { return larger(a, b); });
    case OpKind::rmsnorm:
      return rmsnorm(operands);
    case OpKind::softmax:
      return softmax(operands);
    case OpKind::rope:
      return rope(operands);
    case OpKind::conv1d:
      return conv1d(operands);
    case OpKind::gated_delta:
      return gated_delta(operands);
    default:
      return evaluate_lookup(stage, operands, target);
  }
}

}  // namespace spatialcert::ir::machine
