// Assertions about our own code, on in every build.
//
// A broken assumption must never turn into a verdict, so a failed requirement throws
// `InternalFault`; the command turns it into exit status 70. Never used for input, which is refused
// instead.
#pragma once

#include <stdexcept>
#include <string>

namespace spatialcert::ir {

class InternalFault : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void require_failed(const char* condition, const char* why, const char* file,
                                 int line);

}  // namespace spatialcert::ir

#define SPATIALCERT_REQUIRE(condition, why) \
  (static_cast<bool>(condition)             \
       ? static_cast<void>(0)               \
       : ::spatialcert::ir::require_failed(#condition, (why), __FILE__, __LINE__))
