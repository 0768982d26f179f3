// Queries as text, and solvers from outside that answer them.
#pragma once

#include <string>
#include <vector>

#include "ir/program.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::tests {

struct AskedQuery {
  proofs::Rule rule = proofs::Rule::liveness;
  std::string text;  ///< SMT-LIB 2
};

/// Every query that the rules' proofs ask of `program`, whatever their verdicts: a refuted rule
/// keeps no other from being asked. In the order of proofs::all_rules().
[[nodiscard]] std::vector<AskedQuery> all_queries(const ir::Program& program);

/// The answer that a certified program's query has.
[[nodiscard]] inline const char* certified_answer(proofs::Rule rule) {
  return rule == proofs::Rule::liveness ? "sat" : "unsat";
}

/// A solver's command, if it is installed.
class ExternalSolver {
 public:
  explicit ExternalSolver(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] bool installed() const;
  /// Its first line of output: `sat`, `unsat`, `unknown`, or an error.
  [[nodiscard]] std::string answer(const std::string& text) const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

[[nodiscard]] inline ExternalSolver z3_command() { return ExternalSolver("/usr/bin/z3"); }
[[nodiscard]] inline ExternalSolver cvc5_command() { return ExternalSolver("/usr/bin/cvc5"); }

/// The first query whose answer is not that of a certified program, according to `solver`; nothing
/// if there is none.
[[nodiscard]] const AskedQuery* flipped(const std::vector<AskedQuery>& queries,
                                        const ExternalSolver& solver);

}  // namespace spatialcert::tests
