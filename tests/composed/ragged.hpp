// Sections on ragged sets of sites and engines, for rendezvous of any size.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.hpp"
#include "tests/composition/section_maker.hpp"
#include "tests/oracle/generator.hpp"

namespace spatialcert::tests {

/// 64 engines `e0`, `e1`, ... on each of 2 chips of 8 x 4 sites.
[[nodiscard]] ir::Target wide_target();

/// `programs` engine programs on `sites` sites, in no particular order, at least one on each;
/// `sites` is at most `programs` and at most 64, and so is `programs`.
[[nodiscard]] std::vector<TestPlace> ragged_places(Random& random, std::uint32_t programs,
                                                   std::uint32_t sites);

/// Sections `a`, `b`, ... of which each reads everything that the one before writes. Every place
/// has an op in at least one of them, and in every section some have.
[[nodiscard]] std::vector<ir::Program> ragged_chain(Random& random,
                                                    const std::vector<TestPlace>& places,
                                                    std::uint32_t sections);

}  // namespace spatialcert::tests
