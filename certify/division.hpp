// Composed programs, section by section: sections that are alike are judged once, and what they say
// together is the verdict on the whole (proofs/composition/check.hpp says why).
#pragma once

#include <functional>
#include <optional>

#include "certify/pipeline.hpp"
#include "ir/digest.hpp"
#include "proofs/certificate/certificate.hpp"

namespace spatialcert::certify {

/// Judges a program of one section.
using JudgeSection =
    std::function<ProgramReport(const ir::Program& section, const Options& options)>;

/// The report if that shows that every rule holds. Otherwise nothing is said of the program: what
/// refutes a section alone may be impossible in the whole.
[[nodiscard]] std::optional<ProgramReport> judge_divided(const ir::Program& program,
                                                         const Options& options,
                                                         const ProgramReport& head,
                                                         const JudgeSection& judge_section);

/// A certificate of which only producer and digests are known.
[[nodiscard]] proofs::Certificate certificate_head(const ir::Program& program,
                                                   const ir::Digest& digest);

}  // namespace spatialcert::certify
