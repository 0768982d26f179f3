// The whole pipeline against the oracle, on one program: is what is certified right in every
// schedule, and does the oracle find what is refuted?
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "certify/pipeline.hpp"
#include "tests/oracle/findings.hpp"

namespace spatialcert::tests {

/// Does the oracle find the failure that the counterexample shows?
[[nodiscard]] bool confirmed(const ir::Program& program, const proofs::Counterexample& c,
                             const Findings& f);

/// Did `rule` certify what the oracle finds broken? Where buffers overlap, which `memory` refutes,
/// the other rules need not see that two names mean one byte.
[[nodiscard]] bool contradicts(proofs::Rule rule, const Findings& f);

struct Judgement {
  certify::ProgramReport report;
  Findings findings;
  std::string disagreement;  ///< empty: none
  std::uint64_t replays = 0;

  /// The oracle has explored all of it, and finds it in the marked-graph class: is it undecided all
  /// the same?
  [[nodiscard]] bool undecided_in_class() const;
};

/// Certifies and examines a validated program, small enough for the explorer.
[[nodiscard]] Judgement judge(const ir::Program& program, const certify::Options& options = {},
                              std::uint64_t state_limit = 200'000);

/// What both say, rule by rule.
[[nodiscard]] std::string verdicts(const Judgement& j);

/// What became of the programs.
struct Tally {
  std::uint64_t programs = 0, certified = 0, refuted = 0, undecided = 0, too_large = 0;
  std::uint64_t states = 0, replays = 0, queries = 0, witnesses = 0;
  std::uint64_t undecided_in_class = 0;
  std::map<std::string, std::uint64_t> refuted_by, refuted_as, why_undecided, faults;

  void add(const Judgement& j, const std::string& fault);
  [[nodiscard]] std::string text() const;
  /// Adds the totals to what the test run did (tests/counts.hpp).
  void report(const std::string& what) const;
};

/// `WHAT: 3 a, 2 b,` on a line of its own.
[[nodiscard]] std::string counts_text(const char* what,
                                      const std::map<std::string, std::uint64_t>& counts);

}  // namespace spatialcert::tests
