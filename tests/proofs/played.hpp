// A small program with all its plays, and what they say of places that somebody claims.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/known_order.hpp"
#include "tests/oracle/explorer.hpp"
#include "tests/proofs/draft.hpp"

namespace spatialcert::tests {

using Places = std::vector<ir::Place>;

[[nodiscard]] ir::Unrolled unrolled(const ir::Program& program, std::uint32_t iterations);

class Played {
 public:
  /// Iterations of a persistent program that are played: the one that stands for all later ones,
  /// and one more.
  static constexpr std::uint32_t kPlayed = ir::kPastIterations + 2;
  static constexpr std::uint64_t kMostStates = 40'000;

  explicit Played(const Draft& draft, std::uint32_t iterations = kPlayed,
                  std::uint64_t most_states = kMostStates);
  Played(const Played&) = delete;
  Played& operator=(const Played&) = delete;

  [[nodiscard]] bool complete() const;
  [[nodiscard]] ir::Net net(const Places& places) const;
  /// Does the place hold in every play, in every iteration? If it is no credit, with deeper FIFOs
  /// too.
  [[nodiscard]] bool holds(const ir::Place& place) const;
  /// A test that no issue names, and that does not hold in some state in which all its places do;
  /// or nothing.
  [[nodiscard]] std::optional<std::string> not_exact(const ir::Net& net) const;

  const ir::Program program;
  const ir::Unrolled one;
  const ir::CountedNet counted;

 private:
  [[nodiscard]] bool holds_in(const Exploration& explored, const ir::Place& place) const;
  [[nodiscard]] std::uint32_t at(ir::TransitionId t, std::int64_t iteration) const;
  [[nodiscard]] std::uint32_t within_one(std::uint32_t t) const;
  [[nodiscard]] bool performed(std::size_t state, std::uint32_t t) const;

  const ir::Unrolled many_;
  const Exploration explored_;
  std::optional<Exploration> deeper_;
};

}  // namespace spatialcert::tests
