// Foldings of small programs, and what becomes of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "certify/pipeline.hpp"
#include "ir/folding.hpp"
#include "tests/proofs/draft.hpp"

namespace spatialcert::tests::foldings {

using Ops = std::vector<std::string>;

/// Trips of the loops.
inline constexpr int kTrips = 60;
/// The loop that is the first op of load, and that of compute.
inline const std::vector<ir::FoldedLoop> kBothFirst{{0, 0, 1, 0}, {1, 0, 1, 0}};

[[nodiscard]] certify::Options unrolled();
/// The verdict on the whole program, trip by trip.
[[nodiscard]] certify::Verdict truth(const ir::Program& program);

/// What became of a folding.
struct Claim {
  std::string refused;  ///< by fold(), or the kind of the first objection; empty: accepted
  certify::Verdict left = certify::Verdict::undecided;  ///< verdict on what is left of the program
};
[[nodiscard]] Claim claim(const ir::Program& program, const ir::Folding& folding);

/// One group of these loops, so that `left` trips remain of kTrips.
[[nodiscard]] ir::Folding keep(std::int64_t left, const std::vector<ir::FoldedLoop>& loops);

[[nodiscard]] Ops repeat(int trips, Ops body);
[[nodiscard]] Ops operator+(Ops a, const Ops& b);

/// load: x by rows into q; compute: out of q into y by rows; and what else they do in a trip.
[[nodiscard]] Draft pipeline(int pages = 2, const Ops& load = {}, const Ops& compute = {});

}  // namespace spatialcert::tests::foldings
