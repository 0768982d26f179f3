// A schedule played step by step, with what changes at every step. Private to the HTML view.
//
// The token game plays it; what is kept here is what it says. Nothing that reads a playback needs
// to know what an op does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "ir/token_game.hpp"
#include "proofs/counterexample.hpp"

namespace spatialcert::certify::views {

/// What a page shows the value of: semaphores, then per buffer its filled and its free pages and
/// those of the producer's and the consumer's open window.
class Gauges {
 public:
  /// `game` must outlive it.
  explicit Gauges(const ir::TokenGame& game)
      : game_(&game), semaphores_(static_cast<std::uint32_t>(game.program().semaphores.size())) {}

  enum class Kind : std::uint8_t { semaphore, filled, free, producer_window, consumer_window };
  struct Gauge {
    Kind kind = Kind::semaphore;
    std::uint32_t object = 0;  ///< SemaphoreId or BufferId value
  };
  [[nodiscard]] Gauge operator[](std::uint32_t gauge) const;
  /// Of a counter that ops test.
  [[nodiscard]] std::uint32_t of(ir::CounterId counter) const;
  [[nodiscard]] std::int64_t value(const ir::PlayState& state, std::uint32_t gauge) const;
  /// Those of one semaphore or of one FIFO: the first, and how many.
  using Range = std::pair<std::uint32_t, std::uint32_t>;
  /// That an op may change; none of a `run`.
  [[nodiscard]] Range changed_by(const ir::Op& op) const;
  /// That belong to the object of a counter.
  [[nodiscard]] Range beside(ir::CounterId counter) const;

 private:
  [[nodiscard]] Range of_fifo(std::uint32_t buffer) const;

  const ir::TokenGame* game_;
  std::uint32_t semaphores_;
};

struct GaugeChange {
  std::uint32_t gauge = 0;
  std::int64_t value = 0;  ///< from now on
};
/// What holds an engine program back from now on; nothing: it can go on, or has finished. What the
/// counter has is its gauge's to say.
struct LaneChange {
  ir::ProgramId program;
  std::optional<ir::BlockingTest> test;
};
struct PlayedStep {
  ir::TransitionId transition;
  /// The op that supplied what this one waited for, in this schedule: the first behind which the
  /// test held. Invalid: it tests nothing, or had from the start what it needs.
  ir::TransitionId supplier;
  ir::CounterId counter;  ///< that was tested; valid where the supplier is
  std::vector<GaugeChange> gauges;
  std::vector<LaneChange> lanes;
};

/// Changes of gauges and lanes that a playback keeps.
inline constexpr std::size_t kMostChanges = 60'000;

struct Playback {
  std::uint64_t total = 0;    ///< steps that were performed
  std::uint64_t skipped = 0;  ///< of them, those before the first of `steps`
  bool complete = false;      ///< the whole schedule was performed
  ir::PlayState before;       ///< the first of `steps`
  std::vector<std::optional<ir::BlockingTest>> blocked_before;  ///< per engine program
  std::deque<PlayedStep> steps;
  ir::PlayState after;
  std::vector<char> stuck;  ///< per engine program: it can never step again
};

/// Pages that FIFOs have beyond the declared ones, for schedule number `which` of a counterexample.
[[nodiscard]] std::vector<std::int64_t> extra_pages(const ir::Program& program,
                                                    const proofs::Counterexample& counterexample,
                                                    std::size_t which);
/// Keeps the last `most` steps, or fewer where they change very much (kMostChanges). Linear in the
/// steps of the schedule, and of those kept in the engine programs that test what they change.
/// `extra` is what the game was
/// made with.
[[nodiscard]] Playback play_back(const ir::TokenGame& game, const ir::Schedule& schedule,
                                 std::size_t most, const std::vector<std::int64_t>& extra);

}  // namespace spatialcert::certify::views
