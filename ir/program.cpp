#include "ir/program.hpp"

#include <array>

#include "ir/require.hpp"

namespace spatialcert::ir {
namespace {

template <typename Enum, std::size_t N>
std::string_view name_of(Enum value, const std::array<std::string_view, N>& names) {
  const auto index = static_cast<std::size_t>(value);
  SPATIALCERT_REQUIRE(index < N, "enumerator out of range");
  return names[index];
}

using Names3 = std::array<std::string_view, 3>;

}  // namespace

Program::Program() = default;
Program::Program(const Program&) = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(const Program&) = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

std::uint64_t op_count(const Program& program) {
  std::uint64_t count = 0;
  for (const EngineProgram& p : program.programs) count += p.ops.size();
  return count;
}

std::string_view to_string(DType value) {
  return name_of(value, std::array<std::string_view, 8>{"i8", "i16", "i32", "i64", "bf16", "f16",
                                                        "f32", "f64"});
}
std::string_view to_string(TensorRole value) {
  return name_of(
      value, std::array<std::string_view, 5>{"input", "weight", "state", "activation", "output"});
}
std::string_view to_string(Init value) {
  return name_of(value, Names3{"undefined", "zero", "external"});
}
std::string_view to_string(BufferKind value) {
  return name_of(value, Names3{"fifo", "interm", "scratch"});
}
std::string_view to_string(Depth value) {
  return name_of(value, std::array<std::string_view, 2>{"exact", "guaranteed"});
}
std::string_view to_string(Restart value) {
  return name_of(value, std::array<std::string_view, 2>{"keep", "reset"});
}
std::string_view to_string(StageKind value) {
  return name_of(value,
                 std::array<std::string_view, 5>{"load", "store", "compute", "allreduce", "copy"});
}
std::string_view to_string(OpKind value) {
  return name_of(value, std::array<std::string_view, 24>{
                            "matmul",  "add",    "sub",     "mul",      "scale",      "neg",
                            "sum",     "max",    "rmsnorm", "softmax",  "silu",       "gelu",
                            "sigmoid", "exp",    "rope",    "gather",   "conv1d",     "gated-delta",
                            "topk",    "select", "cast",    "quantise", "dequantise", "copy"});
}
std::string_view to_string(OpCode value) {
  return name_of(value, std::array<std::string_view, 9>{"wait", "await", "post", "reserve", "push",
                                                        "front", "pop", "run", "repeat"});
}
std::string_view to_string(Axis value) {
  return name_of(value, std::array<std::string_view, 2>{"rows", "columns"});
}

std::string_view to_string(Execution value) {
  return name_of(value, std::array<std::string_view, 2>{"once", "persistent"});
}

std::uint64_t size_of(DType value) {
  switch (value) {
    case DType::i8:
      return 1;
    case DType::i16:
    case DType::bf16:
    case DType::f16:
      return 2;
    case DType::i32:
    case DType::f32:
      return 4;
    case DType::i64:
    case DType::f64:
      return 8;
  }
  ir::require_failed("dtype", "enumerator out of range", __FILE__, __LINE__);
}

}  // namespace spatialcert::ir
