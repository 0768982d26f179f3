// Elementwise expressions over tensors of one shape, or with one row or one column instead.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/program.hpp"

namespace spatialcert::compose::sections {

/// A tensor by name, or an op on expressions. A value: copies are deep.
struct Expression {
  ir::OpKind op = ir::OpKind::copy;  ///< `copy` without arguments: the tensor
  std::string tensor;
  double factor = 1;  ///< `scale` only
  std::vector<Expression> arguments;

  [[nodiscard]] bool is_tensor() const { return arguments.empty(); }
};

[[nodiscard]] inline Expression tensor(std::string name) {
  return {ir::OpKind::copy, std::move(name), 1, {}};
}
[[nodiscard]] inline Expression apply(ir::OpKind op, std::vector<Expression> arguments) {
  return {op, {}, 1, std::move(arguments)};
}
[[nodiscard]] inline Expression add(Expression a, Expression b) {
  return apply(ir::OpKind::add, {std::move(a), std::move(b)});
}
[[nodiscard]] inline Expression sub(Expression a, Expression b) {
  return apply(ir::OpKind::sub, {std::move(a), std::move(b)});
}
[[nodiscard]] inline Expression mul(Expression a, Expression b) {
  return apply(ir::OpKind::mul, {std::move(a), std::move(b)});
}
[[nodiscard]] inline Expression scale(Expression a, double factor) {
  return {ir::OpKind::scale, {}, factor, {std::move(a)}};
}
[[nodiscard]] inline Expression neg(Expression a) { return apply(ir::OpKind::neg, {std::move(a)}); }
[[nodiscard]] inline Expression silu(Expression a) {
  return apply(ir::OpKind::silu, {std::move(a)});
}
[[nodiscard]] inline Expression gelu(Expression a) {
  return apply(ir::OpKind::gelu, {std::move(a)});
}
[[nodiscard]] inline Expression sigmoid(Expression a) {
  return apply(ir::OpKind::sigmoid, {std::move(a)});
}
[[nodiscard]] inline Expression exp(Expression a) { return apply(ir::OpKind::exp, {std::move(a)}); }
/// A tensor of any type in that of the result.
[[nodiscard]] inline Expression cast(std::string name) {
  return apply(ir::OpKind::cast, {tensor(std::move(name))});
}
/// a where the condition, a tensor of any type, is not 0, else b.
[[nodiscard]] inline Expression select(std::string condition, Expression a, Expression b) {
  return apply(ir::OpKind::select, {tensor(std::move(condition)), std::move(a), std::move(b)});
}

}  // namespace spatialcert::compose::sections
