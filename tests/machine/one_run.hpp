// One `run` on tensors that hold what the test gives.
#pragma once

#include <string>
#include <vector>

#include "ir/machine/machine.hpp"

namespace spatialcert::tests {

using ir::DType;
using ir::OpKind;
using ir::machine::FaultKind;
using ir::machine::Inputs;
using ir::machine::Machine;
using ir::machine::Matrix;
using ir::machine::Outcome;
using ir::machine::Schedule;

[[nodiscard]] inline Matrix ints(DType type, std::uint64_t rows, std::uint64_t cols,
                                 std::vector<std::int64_t> values) {
  return Matrix::of(type, rows, cols, std::move(values));
}
[[nodiscard]] inline Matrix reals(DType type, std::uint64_t rows, std::uint64_t cols,
                                  std::vector<double> values) {
  return Matrix::of(type, rows, cols, std::move(values));
}

/// A program of one engine whose only op reads tensors x0, x1, ... and writes tensor y.
[[nodiscard]] ir::Program one_run(OpKind op, const std::vector<Matrix>& operands,
                                  const Matrix& result, double scale = 1);

/// Runs it and compares y with `expected`, bit by bit if `tolerance` is 0.
void check_op(OpKind op, const std::vector<Matrix>& operands, const Matrix& expected,
              double tolerance = 0, double scale = 1);
/// Runs it and checks that it ends in this fault, whose text contains `text`.
void check_fault(OpKind op, const std::vector<Matrix>& operands, const Matrix& shape_of_result,
                 FaultKind kind, const std::string& text, double scale = 1);

/// A machine for a program and inputs that are accepted.
[[nodiscard]] Machine machine(const ir::Program& program, const Inputs& inputs = {},
                              std::uint32_t iterations = 1);

}  // namespace spatialcert::tests
