#include "ir/machine/fault.hpp"

#include <array>

#include "ir/require.hpp"

namespace spatialcert::ir::machine {

std::string_view to_string(FaultKind kind) {
  constexpr std::array<std::string_view, 13> kNames = {
      "semaphore overflow", "misuse of a FIFO", "bad schedule",      "not restarted", "outside",
      "undefined read",     "wrong type",       "no shape",          "wrong shape",   "operands",
      "integer overflow",   "not a number",     "index out of range"};
  const auto index = static_cast<std::size_t>(kind);
  SPATIALCERT_REQUIRE(index < kNames.size(), "enumerator out of range");
  return kNames[index];
}

}  // namespace spatialcert::ir::machine
