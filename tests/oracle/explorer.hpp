// All interleavings of a small program on the token game.
//
// The state of the game is a function of where the engine programs stand (each end of a FIFO
// belongs to one engine program, which validation guarantees), so the reachable states are points
// of a grid and the search keeps one key per point. A play stops at a fault; the fault is recorded
// and not passed.
//
// Precise, because nothing is reduced: no partial orders, no symmetry. It gives up at a limit of
// states and then answers nothing (`complete` is false).
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "ir/token_game.hpp"

namespace spatialcert::tests {

/// At most so many engine programs of at most so many op instances.
inline constexpr std::uint32_t kMostPrograms = 6;
inline constexpr std::uint32_t kMostSteps = 0xffff;

/// Steps made by every engine program.
using Front = std::array<std::uint16_t, kMostPrograms>;

class Exploration {
 public:
  Exploration(const ir::TokenGame& game, std::uint64_t state_limit);

  bool complete = false;
  std::uint64_t steps = 0;
  std::vector<Front> states;
  std::vector<std::uint8_t> enabled;  ///< of every state: bit p if engine program p can step
  std::vector<std::uint32_t> stuck;   ///< states where nobody can step and not all have finished
  std::set<std::uint32_t> overflows;  ///< transitions that overflow in some reachable state
  std::set<std::uint32_t> misuses;    ///< transitions outside their window in some reachable state
  std::set<std::uint32_t>
      unequal_ends;  ///< counters that differ from their start when all have finished

  /// Is there a reachable state in which `done` has been performed and `open` has not?
  [[nodiscard]] bool separates(std::uint32_t done, std::uint32_t open) const;
  /// Can `t` be performed in some reachable state (faulty or not)?
  [[nodiscard]] bool ever_enabled(std::uint32_t t) const { return enabled_[t]; }
  /// Blocking tests that do not always hold once everything that precedes them in all schedules has
  /// been performed: these keep the program out of the marked-graph class. Tests that never hold
  /// are not listed.
  [[nodiscard]] std::vector<std::uint32_t> inexact_tests() const;
  /// A schedule from the start to state number `state`.
  [[nodiscard]] ir::Schedule schedule_to(std::uint32_t state) const;

 private:
  void search(const ir::TokenGame& game, std::uint64_t state_limit);
  void summarise();
  void record_end(const ir::TokenGame& game, const ir::PlayState& state);
  [[nodiscard]] std::uint32_t program_of(std::uint32_t t) const { return unrolled_->program[t]; }
  [[nodiscard]] std::uint32_t step_of(std::uint32_t t) const {
    return t - unrolled_->begin[unrolled_->program[t]];
  }

  const ir::Unrolled* unrolled_;
  std::uint32_t programs_ = 0;
  std::vector<std::uint32_t> parent_;  // of every state: the state it was first reached from
  std::vector<bool> enabled_;          // by transition
  // farthest_[t][q]: most steps of q in a reachable state in which t has not been performed
  std::vector<Front> farthest_;
  // fewest_[t][q]: fewest steps of q in a reachable state in which t can be performed
  std::vector<Front> fewest_;
};

}  // namespace spatialcert::tests
