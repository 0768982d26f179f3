// What forgers write into certificates.
#pragma once

#include <string>
#include <vector>

#include "ir/net.hpp"
#include "ir/program.hpp"
#include "proofs/certificate/certificate.hpp"
#include "tests/oracle/generator.hpp"

namespace spatialcert::tests {

/// The certificate's witnesses, claimed for `program`: the digests are replaced.
[[nodiscard]] proofs::Certificate claimed_for(const ir::Program& program,
                                              const proofs::Certificate& certificate);

/// The best that a forger who has read the checker can say of `program`, true or not: given these
/// places, the witnesses that the checks ask for wherever there are any.
[[nodiscard]] proofs::Certificate best_claim(const ir::Program& program,
                                             const std::vector<ir::Place>& justified);

/// Places between the same ops (counted from the beginning of each engine program) of a changed
/// program; those without a counterpart are left out.
[[nodiscard]] std::vector<ir::Place> moved_places(const ir::Program& from,
                                                  const std::vector<ir::Place>& places,
                                                  const ir::Program& to);

/// Every place that one could claim by known order: from an event to a test of one counter.
[[nodiscard]] std::vector<ir::Place> conceivable_places(const ir::Program& program);
/// Does the check of places let all of them pass?
[[nodiscard]] bool let_pass(const ir::Program& program, const std::vector<ir::Place>& places);
/// As many of them as the check lets pass, found by trying, several at once too.
[[nodiscard]] std::vector<ir::Place> most_places(const ir::Program& program, Random& random,
                                                 std::uint32_t tries);

/// Changes one thing in a certificate; says what, or nothing if there is nothing of that kind.
[[nodiscard]] std::string alter(proofs::Certificate& certificate, std::uint32_t transitions,
                                Random& random);
/// Changes something in the bytes of a small certificate and seals them again. Says what.
[[nodiscard]] std::string alter_bytes(const proofs::Certificate& certificate, std::string& bytes,
                                      Random& random);

}  // namespace spatialcert::tests
