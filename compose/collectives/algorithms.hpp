// The algorithms. Definitions, literature and the argument for liveness: docs/collectives.md.
//
// Every function takes a plan whose pair and rank count are supported, and returns steps without
// waits.
#pragma once

#include <functional>

#include "compose/collectives/builder.hpp"

namespace spatialcert::compose {

[[nodiscard]] CollectiveProgram build_ring(const Plan& plan);
[[nodiscard]] CollectiveProgram build_allpairs(const Plan& plan);
[[nodiscard]] CollectiveProgram build_recursive_doubling(const Plan& plan);
[[nodiscard]] CollectiveProgram build_tree(const Plan& plan);
[[nodiscard]] CollectiveProgram build_hierarchical(const Plan& plan);

/// One rank's seat in a ring: it receives from `previous` and sends to `next`.
struct Ring {
  std::uint32_t size = 1;
  std::uint32_t position = 0;
  std::uint32_t previous = 0;
  std::uint32_t next = 0;
  std::uint32_t channel = 0;
  bool send_first = false;
};

using Place = std::function<Address(std::uint32_t piece)>;

/// A piece of the data, `count` chunks, at each of its stations in a ring reduce-scatter.
struct ScatterPlaces {
  std::uint32_t count = 1;
  Place raw;       ///< this rank's own contribution to a piece
  Place partial;   ///< the sum so far, of a piece that goes on to the next rank
  Address result;  ///< the whole sum of the piece that stays, number `Ring::position`
};
/// A ring of one member has nothing to do and leaves `result` untouched.
void ring_reduce_scatter(RankBuilder& builder, const Ring& ring, const ScatterPlaces& places);

/// Piece number `Ring::position` is there already; a piece has several runs of `count` chunks each.
struct GatherPlaces {
  std::uint32_t count = 1;
  std::uint32_t runs = 1;
  std::function<Address(std::uint32_t piece, std::uint32_t run)> place;
};
void ring_allgather(RankBuilder& builder, const Ring& ring, const GatherPlaces& places);

}  // namespace spatialcert::compose
