#include "ir/require.hpp"

#include <fmt/format.h>

#include "ir/result.hpp"

namespace spatialcert::ir {

void require_failed(const char* condition, const char* why, const char* file, int line) {
  throw InternalFault(fmt::format("{}:{}: {} ({})", file, line, why, condition));
}

std::string Refusal::message() const {
  std::string place = file;
  if (line != 0) place += fmt::format("{}{}", place.empty() ? "line " : ":", line);
  if (!path.empty()) place += (place.empty() ? "" : ": ") + path;
  const std::string what = found.empty() ? fmt::format("expected {}", expected)
                                         : fmt::format("expected {}, found {}", expected, found);
  return place.empty() ? what : place + ": " + what;
}

}  // namespace spatialcert::ir
