// The reachable states of a marked graph as a propositional formula.
//
// One boolean per op: "has been performed". A set of performed ops is reachable iff it holds, with
// every op, the op before it in its engine program and the source of every place into it; in a live
// marked graph these sets are exactly the reachable states. Only ops that matter get a variable:
// ends of places in scope, and those asked for.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "proofs/canonical.hpp"
#include "proofs/subject.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs {

/// The part of the net that a query speaks of. Leaving places out only allows more states, so what
/// is impossible in a part is impossible.
struct Scope {
  std::vector<std::uint32_t> programs;  ///< engine programs
  bool with_credit = false;             ///< the places of guaranteed FIFOs too
  /// If set: only transitions whose position lies in [low, high]. Every path between two
  /// transitions stays between their positions in a linear extension.
  const std::vector<std::uint32_t>* position = nullptr;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  /// If not empty: per entry of `programs`, only its transitions in [first, second).
  std::vector<std::pair<std::uint32_t, std::uint32_t>> parts;
};

/// The formula, with its variables numbered in the order of their transitions.
struct Reachable {
  std::vector<std::uint32_t> transitions;  ///< of every variable, ascending
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      implications;  ///< the first needs the second
  std::vector<std::uint32_t> never;

  /// Number of the variable of a transition that has one.
  [[nodiscard]] std::uint32_t number(std::uint32_t transition) const;
  /// Equal for parts that are equal up to names.
  void write(CanonicalText& text) const;
};
/// `asked`: transitions that need a variable.
[[nodiscard]] Reachable reachable(const Subject& subject, const Scope& scope,
                                  const std::vector<std::uint32_t>& asked);

class Executed {
 public:
  Executed(smt::Query& query, const Reachable& states);

  [[nodiscard]] smt::Term of(std::uint32_t transition) const {
    return variables_[states_.number(transition)];
  }

 private:
  const Reachable& states_;
  std::vector<smt::Term> variables_;
};

}  // namespace spatialcert::proofs
