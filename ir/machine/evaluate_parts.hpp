// What the files of `evaluate` share.
#pragma once

#include <limits>
#include <vector>

#include "ir/machine/evaluate.hpp"

namespace spatialcert::ir::machine {

using Operands = std::vector<Operand>;

inline constexpr std::size_t kAnyMany = std::numeric_limits<std::size_t>::max();

// All of these throw a Failure.
void expect_operands(const Operands& operands, std::size_t least, std::size_t most);
void expect_shape(const Operands& operands, std::size_t number);
void expect_real(const Operands& operands, std::size_t number);
void expect_integer(const Operands& operands, std::size_t number);
/// All operands from `first` on are integers, or all are floating-point.
void expect_one_class(const Operands& operands, std::size_t first);
[[noreturn]] void shapes_differ(const Operands& operands);

/// The ops that are not elementwise.
[[nodiscard]] Operand evaluate_matrix(const Stage& stage, const Operands& operands,
                                      const Target& target);
/// Those that go from one type to another, and those that look for elements.
[[nodiscard]] Operand evaluate_lookup(const Stage& stage, const Operands& operands,
                                      const Target& target);

}  // namespace spatialcert::ir::machine
