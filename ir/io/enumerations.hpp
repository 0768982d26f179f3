// Enumerators from their names; the names themselves are those of to_string (ir/program.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/program.hpp"

namespace spatialcert::ir::io {

constexpr DType last_of(DType) { return DType::f64; }
constexpr TensorRole last_of(TensorRole) { return TensorRole::output; }
constexpr Init last_of(Init) { return Init::external; }
constexpr BufferKind last_of(BufferKind) { return BufferKind::scratch; }
constexpr Depth last_of(Depth) { return Depth::guaranteed; }
constexpr Restart last_of(Restart) { return Restart::reset; }
constexpr StageKind last_of(StageKind) { return StageKind::copy; }
constexpr OpKind last_of(OpKind) { return OpKind::copy; }
constexpr Execution last_of(Execution) { return Execution::persistent; }
constexpr Axis last_of(Axis) { return Axis::columns; }

template <typename Enum>
std::optional<Enum> enumerator(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(last_of(Enum{})); ++i) {
    if (to_string(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

/// `one of "a", "b"`.
template <typename Enum>
std::string enumerator_names() {
  std::string names = "one of";
  for (int i = 0; i <= static_cast<int>(last_of(Enum{})); ++i) {
    names += i == 0 ? " \"" : ", \"";
    names += to_string(static_cast<Enum>(i));
    names += '"';
  }
  return names;
}

}  // namespace spatialcert::ir::io
