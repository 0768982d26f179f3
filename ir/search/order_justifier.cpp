#include "ir/search/order_justifier.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "ir/require.hpp"

namespace spatialcert::ir {
namespace {

constexpr std::uint32_t kNoColumn = 0xffffffffU;
constexpr std::uint32_t kNone = 0xffffffffU;

std::vector<std::uint32_t> sharing_programs(const Window& w,
                                            const std::vector<std::uint32_t>& counters) {
  std::vector<std::uint32_t> programs;
  for (const std::uint32_t c : counters) {
    for (const CounterShare& share : (*w.shares)[c]) programs.push_back(share.program.value());
  }
  std::sort(programs.begin(), programs.end());
  programs.erase(std::unique(programs.begin(), programs.end()), programs.end());
  return programs;
}

}  // namespace

std::uint64_t OrderJustifier::clock_bytes(const Window& w,
                                          const std::vector<std::uint32_t>& counters) {
  return std::uint64_t{w.unrolled->transitions()} * sharing_programs(w, counters).size() * 8;
}

OrderJustifier::OrderJustifier(const Window& window, const std::vector<std::uint32_t>& counters,
                               const std::vector<Place>& known)
    : window_(window) {
  const auto programs = sharing_programs(window, counters);
  columns_ = static_cast<std::uint32_t>(programs.size());
  column_.assign(window.unrolled->begin.size() - 1, kNoColumn);
  for (std::uint32_t i = 0; i < columns_; ++i) column_[programs[i]] = i;
  tests_at_.resize(window.unrolled->transitions());
  for (const std::uint32_t c : counters) {
    const auto& shares = (*window.shares)[c];
    for (std::uint32_t s = 0; s < shares.size(); ++s) {
      for (std::uint32_t e = 0; e < shares[s].events.size(); ++e) {
        if (shares[s].events[e].need <= 0 || (*window.decided)[c][s] != 0) continue;
        tests_at_[shares[s].events[e].transition.value()].push_back(
            static_cast<std::uint32_t>(tests_.size()));
        tests_.push_back({c, s, e, Test::State::open, false, 0});
      }
    }
  }
  initialise(known);
}

void OrderJustifier::initialise(const std::vector<Place>& known) {
  const Unrolled& u = *window_.unrolled;
  const std::uint32_t n = u.transitions();
  before_.assign(std::size_t{n} * columns_, 0);
  after_.assign(std::size_t{n} * columns_, 0);
  next_.resize(n);
  previous_.resize(n);
  spreading_.assign(n, false);
  for (std::uint32_t p = 0; p + 1 < u.begin.size(); ++p) {
    if (column_[p] == kNoColumn) continue;
    for (std::uint32_t t = 0; t < n; ++t) {
      before_at(t, column_[p]) = u.begin[p];
      after_at(t, column_[p]) = u.begin[p + 1];
    }
  }
  for (const Place& place : known) {
    next_[place.from.value()].push_back(place.to.value());
    previous_[place.to.value()].push_back(place.from.value());
  }
  const auto order = sweep_order();
  for (const std::uint32_t t : order) relax(t, &OrderJustifier::visit_later);
  for (auto t = order.rbegin(); t != order.rend(); ++t) relax(*t, &OrderJustifier::visit_earlier);
  // Only where known places form a cycle has one sweep each way left anything to do.
  for (const std::uint32_t t : order) spread(t, &OrderJustifier::visit_later);
  for (auto t = order.rbegin(); t != order.rend(); ++t) spread(*t, &OrderJustifier::visit_earlier);
}

/// A topological order of the known places and program order; transitions on cycles come last.
std::vector<std::uint32_t> OrderJustifier::sweep_order() const {
  const Unrolled& u = *window_.unrolled;
  const std::uint32_t n = u.transitions();
  const auto is_first = [&](std::uint32_t t) { return t == u.begin[u.program[t]]; };
  std::vector<std::uint32_t> missing(n);
  std::vector<std::uint32_t> order;
  order.reserve(n);
  for (std::uint32_t t = 0; t < n; ++t) {
    missing[t] = static_cast<std::uint32_t>(previous_[t].size()) + (is_first(t) ? 0 : 1);
    if (missing[t] == 0) order.push_back(t);
  }
  const auto arrive = [&](std::uint32_t t) {
    if (--missing[t] == 0) order.push_back(t);
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t t = order[i];
    if (t + 1 < n && !is_first(t + 1)) arrive(t + 1);
    for (const std::uint32_t to : next_[t]) arrive(to);
  }
  for (std::uint32_t t = 0; t < n; ++t) {
    if (missing[t] != 0) order.push_back(t);
  }
  return order;
}

bool OrderJustifier::pull_before(std::uint32_t from, std::uint32_t to) {
  bool changed = false;
  for (std::uint32_t c = 0; c < columns_; ++c) {
    const std::uint32_t known = before_at(from, c);
    if (known > before_at(to, c)) {
      before_at(to, c) = known;
      changed = true;
    }
  }
  const std::uint32_t own = column_[window_.unrolled->program[from]];
  if (own != kNoColumn && from + 1 > before_at(to, own)) {
    before_at(to, own) = from + 1;
    changed = true;
  }
  return changed;
}

bool OrderJustifier::pull_after(std::uint32_t from, std::uint32_t to) {
  bool changed = false;
  for (std::uint32_t c = 0; c < columns_; ++c) {
    const std::uint32_t known = after_at(to, c);
    if (known < after_at(from, c)) {
      after_at(from, c) = known;
      changed = true;
    }
  }
  const std::uint32_t own = column_[window_.unrolled->program[to]];
  if (own != kNoColumn && to < after_at(from, own)) {
    after_at(from, own) = to;
    changed = true;
  }
  return changed;
}

/// Pulls `t`'s clocks into what comes directly after it; lists in `changed` what has gained.
void OrderJustifier::visit_later(std::uint32_t t, std::vector<std::uint32_t>& changed) {
  const Unrolled& u = *window_.unrolled;
  const auto visit = [&](std::uint32_t to) {
    if (pull_before(t, to)) changed.push_back(to);
  };
  for (const std::uint32_t to : next_[t]) visit(to);
  if (t + 1 < u.begin[u.program[t] + 1]) visit(t + 1);
}

void OrderJustifier::visit_earlier(std::uint32_t t, std::vector<std::uint32_t>& changed) {
  const Unrolled& u = *window_.unrolled;
  const auto visit = [&](std::uint32_t earlier) {
    if (pull_after(earlier, t)) changed.push_back(earlier);
  };
  for (const std::uint32_t earlier : previous_[t]) visit(earlier);
  if (t > u.begin[u.program[t]]) visit(t - 1);
}

void OrderJustifier::relax(std::uint32_t t, Visit visit) {
  scratch_.clear();
  (this->*visit)(t, scratch_);
}

/// First in, first out, each transition at most once in the queue.
void OrderJustifier::spread(std::uint32_t from, Visit visit) {
  std::deque<std::uint32_t> work{from};
  while (!work.empty()) {
    const std::uint32_t t = work.front();
    work.pop_front();
    spreading_[t] = false;
    if (in_step_ && gate_[t] != Gate::none && visit == &OrderJustifier::visit_later) continue;
    scratch_.clear();
    (this->*visit)(t, scratch_);
    for (const std::uint32_t changed : scratch_) {
      touch(changed);
      if (spreading_[changed]) continue;
      spreading_[changed] = true;
      work.push_back(changed);
    }
  }
}

void OrderJustifier::touch(std::uint32_t transition) {
  if (!active_) return;
  const std::uint32_t iteration = window_.unrolled->iteration(TransitionId(transition));
  if (iteration < first_ || iteration >= last_) return;
  for (const std::uint32_t test : tests_at_[transition]) {
    if (tests_[test].state != Test::State::open || tests_[test].queued) continue;
    if (in_step_ && gate_[transition] == Gate::closed) continue;
    tests_[test].queued = true;
    queue_.push_back(test);
  }
}

void OrderJustifier::run(std::uint32_t first, std::uint32_t last) {
  active_ = true;
  first_ = first;
  last_ = last;
  const std::uint32_t transitions = window_.unrolled->transitions();
  set_gates();
  in_step_ = true;
  for (std::uint32_t t = 0; t < transitions; ++t) touch(t);
  do {
    work_off();
  } while (look_further());
  in_step_ = false;
  // Found in a later round, a place may still decide a test of an earlier one.
  for (std::uint32_t t = 0; t < transitions; ++t) touch(t);
  work_off();
}

void OrderJustifier::work_off() {
  while (!queue_.empty() || !ready_.empty()) {
    if (!ready_.empty()) {
      const std::uint32_t gate = ready_.back();
      ready_.pop_back();
      try_pass(gate);
      continue;
    }
    const std::uint32_t test = queue_.front();
    queue_.pop_front();
    tests_[test].queued = false;
    examine(test);
    if (in_step_ && tests_[test].state == Test::State::exact)
      ready_.push_back(transition_of(tests_[test]));
  }
}

std::uint32_t OrderJustifier::transition_of(const Test& test) const {
  return (*window_.shares)[test.counter][test.share].events[test.event].transition.value();
}

/// Closes all gates but the first of each engine program.
void OrderJustifier::set_gates() {
  const Unrolled& u = *window_.unrolled;
  gate_.assign(u.transitions(), Gate::none);
  gate_up_to_.assign(u.transitions(), kNone);
  next_gate_.assign(u.transitions(), kNone);
  waiting_.assign(u.transitions(), kNone);
  next_waiting_.assign(u.transitions(), kNone);
  for (std::uint32_t p = 0; p + 1 < u.begin.size(); ++p) {
    std::uint32_t before = kNone;
    for (std::uint32_t t = u.begin[p]; t < u.begin[p + 1]; ++t) {
      const std::uint32_t iteration = u.iteration(TransitionId(t));
      const bool inside = first_ <= iteration && iteration < last_;
      if (inside && (!tests_at_[t].empty() || !previous_[t].empty())) {
        gate_[t] = before == kNone ? Gate::frontier : Gate::closed;
        (before == kNone ? frontier_.emplace_back() : next_gate_[before]) = t;
        before = t;
      }
      gate_up_to_[t] = before;
    }
  }
  ready_ = frontier_;
}

/// Passes a gate if its tests are exact and what it waits for has been passed; else leaves it where
/// it will be tried again.
void OrderJustifier::try_pass(std::uint32_t gate) {
  if (gate_[gate] != Gate::frontier || has_open_test(gate)) return;
  for (const std::uint32_t source : previous_[gate]) {
    const std::uint32_t other = gate_up_to_[source];
    if (other == kNone || gate_[other] == Gate::none) continue;
    next_waiting_[gate] = waiting_[other];
    waiting_[other] = gate;
    return;
  }
  pass(gate);
}

bool OrderJustifier::has_open_test(std::uint32_t transition) const {
  const auto& tests = tests_at_[transition];
  return std::any_of(tests.begin(), tests.end(),
                     [&](std::uint32_t test) { return tests_[test].state != Test::State::exact; });
}

/// Moves the frontier of an engine program on to the next gate.
void OrderJustifier::pass(std::uint32_t gate) {
  const std::uint32_t next = next_gate_[gate];
  gate_[gate] = Gate::none;
  if (next != kNone) gate_[next] = Gate::frontier;
  spread(gate, &OrderJustifier::visit_later);
  if (next != kNone) {
    touch(next);
    ready_.push_back(next);
  }
  for (std::uint32_t w = std::exchange(waiting_[gate], kNone); w != kNone;
       w = std::exchange(next_waiting_[w], kNone)) {
    ready_.push_back(w);
  }
}

/// Nothing is left to examine: a test may be decided only by what comes after the next ones. Passes
/// the gates with open tests, or if there is none, all that were reached. False if there is none
/// of them either.
bool OrderJustifier::look_further() {
  std::vector<std::uint32_t> undecided;
  std::size_t kept = 0;
  for (std::uint32_t gate : frontier_) {
    while (gate != kNone && gate_[gate] == Gate::none) gate = next_gate_[gate];
    if (gate == kNone) continue;
    frontier_[kept++] = gate;
    if (has_open_test(gate)) undecided.push_back(gate);
  }
  frontier_.resize(kept);
  for (const std::uint32_t gate : undecided.empty() ? frontier_ : undecided) pass(gate);
  return kept != 0;
}

void OrderJustifier::examine_only(std::uint32_t first, std::uint32_t last) {
  adds_places_ = false;
  run(first, last);
}

OrderJustifier::Extent OrderJustifier::extent(const Test& test, std::uint32_t share_index) const {
  const CounterShare& share = (*window_.shares)[test.counter][share_index];
  const CounterShare& own = (*window_.shares)[test.counter][test.share];
  Extent e;
  if (share_index == test.share) {
    e.low = e.high = test.event;
  } else {
    const std::size_t row = std::size_t{own.events[test.event].transition.value()} * columns_;
    const std::uint32_t column = column_[share.program.value()];
    e.low = events_below(share, before_[row + column]);
    e.high = events_below(share, after_[row + column]);
  }
  if (e.low > e.high) return e;  // the test lies on a cycle of known order: it never happens
  const auto begin = share.prefix.begin() + e.low;
  const auto end = share.prefix.begin() + e.high + 1;
  e.largest = *std::max_element(begin, end);
  e.smallest = *std::min_element(begin, end);
  if (share_index != test.share) widen_at_ends(test, share_index, e);
  return e;
}

void OrderJustifier::widen_at_ends(const Test& test, std::uint32_t share_index, Extent& e) const {
  const CounterShare& share = (*window_.shares)[test.counter][share_index];
  const CounterShare& period = (*window_.period)[test.counter][share_index];
  const bool at_end = window_.open_end && e.high == share.events.size();
  const bool at_start = window_.open_start && e.low == 0;
  if (!at_end && !at_start) return;
  const std::int64_t gain = period.net();
  const auto [least, most] = std::minmax_element(period.prefix.begin(), period.prefix.end());
  if (at_end) {
    e.unbounded_above |= gain > 0;
    e.unbounded_below |= gain < 0;
    e.largest = std::max(e.largest, share.prefix.back() + *most);
    e.smallest = std::min(e.smallest, share.prefix.back() + *least);
  }
  if (at_start) {
    e.unbounded_above |= gain < 0;
    e.unbounded_below |= gain > 0;
    e.largest = std::max(e.largest, *most - gain);
    e.smallest = std::min(e.smallest, *least - gain);
  }
}

void OrderJustifier::examine(std::uint32_t index) {
  Test& test = tests_[index];
  const auto& shares = (*window_.shares)[test.counter];
  const CounterEvent& event = shares[test.share].events[test.event];
  std::vector<Extent> extents(shares.size());
  std::int64_t most = (*window_.counters)[CounterId(test.counter)].initial;
  std::int64_t least = most;
  std::uint32_t unbounded_above = 0;
  bool unbounded_below = false;
  for (std::uint32_t s = 0; s < shares.size(); ++s) {
    extents[s] = extent(test, s);
    if (extents[s].low > extents[s].high) return;
    most += extents[s].largest;
    least += extents[s].smallest;
    unbounded_above += extents[s].unbounded_above ? 1 : 0;
    unbounded_below |= extents[s].unbounded_below;
  }
  if (unbounded_above == 0 && most < event.need) {
    test.state = Test::State::starved;
    test.supply = most;
    return;
  }
  if (!unbounded_below && least >= event.need) {
    test.state = Test::State::exact;
    return;
  }
  bool added = false;
  for (std::uint32_t s = 0; adds_places_ && s < shares.size(); ++s) {
    if (s == test.share) continue;
    // What the other programs can supply at most must be bounded for this one's share to be needed.
    if (unbounded_above - (extents[s].unbounded_above ? 1U : 0U) > 0) continue;
    if (window_.open_start && extents[s].low == 0) continue;  // it may have run ahead of the window
    const std::int64_t threshold = event.need - (most - extents[s].largest);
    std::uint32_t r = extents[s].low;
    while (r <= extents[s].high && shares[s].prefix[r] < threshold) ++r;
    if (r == extents[s].low || r > extents[s].high) continue;
    add_place(shares[s].events[r - 1].transition.value(), event.transition.value(), test.counter);
    added = true;
  }
  // Dearer, and seldom needed: without a post, what comes after it cannot have been performed.
  for (std::uint32_t s = 0; adds_places_ && !added && s < shares.size(); ++s) {
    if (s == test.share || (window_.open_start && extents[s].low == 0)) continue;
    std::uint32_t r = extents[s].low;
    while (r < extents[s].high && most_without(test, s, r, extents) < event.need) ++r;
    if (r == extents[s].low) continue;
    add_place(shares[s].events[r - 1].transition.value(), event.transition.value(), test.counter);
    return;  // the extents have changed
  }
}

/// The most that the counter can hold before event `index` of share `s`.
std::int64_t OrderJustifier::most_without(const Test& test, std::uint32_t s, std::uint32_t index,
                                          const std::vector<Extent>& extents) const {
  constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();
  const auto& shares = (*window_.shares)[test.counter];
  const std::size_t row = std::size_t{shares[s].events[index].transition.value()} * columns_;
  std::int64_t most = (*window_.counters)[CounterId(test.counter)].initial;
  for (std::uint32_t i = 0; i < shares.size(); ++i) {
    const Extent& e = extents[i];
    std::uint32_t until = e.high;
    if (i == s) until = index;
    if (i != s && i != test.share) {
      until = std::min(until,
                       events_below(shares[i], after_[row + column_[shares[i].program.value()]]));
      if (until < e.low) return std::numeric_limits<std::int64_t>::min();
      if (until == e.high || (window_.open_start && e.low == 0)) {
        if (e.unbounded_above) return kUnbounded;
        most += e.largest;
        continue;
      }
    }
    const auto begin = shares[i].prefix.begin();
    most += *std::max_element(begin + e.low, begin + until + 1);
  }
  return most;
}

void OrderJustifier::add_place(std::uint32_t from, std::uint32_t to, std::uint32_t counter) {
  found_.push_back({TransitionId(from), TransitionId(to), 0, CounterId(counter), false});
  assume(TransitionId(from), TransitionId(to));
}

void OrderJustifier::assume(TransitionId from, TransitionId to) {
  next_[from.value()].push_back(to.value());
  previous_[to.value()].push_back(from.value());
  if (pull_before(from.value(), to.value())) {
    touch(to.value());
    spread(to.value(), &OrderJustifier::visit_later);
  }
  if (pull_after(from.value(), to.value())) {
    touch(from.value());
    spread(from.value(), &OrderJustifier::visit_earlier);
  }
}

bool OrderJustifier::before(TransitionId from, TransitionId to) const {
  const std::uint32_t column = column_[window_.unrolled->program[from.value()]];
  SPATIALCERT_REQUIRE(column != kNoColumn, "clocks are kept for sharing programs only");
  return before_[std::size_t{to.value()} * columns_ + column] > from.value();
}

std::vector<TestIssue> OrderJustifier::issues() const {
  std::vector<TestIssue> out;
  for (const Test& test : tests_) {
    const CounterEvent& event = (*window_.shares)[test.counter][test.share].events[test.event];
    const std::uint32_t iteration = window_.unrolled->iteration(event.transition);
    if (test.state == Test::State::exact || iteration < first_ || iteration >= last_) continue;
    const bool starved = test.state == Test::State::starved;
    out.push_back({starved ? TestIssue::Kind::starved : TestIssue::Kind::inexact, event.transition,
                   CounterId(test.counter), event.need, test.supply});
  }
  return out;
}

}  // namespace spatialcert::ir
