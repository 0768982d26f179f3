// What a set of places orders, and whether each of the places is justified by it. Trusted.
//
// The places of a set H are justified together, by induction over the steps of a play. Say that all
// steps so far respected H, and test X of a counter is about to be performed next. Then the steps
// performed are closed under H: with every op they hold what H orders before it, and nothing that
// H orders after X. They hold what comes before X in its own engine program. If the largest value
// that the counter can have over all such sets without op p and what H orders after p is too small
// for X, then p has been
// performed: the place p -> X is justified, and from there on everything that H orders before p
// counts as performed too, for the next place into X. X itself, and everything that would follow
// from X's own places, is never used: that would be assuming what is to be shown. (The published
// rule adds one edge after the other to what is known; the order of the places into one test is
// what is left of it here.)
//
// Least and largest values are sums over the engine programs, each taken by itself: a bound. Where
// that is too weak and there are few states, all of them are gone through: a program that has
// lowered the counter has then done what comes before that, too.
//
// A window of iterations of a `persistent` program may be open at its start: the programs may have
// run for unknown time before it. Then what is shown for an iteration holds for all later ones.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/counter_events.hpp"
#include "ir/net.hpp"

namespace spatialcert::ir {

/// Iterations before the one that stands for all later ones; also the greatest distance of a place
/// that known order justifies.
inline constexpr std::uint32_t kPastIterations = 4;
/// Iterations of a window.
inline constexpr std::uint32_t kWindowIterations = kPastIterations + 3;
/// Memory that what is known may take.
inline constexpr std::uint64_t kKnownBytes = std::uint64_t{4} << 30;

struct Window {
  const Unrolled* unrolled = nullptr;     ///< the window's transitions
  const CounterShares* shares = nullptr;  ///< of the window
  const CounterShares* period = nullptr;  ///< of one iteration; used where the window is open
  const Counters* counters = nullptr;
  const std::vector<std::vector<char>>* decided = nullptr;  ///< see CountedNet; for the search
  bool open_start = false;
  bool open_end = false;
};

/// One event of one share of a counter.
struct EventRef {
  std::uint32_t counter = 0;
  std::uint32_t share = 0;
  std::uint32_t event = 0;
};

class KnownOrder {
 public:
  /// `counters`: those that will be asked about. `places`: H, over the window, with tokens 0;
  /// credits are left out: a deeper FIFO gives them earlier, so nothing rests on their order.
  /// Linear in transitions x engine programs that share one of the counters. What lies on a cycle
  /// of H is not made use of.
  KnownOrder(const Window& window, const std::vector<std::uint32_t>& counters,
             const std::vector<Place>& places);

  /// Bytes that the constructor would take.
  static std::uint64_t bytes(const Window& window, const std::vector<std::uint32_t>& counters);

  enum class Answer : std::uint8_t {
    exact,       ///< `into` are justified, and the test holds once their sources were performed
    inexact,     ///< they are justified, but do not guarantee that the test holds
    unjustified  ///< one of them may not hold
  };
  /// `into`: all places of H into this test, in the order in which they are to be justified.
  [[nodiscard]] Answer examine(const EventRef& test, const std::vector<Place>& into) const;

  /// An upper bound of the counter's value right after the event, or nothing. One that exceeds
  /// `allowed` is the best that can be found.
  [[nodiscard]] std::optional<std::int64_t> largest_after(const EventRef& post,
                                                          std::int64_t allowed) const;

 private:
  /// What one share can contribute: extremes over the admissible numbers of events [low, high].
  struct Extent {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    std::int64_t largest = 0;
    std::int64_t smallest = 0;
    bool unbounded_above = false;
    bool unbounded_below = false;
  };
  class States;
  /// Ops known to be performed, per column: the first one that is not.
  using Front = std::vector<std::uint32_t>;

  void sweep(const std::vector<Place>& places);
  void pull_before(std::uint32_t from, std::uint32_t to);
  void pull_after(std::uint32_t from, std::uint32_t to);
  [[nodiscard]] Front performed_before(std::uint32_t t) const;
  void perform(std::uint32_t t, Front& front) const;
  [[nodiscard]] std::uint32_t low(const EventRef& at, std::uint32_t share,
                                  const Front& front) const;
  [[nodiscard]] Extent extent(const EventRef& at, std::uint32_t share, const Front& front) const;
  void widen_at_ends(const EventRef& at, std::uint32_t share, Extent& e) const;
  [[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> extremes(
      const EventRef& at, const Front& front) const;
  [[nodiscard]] std::uint32_t unperformed_from(const CounterShare& share, TransitionId source,
                                               bool of_source) const;
  [[nodiscard]] bool necessary(const EventRef& test, TransitionId source, const Front& front) const;

  Window window_;
  std::uint32_t columns_ = 0;
  std::vector<std::uint32_t> column_;  // engine program -> column, or ~0
  std::vector<std::uint32_t> first_;   // column -> its first transition
  std::vector<std::uint32_t>
      before_;                        // per transition: first op of each column not known before it
  std::vector<std::uint32_t> after_;  // per transition: first op of each column known after it
};

}  // namespace spatialcert::ir
