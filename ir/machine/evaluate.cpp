// Operands, their shapes and types; elementwise ops. The others: evaluate_matrix.cpp.
#include "ir/machine/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/machine/arithmetic.hpp"
#include "ir/machine/evaluate_parts.hpp"
#include "ir/require.hpp"

namespace spatialcert::ir::machine {

void expect_operands(const Operands& operands, std::size_t least, std::size_t most) {
  if (least <= operands.size() && operands.size() <= most) return;
  const std::string wanted = least == most      ? fmt::format("{}", least)
                             : most == kAnyMany ? fmt::format("at least {}", least)
                                                : fmt::format("{} to {}", least, most);
  throw Failure{FaultKind::operands,
                fmt::format("it reads {} regions, {} are wanted", operands.size(), wanted)};
}

void expect_shape(const Operands& operands, std::size_t number) {
  if (operands[number].shaped) return;
  throw Failure{FaultKind::no_shape, fmt::format("operand {} has no shape", number)};
}

void expect_real(const Operands& operands, std::size_t number) {
  if (!is_integer(operands[number].value.dtype)) return;
  throw Failure{FaultKind::wrong_type,
                fmt::format("operand {} is of {}, a floating-point type is wanted", number,
                            to_string(operands[number].value.dtype))};
}

void expect_integer(const Operands& operands, std::size_t number) {
  if (is_integer(operands[number].value.dtype)) return;
  throw Failure{FaultKind::wrong_type,
                fmt::format("operand {} is of {}, an integer type is wanted", number,
                            to_string(operands[number].value.dtype))};
}

void expect_one_class(const Operands& operands, std::size_t first) {
  for (std::size_t i = first; i < operands.size(); ++i) {
    const DType a = operands[first].value.dtype;
    const DType b = operands[i].value.dtype;
    if (is_integer(a) == is_integer(b)) continue;
    throw Failure{FaultKind::wrong_type, fmt::format("operands {} and {} are of {} and {}", first,
                                                     i, to_string(a), to_string(b))};
  }
}

void shapes_differ(const Operands& operands) {
  std::string text;
  for (const Operand& o : operands) {
    text += text.empty() ? "operands of " : ", ";
    text += o.shaped ? fmt::format("{} x {}", o.value.rows, o.value.cols)
                     : fmt::format("{} elements without a shape", o.value.size());
  }
  const bool shapeless =
      std::any_of(operands.begin(), operands.end(), [](const Operand& o) { return !o.shaped; });
  throw Failure{shapeless ? FaultKind::no_shape : FaultKind::wrong_shape, text};
}

namespace {

/// Shape of the result of an elementwise op, and whether it is one: every operand has it, or 1 row
/// or 1 column instead; without any shape all operands are rows of equal length.
std::pair<Shape, bool> common_shape(const Operands& operands) {
  Shape shape{1, 1};
  bool any = false;
  for (const Operand& o : operands) {
    if (!o.shaped) continue;
    any = true;
    shape.rows = std::max(shape.rows, o.value.rows);
    shape.cols = std::max(shape.cols, o.value.cols);
  }
  if (!any) shape = {1, operands.front().value.size()};
  for (const Operand& o : operands) {
    const bool rows = o.value.rows == shape.rows || o.value.rows == 1;
    const bool cols = o.value.cols == shape.cols || o.value.cols == 1;
    const bool good = o.shaped ? rows && cols : o.value.size() == shape.rows * shape.cols;
    if (!good) shapes_differ(operands);
  }
  return {shape, any};
}

/// The elements of `operand` in a result of `shape`: a copy only where they are spread.
template <typename T>
std::vector<T> spread(const Operand& operand, const Shape& shape) {
  const Matrix& m = operand.value;
  if (!operand.shaped || m.size() == shape.rows * shape.cols) return m.values<T>();
  const Spread at(m, shape);
  std::vector<T> out;
  out.reserve(shape.rows * shape.cols);
  for (std::uint64_t r = 0; r < shape.rows; ++r) {
    for (std::uint64_t c = 0; c < shape.cols; ++c) out.push_back(m.values<T>()[at.index(r, c)]);
  }
  return out;
}

/// Folds `combine` over operands of one class, from `first` on.
template <typename Combine>
Operand folded(const Operands& operands, Combine combine) {
  expect_one_class(operands, 0);
  const auto [shape, shaped] = common_shape(operands);
  return by_class(operands.front().value.dtype, [&, s = shape, h = shaped](auto zero) {
    using T = decltype(zero);
    std::vector<T> out = spread<T>(operands.front(), s);
    for (std::size_t o = 1; o < operands.size(); ++o) {
      const std::vector<T> other = spread<T>(operands[o], s);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = combine(out[i], other[i]);
    }
    return Operand{Matrix::of(operands.front().value.dtype, s.rows, s.cols, std::move(out)), h};
  });
}

template <typename Function>
Operand mapped(const Operands& operands, Function function) {
  expect_operands(operands, 1, 1);
  expect_real(operands, 0);
  Operand out = operands.front();
  for (double& x : out.value.reals) x = function(x);
  return out;
}

Operand scaled(const Operands& operands, double factor) {
  expect_operands(operands, 1, 1);
  Operand out = operands.front();
  if (!is_integer(out.value.dtype)) {
    for (double& x : out.value.reals) x *= factor;
    return out;
  }
  if (std::nearbyint(factor) != factor || std::abs(factor) > 0x1p53) {
    throw Failure{FaultKind::wrong_type, fmt::format("integers are scaled by {}", factor)};
  }
  for (std::int64_t& x : out.value.integers) x = times(x, static_cast<std::int64_t>(factor));
  return out;
}

Operand selected(const Operands& operands) {
  expect_operands(operands, 3, 3);
  expect_one_class(operands, 1);
  const auto [shape, shaped] = common_shape(operands);
  const std::vector<std::uint8_t> chosen =
      by_class(operands[0].value.dtype, [&, s = shape](auto zero) {
        std::vector<std::uint8_t> out;
        for (const auto x : spread<decltype(zero)>(operands[0], s)) {
          if (x != x) throw Failure{FaultKind::not_a_number, "the condition is NaN"};
          out.push_back(x != zero ? 1 : 0);
        }
        return out;
      });
  return by_class(operands[1].value.dtype, [&, s = shape, h = shaped](auto zero) {
    using T = decltype(zero);
    std::vector<T> out = spread<T>(operands[1], s);
    const std::vector<T> other = spread<T>(operands[2], s);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (chosen[i] == 0) out[i] = other[i];
    }
    return Operand{Matrix::of(operands[1].value.dtype, s.rows, s.cols, std::move(out)), h};
  });
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

Operand evaluate(const Stage& stage, const Operands& operands, const Target& target) {
  switch (stage.op) {
    case OpKind::copy:
      expect_operands(operands, 1, 1);
      return operands.front();
    case OpKind::add:
      expect_operands(operands, 1, kAnyMany);
      return folded(operands, [](auto a, auto b) { return plus(a, b); });
    case OpKind::sub:
      expect_operands(operands, 2, kAnyMany);
      return folded(operands, [](auto a, auto b) { return minus(a, b); });
    case OpKind::mul:
      expect_operands(operands, 2, kAnyMany);
      return folded(operands, [](auto a, auto b) { return times(a, b); });
    case OpKind::scale:
      return scaled(operands, stage.scale);
    case OpKind::neg:
      return scaled(operands, -1);
    case OpKind::silu:
      return mapped(operands, [](double x) { return x * sigmoid(x); });
    case OpKind::gelu:
      return mapped(operands, [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); });
    case OpKind::sigmoid:
      return mapped(operands, sigmoid);
    case OpKind::exp:
      return mapped(operands, [](double x) { return std::exp(x); });
    case OpKind::select:
      return selected(operands);
    default:
      return evaluate_matrix(stage, operands, target);
  }
}

Matrix converted(Matrix value, DType type) {
  if (is_integer(value.dtype) != is_integer(type)) {
    throw Failure{FaultKind::wrong_type,
                  fmt::format("the result is of {}, the region written of {}: \"cast\" converts",
                              to_string(value.dtype), to_string(type))};
  }
  value.dtype = type;
  for (double& x : value.reals) x = rounded(x, type);
  for (const std::int64_t x : value.integers) {
    if (range_of(type).holds(x)) continue;
    throw Failure{FaultKind::integer_overflow, fmt::format("{} is no {}", x, to_string(type))};
  }
  return value;
}

}  // namespace spatialcert::ir::machine
