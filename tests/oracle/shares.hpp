// The oracle of `shard`: whose own data every single location holds, and how often.
//
// Written without proofs/shard/labels.hpp and ir/accesses.hpp, over single locations instead of
// segments, and with counts instead of sets: a *share* says how often every chip's data are in a
// location, at least and at most. A run gives every location that it writes what it may have from
// any element of each operand; an element of an elementwise all-reduce has the sums of its
// operands' counts, and nothing if these are once for every chip, at least and at most. A count of
// two therefore never goes away.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/program.hpp"
#include "proofs/counterexample.hpp"

namespace spatialcert::tests {

struct ShareFindings {
  bool misplaced = false;  ///< a tensor is touched on the wrong chip
  /// First token (or iteration) in which something that is not replicated is stored to the spine.
  std::optional<std::uint32_t> first;
  std::set<proofs::Kind> kinds;  ///< of the stores of that token that are wrong
};

/// Plays `rounds` iterations of a persistent program, or as many tokens of one that is run once, by
/// a schedule drawn from `seed`, each as far as it goes. The program is validated and small (of at
/// most 8 chips); if its conflicting accesses are not ordered, that schedule is all that is said.
[[nodiscard]] ShareFindings shares(const ir::Program& program, std::uint32_t rounds,
                                   std::uint64_t seed);

}  // namespace spatialcert::tests
