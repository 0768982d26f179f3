// The marked graph of a program (DESIGN 6 and 13.1).
//
// Transitions are the op instances of one iteration of the unrolled program. Program order is
// implied: consecutive transitions of one engine program. The places listed here are the hand-offs,
// each *justified*: in every schedule of the token game, iteration i of `to` comes after iteration
// i - tokens of `from`. So a path in the net is an order that always holds, whatever else the
// program does.
//
// A blocking test is *exact* if it holds as soon as all its places do. If every test is exact, the
// net's behaviour is the token game's, and the program is in the marked-graph class.
//
// How a place is justified. Where one engine program alone raises the counter and one alone lowers
// it, by plain counting, which needs nothing else: these places are recomputed by whoever checks.
// All others need known order (ir/known_order.hpp). They have to be searched for
// (ir/search/justify.hpp) and are part of a certificate; here they are only checked. Edges from a
// pop to a reserve of a FIFO of guaranteed depth are never used to justify another place.
//
// Not promised: that the places are all orders that hold if some test is inexact.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/counter_events.hpp"
#include "ir/counters.hpp"
#include "ir/program.hpp"
#include "ir/unroll.hpp"

namespace spatialcert::ir {

struct Place {
  TransitionId from;
  TransitionId to;
  /// Iteration distance; 0 in a `once` program. Negative where an iteration needs what a later one
  /// of another engine program supplies (a window that slides over the wrap-around).
  std::int32_t tokens = 0;
  CounterId counter;
  bool credit = false;  ///< pop -> reserve of a guaranteed FIFO: only for liveness and bounds
};

/// The most negative tokens of a place, negated.
inline constexpr std::int32_t kMostAhead = 4;

/// What keeps a test out of the class, or proves that it never holds.
struct TestIssue {
  enum class Kind : std::uint8_t {
    starved,          ///< no schedule ever satisfies it: the supply is too small
    inexact,          ///< its places do not guarantee that it holds (competing waiters, a choice)
    unbalanced,       ///< persistent: the counter gains or loses in every iteration (`transition`
                      ///< invalid)
    later_iteration,  ///< persistent: it needs supply of an iteration of another engine program
                      ///< that is more than kMostAhead later
    limit,            ///< analysing it would exceed the work limit
    unjustified       ///< a place into it that was given is not justified
  };
  Kind kind = Kind::inexact;
  TransitionId transition;
  CounterId counter;
  std::int64_t demand =
      0;  ///< starved: what the counter must receive before it; unbalanced: lowered
  std::int64_t supply = 0;  ///< starved: what it can receive at most; unbalanced: raised
};

struct Net {
  std::vector<Place> places;      ///< those by counting, then those by known order
  std::vector<TestIssue> issues;  ///< in transition order
  std::uint64_t tests = 0;        ///< blocking tests examined
  std::uint64_t by_order = 0;     ///< places that counting alone did not justify

  [[nodiscard]] bool exact() const { return issues.empty(); }
};

/// What counting alone decides.
struct CountedNet {
  Net net;
  CounterShares shares;                    ///< of one iteration
  std::vector<std::uint32_t> by_order;     ///< counters some of whose tests need known order
  std::vector<std::vector<char>> decided;  ///< per counter and share: counting decides its tests
};

/// Linear in the transitions. `unrolled.iterations` must be 1.
[[nodiscard]] CountedNet count_net(const Program& program, const Unrolled& unrolled);

/// The net with the places of `counted` and `justified`, which known order has to justify: those
/// into one test in the order of their justification. If one of them is not justified, none of
/// `justified` is in the net, and the issue says where. Linear in transitions x engine programs
/// that share a counter whose tests need known order. Trusted, and all that is.
[[nodiscard]] Net check_net(const Program& program, const Unrolled& unrolled, CountedNet counted,
                            const std::vector<Place>& justified);

/// Compressed adjacency of the hand-off places of a finite (unrolled) net.
class Adjacency {
 public:
  Adjacency() = default;
  /// `transitions` nodes; of `places` those that `credit` allows.
  Adjacency(std::uint32_t transitions, const std::vector<Place>& places, bool with_credit);

  struct Range {
    const std::uint32_t* first;
    const std::uint32_t* last;
    [[nodiscard]] const std::uint32_t* begin() const { return first; }
    [[nodiscard]] const std::uint32_t* end() const { return last; }
    [[nodiscard]] bool empty() const { return first == last; }
  };
  /// Indices into the place vector of the places that end at (begin at) `t`.
  [[nodiscard]] Range into(std::uint32_t t) const {
    return {in_.data() + in_begin_[t], in_.data() + in_begin_[t + 1]};
  }
  [[nodiscard]] Range out_of(std::uint32_t t) const {
    return {out_.data() + out_begin_[t], out_.data() + out_begin_[t + 1]};
  }

 private:
  std::vector<std::uint32_t> in_begin_, out_begin_, in_, out_;
};

/// The places of `iterations` consecutive iterations of a persistent program, from the start: all
/// with tokens 0, over the transitions of `unroll(program, iterations)`. Places from iterations
/// after the last are left out; the tests that they lead to, which cannot hold before the programs
/// go on, are added to `beyond` (if not null).
[[nodiscard]] std::vector<Place> expand_places(const Net& net, const Unrolled& one,
                                               const Unrolled& many,
                                               std::vector<TransitionId>* beyond = nullptr);

/// How many iterations a path in the net can lead back in all: the sum, over the engine programs,
/// of the most negative tokens of the places that lead into one. 0 in most programs.
[[nodiscard]] std::uint32_t iterations_back(const Net& net, const Unrolled& one);

}  // namespace spatialcert::ir
