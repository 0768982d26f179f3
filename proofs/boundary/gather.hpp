// What meets at a closed boundary, and whether the net joins it. Trusted; linear, but
// for boundaries without a centre, at which every engine program is asked about.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/sections.hpp"
#include "proofs/subject.hpp"

namespace spatialcert::proofs::boundary {

inline constexpr std::uint32_t kNone = 0xffffffffU;

/// Transitions [begin, end) of one engine program.
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  /// Extends it to cover `other`, which begins no earlier.
  void cover(Range other);
  [[nodiscard]] bool holds(std::uint32_t t) const { return begin <= t && t < end; }
};

/// An engine program's part in one boundary, in transitions of one iteration.
struct Participant {
  std::uint32_t program = 0;
  Range own;                    ///< its ops of the boundary; may be empty
  Range around;                 ///< from its ops of the boundary before to those of the one after
  std::uint32_t last = kNone;   ///< its last section op of the phase before, if any
  std::uint32_t first = kNone;  ///< its first one of the phase after
};

/// The closed boundaries, in the order of the program. What is asked of a boundary is asked in one
/// round (iteration) of the stretch.
class Meetings {
 public:
  explicit Meetings(const Subject& subject);

  [[nodiscard]] std::size_t size() const { return participants_.size(); }
  /// Rounds that stand for all: the first one has none before it.
  [[nodiscard]] std::uint32_t rounds() const { return persistent_ ? 2 : 1; }
  /// Ascending by engine program.
  [[nodiscard]] const std::vector<Participant>& participants(std::size_t boundary) const {
    return participants_[boundary];
  }
  /// Engine programs, ascending, that have ops of sections in the phase before (after) it.
  [[nodiscard]] const std::vector<std::uint32_t>& before(std::size_t boundary) const;
  [[nodiscard]] const std::vector<std::uint32_t>& after(std::size_t boundary) const;
  /// The boundary that ends the phase before; nothing for the first one of a `once` program.
  [[nodiscard]] std::optional<std::size_t> previous(std::size_t boundary) const;

  /// Transition of the stretch: `t` of one iteration, in `round`.
  [[nodiscard]] std::uint32_t at(std::uint32_t t, std::uint32_t round) const;
  /// Transition of the stretch up to which engine program `p` belongs to what is before the
  /// boundary, at least; nothing if it has no op there yet.
  [[nodiscard]] std::optional<std::uint32_t> last_before(std::size_t boundary, std::uint32_t round,
                                                         std::uint32_t p) const;
  /// The same for the first one after it, for a program of the phase after it.
  [[nodiscard]] std::uint32_t first_after(std::size_t boundary, std::uint32_t round,
                                          std::uint32_t p) const;

  /// What a boundary lacks: engine program `before` does not lead to engine program `after`, one of
  /// which may be that of the centre.
  struct Gap {
    std::uint32_t before = 0;
    std::uint32_t after = 0;
  };
  /// Nothing if centre[boundary] joins what is before the boundary to what is after it and comes
  /// after the centre before it, as far as there is one; or if, where it is `kNone`, every engine
  /// program before leads to every one after. Paths keep near the boundary.
  [[nodiscard]] std::optional<Gap> gap(std::size_t boundary,
                                       const std::vector<std::uint32_t>& centre);

 private:
  enum class Direction : std::uint8_t { backward, forward };
  enum class Scope : std::uint8_t { own, around };
  /// Where a search is: a boundary, in a round, within a scope.
  struct Place {
    std::size_t boundary = 0;
    std::uint32_t round = 0;
    Scope scope = Scope::own;
  };
  /// By engine program, ascending: its last op that leads to the origin, or the first it leads to.
  using Reached = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  [[nodiscard]] Reached reached(const Place& place, std::uint32_t origin, Direction direction);
  void collect(Direction direction, std::uint32_t t, std::vector<std::uint32_t>& open) const;
  [[nodiscard]] Range range(const Place& place, std::uint32_t program) const;
  /// The first of the phase before that does not lead to the origin.
  [[nodiscard]] std::optional<std::uint32_t> not_leading(const Place& place,
                                                         const Reached& leads) const;
  [[nodiscard]] std::optional<Gap> not_gathered(const Place& place,
                                                const std::vector<std::uint32_t>& centre);
  [[nodiscard]] std::optional<Gap> not_released(const Place& place, std::uint32_t centre);
  [[nodiscard]] std::optional<Gap> not_joined(const Place& place);
  [[nodiscard]] const Participant* participant(std::size_t boundary, std::uint32_t program) const;
  void add(const ir::Piece& piece, std::uint32_t phase, std::uint32_t boundary);

  const Subject& subject_;
  bool persistent_;
  std::vector<std::vector<Participant>> participants_;
  std::vector<std::vector<std::uint32_t>> in_phase_;  ///< engine programs by phase
  std::vector<std::uint32_t> none_;
  std::vector<std::uint32_t> entry_;  ///< scratch, per engine program
};

}  // namespace spatialcert::proofs::boundary
