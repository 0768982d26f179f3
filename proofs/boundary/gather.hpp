// What meets at a closed boundary, and how far its own ops join it. Trusted; linear.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/sections.hpp"
#include "proofs/subject.hpp"

namespace spatialcert::proofs::boundary {

/// An engine program's part in one boundary: transitions [begin, end) of one iteration, empty where
/// it has none.
struct Participant {
  std::uint32_t program = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// The closed boundaries, in the order of the program.
class Meetings {
 public:
  explicit Meetings(const Subject& subject);

  [[nodiscard]] std::size_t size() const { return participants_.size(); }
  /// By engine program.
  [[nodiscard]] const std::vector<Participant>& participants(std::size_t boundary) const {
    return participants_[boundary];
  }
  /// Engine programs, ascending, that have ops of sections in the phase before (after) it.
  [[nodiscard]] const std::vector<std::uint32_t>& before(std::size_t boundary) const;
  [[nodiscard]] const std::vector<std::uint32_t>& after(std::size_t boundary) const;
  /// The boundary that ends the phase before; nothing for the first one of a `once` program.
  [[nodiscard]] std::optional<std::size_t> previous(std::size_t boundary) const;

  /// Engine programs, ascending, one of whose ops of the boundary comes before `centre`, an op of
  /// it (or is it); or that have one that it comes before.
  [[nodiscard]] std::vector<std::uint32_t> gathered(std::size_t boundary, std::uint32_t centre);
  [[nodiscard]] std::vector<std::uint32_t> released(std::size_t boundary, std::uint32_t centre);

 private:
  enum class Direction : std::uint8_t { backward, forward };
  std::vector<std::uint32_t> reached(std::size_t boundary, std::uint32_t centre,
                                     Direction direction);
  void collect(Direction direction, std::uint32_t t, std::vector<std::uint32_t>& open);

  const ir::Unrolled& one_;
  bool persistent_;
  std::vector<ir::Place> places_;  ///< within one iteration, without credits
  ir::Adjacency adjacency_;
  std::vector<std::vector<Participant>> participants_;
  std::vector<std::vector<std::uint32_t>> in_phase_;  ///< engine programs by phase
  std::vector<std::uint32_t> none_;
  std::vector<std::uint32_t> entry_;  ///< scratch, per engine program
};

}  // namespace spatialcert::proofs::boundary
