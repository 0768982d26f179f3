#include "tests/machine/one_run.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "ir/validate.hpp"
#include "tests/counts.hpp"

namespace spatialcert::tests {
namespace {

Inputs given(const std::vector<Matrix>& operands) {
  Inputs inputs;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    inputs.tensors[fmt::format("x{}", i)] = operands[i];
  }
  return inputs;
}

ir::Access whole(const ir::Program& program, std::uint32_t tensor, bool write) {
  ir::Access access;
  access.write = write;
  access.region.kind = ir::RegionKind::tensor;
  access.region.object = tensor;
  access.region.bound[1] = static_cast<std::int64_t>(program.tensors[tensor].rows);
  access.region.bound[3] = static_cast<std::int64_t>(program.tensors[tensor].cols);
  return access;
}

}  // namespace

ir::Program one_run(OpKind op, const std::vector<Matrix>& operands, const Matrix& result,
                    double scale) {
  ir::Program program;
  program.name = "one run";
  program.target.name = "target";
  program.target.engines = {"compute"};
  program.target.spaces = {{"sram", 1024, 1}};
  program.sections.push_back({"only", 0, {}, ir::kNoLocation});
  ir::Stage stage;
  stage.name = "stage";
  stage.op = op;
  stage.scale = scale;
  stage.section = ir::SectionId(0U);
  program.stages.push_back(stage);
  const auto tensor = [&](std::string name, const Matrix& m, ir::Init init) {
    ir::Tensor t;
    t.name = std::move(name);
    t.role = init == ir::Init::external ? ir::TensorRole::input : ir::TensorRole::output;
    t.rows = m.rows;
    t.cols = m.cols;
    t.dtype = m.dtype;
    t.init = init;
    program.tensors.push_back(t);
  };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    tensor(fmt::format("x{}", i), operands[i], ir::Init::external);
  }
  tensor("y", result, ir::Init::undefined);
  for (std::uint32_t i = 0; i < program.tensors.size(); ++i) {
    program.accesses.push_back(whole(program, i, i == operands.size()));
  }
  ir::EngineProgram engine;
  engine.engine = ir::EngineId(0U);
  ir::Op run;
  run.accesses = static_cast<std::uint32_t>(program.accesses.size());
  engine.ops = {run};
  engine.spans = {{ir::SectionId(0U), {}, 0, 1}};
  program.programs.push_back(engine);
  const auto invalid = ir::validate(program);
  REQUIRE_MESSAGE(!invalid, invalid->message());
  return program;
}

Machine machine(const ir::Program& program, const Inputs& inputs, std::uint32_t iterations) {
  auto made = Machine::make(program, inputs, iterations);
  REQUIRE_MESSAGE(made.has_value(), made.error().message());
  count("programs executed on the reference machine", 1);
  return std::move(made).value();
}

void check_op(OpKind op, const std::vector<Matrix>& operands, const Matrix& expected,
              double tolerance, double scale) {
  CAPTURE(ir::to_string(op));
  const ir::Program program = one_run(op, operands, expected, scale);
  Machine m = machine(program, given(operands));
  const Outcome outcome = m.run();
  REQUIRE_MESSAGE(outcome.ending == ir::machine::Ending::finished, outcome.text);
  const auto found = m.tensor("y");
  REQUIRE(found.has_value());
  if (tolerance == 0) {
    const auto text = ir::machine::difference(*found, expected);
    CHECK_MESSAGE(!text, *text);
    return;
  }
  REQUIRE(found->defined());
  for (std::uint64_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(found->reals[i] - expected.reals[i]) <= tolerance);
  }
}

void check_fault(OpKind op, const std::vector<Matrix>& operands, const Matrix& shape_of_result,
                 FaultKind kind, const std::string& text, double scale) {
  CAPTURE(ir::to_string(op));
  const ir::Program program = one_run(op, operands, shape_of_result, scale);
  Machine m = machine(program, given(operands));
  const Outcome outcome = m.run();
  INFO(outcome.text);
  CHECK(outcome.ending == ir::machine::Ending::fault);
  REQUIRE(outcome.fault.has_value());
  CHECK(*outcome.fault == kind);
  CHECK(outcome.text.find(text) != std::string::npos);
  CHECK(outcome.text.find(fmt::format("run stage ({})", ir::to_string(op))) != std::string::npos);
  if (!operands.empty()) CHECK(outcome.text.find("reads x0") != std::string::npos);
}

}  // namespace spatialcert::tests
