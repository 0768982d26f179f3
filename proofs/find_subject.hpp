// A subject with a net whose places were searched for. Untrusted: make_subject checks them.
#pragma once

#include <variant>

#include "proofs/subject.hpp"

namespace spatialcert::proofs {

/// As make_subject, with the places that the search finds. Where a test is not exact, its issue
/// says what the search knows of it.
[[nodiscard]] std::variant<Subject, Untranslatable> find_subject(const ir::Program& program);

}  // namespace spatialcert::proofs
