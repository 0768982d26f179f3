// Well-formedness of a program model, however it came to be (read, imported, composed, generated).
//
// Checks everything that ir/program.hpp promises of a validated program and DESIGN calls malformed;
// the list is in docs/format.md. It refuses by JSON path, because that is the form a user can look
// at.
#pragma once

#include "ir/program.hpp"
#include "ir/result.hpp"

namespace spatialcert::ir {

/// The first thing wrong with `program` in document order, or nothing.
[[nodiscard]] Status validate(const Program& program);

}  // namespace spatialcert::ir
