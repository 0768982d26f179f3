// The reachable states of a marked graph as a propositional formula.
//
// One boolean per op: "has been performed". A set of performed ops is reachable iff it holds, with
// every op, the op before it in its engine program and the source of every place into it; in a live
// marked graph these sets are exactly the reachable states. Only ops that matter get a variable:
// ends of places in scope, and those asked for.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

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
};

class Executed {
 public:
  /// `asked`: transitions that need a variable.
  Executed(const Subject& subject, smt::Query& query, const Scope& scope,
           const std::vector<std::uint32_t>& asked);

  [[nodiscard]] smt::Term of(std::uint32_t transition) const { return variable_.at(transition); }

 private:
  std::unordered_map<std::uint32_t, smt::Term> variable_;
};

}  // namespace spatialcert::proofs
