// reduction: every output holds exactly the declared combination of initial contents, each
// contribution exactly as often as declared, in every schedule.
//
// Premises: the program is determinate (every test exact, `liveness`, `ordering`, `flow`:
// DESIGN 13.9), and in one symbolic run every byte of every postcondition's region is the sum of
// the terms' bytes. Conclusion: so it is in every run, because a determinate program has one
// outcome.
//
// Z3 is given the equations of the run, with an integer unknown per initial content, and asked for
// contents for which an output differs from its declared sum. The check counts contributions by
// walking the sums. A floating-point sum is judged as a sum of terms, not by its rounding.
#pragma once

#include "proofs/reduction/values.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::smt {
struct Session;
}

namespace spatialcert::proofs::reduction {

/// Recomputed from the program along a linear extension.
struct Witness {};

[[nodiscard]] Search<Witness> prove(const Subject& subject,
                                    const std::vector<std::uint32_t>& position,
                                    smt::Session& session);
[[nodiscard]] Check check(const Subject& subject, const Witness& witness);

/// Does the combination equal the obligation's expectation?
[[nodiscard]] bool meets(const Combination& combination, const Obligation& obligation);

}  // namespace spatialcert::proofs::reduction
