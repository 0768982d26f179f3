// What the machine cannot execute.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace spatialcert::ir::machine {

enum class FaultKind : std::uint8_t {
  semaphore_overflow,  ///< of the token game: a post above the maximum
  misuse,              ///< of the token game: pages that are not open
  bad_schedule,        ///< a script names a program that cannot step, or none
  not_restarted,       ///< `run` after the end of a token, without `restart`
  outside,             ///< a region that leaves its object
  undefined_read,      ///< a content that nobody wrote, or that has died
  wrong_type,          ///< elements of another type, parts of elements, or classes that do not mix
  no_shape,            ///< an op that needs rows and columns, on bytes without a tile
  wrong_shape,         ///< rows and columns that do not go together
  operands,            ///< more or fewer operands than the op has
  integer_overflow,    ///< a result that its integer type does not hold
  not_a_number,        ///< NaN where there is no value for it
  index                ///< a row of a table that does not exist
};
[[nodiscard]] std::string_view to_string(FaultKind kind);

/// Thrown inside the machine; `run` turns it into an Outcome that also names op, stage and place.
struct Failure {
  FaultKind kind;
  std::string text;
};

}  // namespace spatialcert::ir::machine
