// Paths for pairs of accesses, by vector clocks. Untrusted: every path is checked.
//
// Most pairs are joined by one hand-off a few ops away; these are found by looking back from the
// later access. For the others, for the engine programs of one site at a time, a sweep over
// transitions in linear-extension order keeps the latest op of each of these programs that is known
// to come before, and where that knowledge arrived. First only over the site's own programs and the
// places between them, then over everything for the pairs that are left. Pairs of different windows
// go over the centre between them.
#pragma once

#include <cstdint>
#include <vector>

#include "proofs/ordering/pairs.hpp"
#include "proofs/ordering/rule.hpp"
#include "proofs/subject.hpp"

namespace spatialcert::proofs::ordering {

struct Paths {
  std::vector<char> found;                         ///< per pair
  std::vector<std::vector<std::uint32_t>> places;  ///< per pair: a path of places of the stretch
  std::vector<Reach> reach;                        ///< per found pair: where its path runs
  bool limit = false;  ///< some pairs were not looked for: the program is too large
};

[[nodiscard]] Paths find_paths(const Subject& subject, const std::vector<std::uint32_t>& position,
                               const std::vector<Pair>& pairs, const Cuts& cuts);

}  // namespace spatialcert::proofs::ordering
