// What the rules say of one subject: every one is applied, in an order in which what it presupposes
// comes before it, its witness checked and its counterexample replayed; then the verdict is theirs
// together (certify/pipeline.hpp says which).
#pragma once

#include <cstdint>
#include <string>

#include "certify/pipeline.hpp"
#include "proofs/certificate/certificate.hpp"
#include "proofs/subject.hpp"

namespace spatialcert::certify {

/// Applies the rules to a subject, which is that of the whole program or of what stands for it.
/// `report` has what is known already; `certificate`, without witnesses yet, becomes the report's
/// if witnesses are kept and all rules hold.
[[nodiscard]] ProgramReport judge(const proofs::Subject& subject,
                                  const proofs::Certificate& certificate, const Options& options,
                                  ProgramReport report);

/// The program's verdict from its rules': refuted before undecided before certified.
void conclude(ProgramReport& report);
/// What `flow` has to say of that many reads without a declared producer; nothing if there are
/// none.
[[nodiscard]] std::string undeclared_text(std::uint64_t reads);
/// Do all rules of the report hold, be it only those that were asked for?
[[nodiscard]] bool holds(const ProgramReport& report);
/// The first rule that does not hold, with its detail.
[[nodiscard]] std::string first_open(const ProgramReport& report);

}  // namespace spatialcert::certify
