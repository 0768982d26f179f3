// Asks Z3 about what joins the sections of a divided program, and what keeps them apart. Untrusted:
// both are recomputed where the program is divided (proofs/composition/check.hpp).
#pragma once

#include <optional>
#include <string>

#include "proofs/composition/check.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs::composition {

/// `boundary`, once per class of consecutive rendezvous: their ops, with a section of one op per
/// engine program before, between and after them, are a program of which the rule is asked. Why it
/// is not proved, if so.
[[nodiscard]] std::optional<std::string> prove_boundaries(const ir::Program& program,
                                                          smt::Session& session);

/// `isolation`, once per phase and distinct layout of what its sections touch.
[[nodiscard]] std::optional<std::string> prove_isolation(const ir::Program& program,
                                                         const Division& division,
                                                         smt::Session& session);

}  // namespace spatialcert::proofs::composition
