// The search for hand-off places that known order justifies (DESIGN 13.1), for counters that
// several engine programs raise, or that one lowers and another tests.
//
// Works on a window of iterations of the unrolled program. It keeps, per transition and per engine
// program, how much of that program is known to come before and from where on it is known to come
// after (vector clocks in both directions), and looks at a test again whenever its clocks have
// changed. Every found place has been justified using only program order, the places given to it,
// and places it found earlier.
//
// A window may be open (ir/known_order.hpp). Untrusted.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "ir/counter_events.hpp"
#include "ir/known_order.hpp"
#include "ir/net.hpp"

namespace spatialcert::ir {

class OrderJustifier {
 public:
  /// `counters`: the counters whose tests are to be justified. `known`: places already justified.
  OrderJustifier(const Window& window, const std::vector<std::uint32_t>& counters,
                 const std::vector<Place>& known);

  /// Bytes of clocks that a window would need; the caller compares it with its limit beforehand.
  static std::uint64_t clock_bytes(const Window& window,
                                   const std::vector<std::uint32_t>& counters);

  /// Justifies what can be for the tests in iterations [first, last) of the window.
  void run(std::uint32_t first, std::uint32_t last);

  /// Decides exactness of those tests with what is known; adds no place.
  void examine_only(std::uint32_t first, std::uint32_t last);

  /// The places found, in order of justification.
  [[nodiscard]] const std::vector<Place>& found() const { return found_; }
  /// Tests of the processed iterations that are starved or inexact.
  [[nodiscard]] std::vector<TestIssue> issues() const;
  /// Is `from` known to come before `to`? `from` must be an op of a program that shares one of the
  /// counters.
  [[nodiscard]] bool before(TransitionId from, TransitionId to) const;
  /// Takes a place as known and spreads it.
  void assume(TransitionId from, TransitionId to);

 private:
  struct Test {
    std::uint32_t counter = 0;
    std::uint32_t share = 0;
    std::uint32_t event = 0;
    enum class State : std::uint8_t { open, exact, starved } state = State::open;
    bool queued = false;
    std::int64_t supply = 0;
  };
  /// What one share can contribute to a test: extremes over the admissible prefixes [low, high].
  struct Extent {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    std::int64_t largest = 0;
    std::int64_t smallest = 0;
    bool unbounded_above = false;
    bool unbounded_below = false;
  };

  [[nodiscard]] std::uint32_t& before_at(std::uint32_t t, std::uint32_t column) {
    return before_[std::size_t{t} * columns_ + column];
  }
  [[nodiscard]] std::uint32_t& after_at(std::uint32_t t, std::uint32_t column) {
    return after_[std::size_t{t} * columns_ + column];
  }
  void initialise(const std::vector<Place>& known);
  bool pull_before(std::uint32_t from, std::uint32_t to);
  bool pull_after(std::uint32_t from, std::uint32_t to);
  using Visit = void (OrderJustifier::*)(std::uint32_t, std::vector<std::uint32_t>&);
  [[nodiscard]] std::vector<std::uint32_t> sweep_order() const;
  void visit_later(std::uint32_t t, std::vector<std::uint32_t>& changed);
  void visit_earlier(std::uint32_t t, std::vector<std::uint32_t>& changed);
  void relax(std::uint32_t t, Visit visit);
  void spread(std::uint32_t from, Visit visit);
  void touch(std::uint32_t transition);
  void work_off();
  void set_gates();
  void try_pass(std::uint32_t gate);
  void pass(std::uint32_t gate);
  bool look_further();
  [[nodiscard]] bool has_open_test(std::uint32_t transition) const;
  [[nodiscard]] std::uint32_t transition_of(const Test& test) const;
  void examine(std::uint32_t test);
  Extent extent(const Test& test, std::uint32_t share) const;
  [[nodiscard]] std::int64_t most_without(const Test& test, std::uint32_t s, std::uint32_t index,
                                          const std::vector<Extent>& extents) const;
  void widen_at_ends(const Test& test, std::uint32_t share, Extent& e) const;
  void add_place(std::uint32_t from, std::uint32_t to, std::uint32_t counter);

  Window window_;
  std::uint32_t columns_ = 0;
  std::vector<std::uint32_t> column_;  // engine program -> column, or ~0
  std::vector<std::uint32_t> before_;  // ops of the column's program known before the transition
  std::vector<std::uint32_t> after_;   // first op of the column's program known after it
  std::vector<std::vector<std::uint32_t>> next_, previous_;  // hand-off neighbours
  std::vector<Test> tests_;
  std::vector<std::vector<std::uint32_t>> tests_at_;  // transition -> tests (few)
  std::deque<std::uint32_t> queue_;
  std::vector<bool> spreading_;
  std::vector<std::uint32_t> scratch_;
  bool active_ = false;
  // In step: a transition that waits for another engine program is a gate, and is passed when its
  // tests are exact and what it waits for lies behind passed gates only. Nothing is examined and
  // nothing spreads beyond the frontier, the first gate of an engine program not yet passed; so
  // what is known spreads over every stretch of ops a few times, however many stretches there are.
  bool in_step_ = false;
  enum class Gate : std::uint8_t { none, frontier, closed };
  std::vector<Gate> gate_;                   // by transition; `none` if passed
  std::vector<std::uint32_t> gate_up_to_;    // transition -> last gate up to it, or ~0
  std::vector<std::uint32_t> next_gate_;     // gate -> next one of its engine program, or ~0
  std::vector<std::uint32_t> waiting_;       // gate -> first gate that waits for it, or ~0
  std::vector<std::uint32_t> next_waiting_;  // gate -> next gate that waits for the same, or ~0
  std::vector<std::uint32_t> frontier_;      // of each engine program, or a gate before it
  std::vector<std::uint32_t> ready_;         // gates to be tried
  bool adds_places_ = true;
  std::uint32_t first_ = 0, last_ = 0;
  std::vector<Place> found_;
};

}  // namespace spatialcert::ir
