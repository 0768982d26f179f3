// Finds the rounds after which types recur from section to section, and asks Z3 about the steps.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "proofs/composition/check.hpp"
#include "proofs/reduction/rule.hpp"
#include "proofs/subject.hpp"

namespace spatialcert::proofs::composition {

/// `subjects`: as for TypeRounds. Otherwise why there are none: the program is then looked at as a
/// whole.
[[nodiscard]] std::variant<reduction::Typing, std::string> prove_types(
    const ir::Program& program, const Division& division, const std::vector<Subject>& subjects,
    smt::Session& session);

}  // namespace spatialcert::proofs::composition
