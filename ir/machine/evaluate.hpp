// What every op kind computes, on values alone: docs/machine.md.
//
// Throws Failure for what is no value: operands that do not go together, integers that overflow.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/machine/matrix.hpp"

namespace spatialcert::ir::machine {

struct Shape {
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// A region read. Without a shape it is a row of elements that only elementwise ops can use.
struct Operand {
  Matrix value;
  bool shaped = true;
};

/// A region to be written, as far as it is known.
struct Target {
  std::optional<Shape> shape;
  std::optional<DType> type;
};

/// The result before it is converted to the type of the target; its own type is the one it has
/// where the target has none.
[[nodiscard]] Operand evaluate(const Stage& stage, const std::vector<Operand>& operands,
                               const Target& target);

/// The value as elements of `type`, of the same class: integers must fit, reals are rounded.
[[nodiscard]] Matrix converted(Matrix value, DType type);

}  // namespace spatialcert::ir::machine
