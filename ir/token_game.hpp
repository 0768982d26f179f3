// The token game: the only definition of what a program means.
//
// Engines run concurrently; one engine runs its ops in order, one at a time. A state is where every
// engine program stands, what every semaphore holds and how far every FIFO is. Net, rules and
// checkers are right when they agree with this game. It is an interpreter: it plays any schedule it
// is given and says who is blocked on what. Finding schedules is other code's business.
//
// `wait s n` blocks until s >= n and subtracts n; `await s v` blocks until s >= v. `reserve b n`
// blocks until n pages of b are free, `front b n` until n are filled; both take nothing, and open a
// window: the largest since the last push (pop), less what was pushed (popped) since. `push` and
// `pop` beyond the window, or touching a page outside it, is misuse. A post above the maximum is an
// overflow. A failing op is not performed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/counters.hpp"
#include "ir/program.hpp"
#include "ir/unroll.hpp"

namespace spatialcert::ir {

/// A test that does not hold: `need` against what the counter has.
struct BlockingTest {
  CounterId counter;
  std::int64_t need = 0;
  std::int64_t have = 0;
};

/// An op that must not be performed in this state.
struct PlayFault {
  enum class Kind : std::uint8_t { overflow, misuse };
  Kind kind = Kind::misuse;
  TransitionId transition;
  CounterId counter;       ///< the semaphore, or a counter of the FIFO
  std::int64_t value = 0;  ///< overflow: what it would become; misuse: pages asked for
  std::int64_t limit = 0;  ///< overflow: the maximum; misuse: pages open
};

struct PlayState {
  std::vector<std::uint32_t> next;   ///< per engine program: transition to perform next, or its end
  std::vector<std::int64_t> value;   ///< per semaphore
  std::vector<std::int64_t> pushed;  ///< per buffer: pages pushed so far
  std::vector<std::int64_t> popped;  ///< per buffer: pages popped so far
  std::vector<std::int64_t> back;    ///< per buffer: pages of the producer's open window
  std::vector<std::int64_t> front;   ///< per buffer: pages of the consumer's open window
  friend bool operator==(const PlayState&, const PlayState&) = default;
};

class TokenGame {
 public:
  /// Both must outlive the game. `extra_pages`: pages that FIFO buffers (by BufferId) have beyond
  /// their declared number; empty = none. Only guaranteed FIFOs may be deeper than declared.
  TokenGame(const Program& program, const Unrolled& unrolled,
            std::vector<std::int64_t> extra_pages = {});

  [[nodiscard]] PlayState start() const;
  [[nodiscard]] bool finished(const PlayState& state, ProgramId p) const {
    return state.next[p.value()] == unrolled_->begin[p.value() + 1];
  }
  [[nodiscard]] bool all_finished(const PlayState& state) const;
  /// The test that holds `p` back; nothing if its next op can be performed or `p` has finished.
  [[nodiscard]] std::optional<BlockingTest> blocked(const PlayState& state, ProgramId p) const;
  [[nodiscard]] bool can_step(const PlayState& state, ProgramId p) const {
    return !finished(state, p) && !blocked(state, p);
  }
  /// Performs the next op of `p`, which must be able to step. On a fault the state is unchanged.
  std::optional<PlayFault> step(PlayState& state, ProgramId p) const;

  [[nodiscard]] std::int64_t counter_value(const PlayState& state, CounterId counter) const;
  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] const Unrolled& unrolled() const { return *unrolled_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  [[nodiscard]] std::int64_t pages(std::uint32_t buffer) const;
  [[nodiscard]] std::optional<PlayFault> window_fault(const PlayState& state, TransitionId t) const;

  const Program* program_;
  const Unrolled* unrolled_;
  Counters counters_;
  std::vector<std::int64_t> extra_pages_;
};

/// A schedule as runs: engine program, number of steps.
struct ScheduleRun {
  ProgramId program;
  std::uint32_t steps = 0;
};
using Schedule = std::vector<ScheduleRun>;
void append_step(Schedule& schedule, ProgramId p);

struct PlayResult {
  PlayState state;
  std::uint64_t steps = 0;         ///< performed
  bool complete = false;           ///< the whole schedule was performed
  std::optional<PlayFault> fault;  ///< where it stopped, if it stopped at a fault
};
/// Plays `schedule` from the start; stops at the first step that cannot be made or that is a fault.
[[nodiscard]] PlayResult play(const TokenGame& game, const Schedule& schedule);

/// Marks (per engine program) of those that can never step again from `state`: blocked, and every
/// op that could raise what they wait for belongs to one of them, or to a program that has
/// finished. In a persistent program one that stands at the end of the iterations laid out goes on,
/// so it has not finished.
[[nodiscard]] std::vector<char> blocked_for_ever(const TokenGame& game, const PlayState& state);

/// Persistent programs: the first engine program that is blocked on a counter from which every
/// iteration takes more than all of them give, in a state in which nobody can step. It falls
/// further behind with every iteration.
[[nodiscard]] std::optional<ProgramId> starved_by_balance(const TokenGame& game,
                                                          const PlayState& state);

/// Plays until nobody can step (or a fault), recording the schedule. Round robin, each program as
/// far as it goes, if `seed` is empty; otherwise single steps of programs drawn from a generator
/// with that seed.
struct FreePlay {
  Schedule schedule;
  PlayResult result;
};
[[nodiscard]] FreePlay play_freely(const TokenGame& game, std::optional<std::uint64_t> seed = {});

}  // namespace spatialcert::ir
