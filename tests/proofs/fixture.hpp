// A program with everything a rule's prove and check want, and their answers as text.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "proofs/counterexample.hpp"
#include "proofs/rules.hpp"
#include "proofs/subject.hpp"
#include "smt/query.hpp"
#include "tests/proofs/draft.hpp"

namespace spatialcert::tests {

/// A program and its subject, which refers to it: neither copied nor moved.
class Fixture {
 public:
  explicit Fixture(const Draft& draft) : Fixture(draft.program()) {}
  explicit Fixture(ir::Program p);
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  /// Transition of op number `op` of engine program `engine` (both from 0) in iteration `iteration`
  /// of the stretch.
  [[nodiscard]] ir::TransitionId at(std::uint32_t engine, std::uint32_t op,
                                    std::uint32_t iteration = 0) const;

  ir::Program program;
  proofs::Subject subject;
  std::vector<std::uint32_t> position;  ///< a linear extension; empty if there is none
  smt::Session session;
};

/// `accepted`, or the reason of the rejection.
[[nodiscard]] std::string outcome(const proofs::Check& check);
[[nodiscard]] std::string rejected(proofs::Rejected::Reason reason);
/// `reproduced`, or why not.
[[nodiscard]] std::string replayed(const ir::Program& program, const proofs::Counterexample& c);

/// `proved`, `refuted: KIND`, or `unknown: REASON`.
template <typename Witness>
[[nodiscard]] std::string outcome(const proofs::Search<Witness>& search) {
  if (const auto* refuted = std::get_if<proofs::Refuted>(&search)) {
    return "refuted: " + std::string(proofs::to_string(refuted->counterexample.kind));
  }
  const auto* unknown = std::get_if<proofs::Unknown>(&search);
  return unknown == nullptr ? "proved" : "unknown: " + unknown->reason;
}

template <typename Witness>
[[nodiscard]] const proofs::Counterexample& counterexample(const proofs::Search<Witness>& search) {
  return std::get<proofs::Refuted>(search).counterexample;
}
template <typename Witness>
[[nodiscard]] const Witness& witness(const proofs::Search<Witness>& search) {
  return std::get<proofs::Proved<Witness>>(search).witness;
}

}  // namespace spatialcert::tests
