#include "ir/known_order.hpp"

#include <algorithm>
#include <limits>

#include "ir/require.hpp"

namespace spatialcert::ir {
namespace {

constexpr std::uint32_t kNoColumn = 0xffffffffU;

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

/// The transitions that no cycle of `places` and program order holds back, in an order of both.
std::vector<std::uint32_t> extension(const Unrolled& u, const std::vector<Place>& places,
                                     const Adjacency& adjacency) {
  const std::uint32_t n = u.transitions();
  const auto is_first = [&](std::uint32_t t) { return t == u.begin[u.program[t]]; };
  std::vector<std::uint32_t> missing(n), order;
  order.reserve(n);
  for (std::uint32_t t = 0; t < n; ++t) {
    const auto in = adjacency.into(t);
    missing[t] = static_cast<std::uint32_t>(in.end() - in.begin()) + (is_first(t) ? 0 : 1);
    if (missing[t] == 0) order.push_back(t);
  }
  const auto arrive = [&](std::uint32_t t) {
    if (--missing[t] == 0) order.push_back(t);
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t t = order[i];
    if (t + 1 < n && !is_first(t + 1)) arrive(t + 1);
    for (const std::uint32_t p : adjacency.out_of(t)) arrive(places[p].to.value());
  }
  return order;
}

}  // namespace

std::uint64_t KnownOrder::bytes(const Window& w, const std::vector<std::uint32_t>& counters) {
  return std::uint64_t{w.unrolled->transitions()} * sharing_programs(w, counters).size() * 8;
}

KnownOrder::KnownOrder(const Window& window, const std::vector<std::uint32_t>& counters,
                       const std::vector<Place>& places)
    : window_(window) {
  const Unrolled& u = *window.unrolled;
  const auto programs = sharing_programs(window, counters);
  columns_ = static_cast<std::uint32_t>(programs.size());
  column_.assign(u.begin.size() - 1, kNoColumn);
  Front last;
  for (std::uint32_t i = 0; i < columns_; ++i) {
    column_[programs[i]] = i;
    first_.push_back(u.begin[programs[i]]);
    last.push_back(u.begin[programs[i] + 1]);
  }
  before_.reserve(std::size_t{u.transitions()} * columns_);
  after_.reserve(std::size_t{u.transitions()} * columns_);
  for (std::uint32_t t = 0; t < u.transitions(); ++t) {
    before_.insert(before_.end(), first_.begin(), first_.end());
    after_.insert(after_.end(), last.begin(), last.end());
  }
  sweep(places);
}

void KnownOrder::sweep(const std::vector<Place>& places) {
  const Unrolled& u = *window_.unrolled;
  const Adjacency adjacency(u.transitions(), places, false);
  const auto order = extension(u, places, adjacency);
  for (const std::uint32_t t : order) {
    if (t > u.begin[u.program[t]]) pull_before(t - 1, t);
    for (const std::uint32_t p : adjacency.into(t)) pull_before(places[p].from.value(), t);
  }
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const std::uint32_t t = *at;
    if (t + 1 < u.begin[u.program[t] + 1]) pull_after(t, t + 1);
    for (const std::uint32_t p : adjacency.out_of(t)) pull_after(t, places[p].to.value());
  }
}

void KnownOrder::pull_before(std::uint32_t from, std::uint32_t to) {
  const std::size_t source = std::size_t{from} * columns_, target = std::size_t{to} * columns_;
  for (std::uint32_t c = 0; c < columns_; ++c)
    before_[target + c] = std::max(before_[target + c], before_[source + c]);
  const std::uint32_t own = column_[window_.unrolled->program[from]];
  if (own != kNoColumn) before_[target + own] = std::max(before_[target + own], from + 1);
}

void KnownOrder::pull_after(std::uint32_t from, std::uint32_t to) {
  const std::size_t target = std::size_t{from} * columns_, source = std::size_t{to} * columns_;
  for (std::uint32_t c = 0; c < columns_; ++c)
    after_[target + c] = std::min(after_[target + c], after_[source + c]);
  const std::uint32_t own = column_[window_.unrolled->program[to]];
  if (own != kNoColumn) after_[target + own] = std::min(after_[target + own], to);
}

/// What has been performed when `t` is the next op of its engine program; nothing that only the
/// places into `t` say.
KnownOrder::Front KnownOrder::performed_before(std::uint32_t t) const {
  Front front = first_;
  const Unrolled& u = *window_.unrolled;
  if (t > u.begin[u.program[t]]) perform(t - 1, front);
  return front;
}

void KnownOrder::perform(std::uint32_t t, Front& front) const {
  const std::size_t row = std::size_t{t} * columns_;
  for (std::uint32_t c = 0; c < columns_; ++c) front[c] = std::max(front[c], before_[row + c]);
  const std::uint32_t own = column_[window_.unrolled->program[t]];
  if (own != kNoColumn) front[own] = std::max(front[own], t + 1);
}

std::uint32_t KnownOrder::low(const EventRef& at, std::uint32_t share, const Front& front) const {
  const CounterShare& s = (*window_.shares)[at.counter][share];
  return events_below(s, front[column_[s.program.value()]]);
}

KnownOrder::Extent KnownOrder::extent(const EventRef& at, std::uint32_t share_index,
                                      const Front& front) const {
  const auto& shares = (*window_.shares)[at.counter];
  const CounterShare& share = shares[share_index];
  Extent e;
  if (share_index == at.share) {
    e.low = e.high = at.event;
  } else {
    const std::size_t row =
        std::size_t{shares[at.share].events[at.event].transition.value()} * columns_;
    e.low = low(at, share_index, front);
    e.high = events_below(share, after_[row + column_[share.program.value()]]);
  }
  if (e.low > e.high) return e;  // contradicts itself: never performed
  const auto begin = share.prefix.begin() + e.low;
  const auto end = share.prefix.begin() + e.high + 1;
  e.largest = *std::max_element(begin, end);
  e.smallest = *std::min_element(begin, end);
  if (share_index != at.share) widen_at_ends(at, share_index, e);
  return e;
}

void KnownOrder::widen_at_ends(const EventRef& at, std::uint32_t share_index, Extent& e) const {
  const CounterShare& share = (*window_.shares)[at.counter][share_index];
  const CounterShare& period = (*window_.period)[at.counter][share_index];
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

/// Goes through the states that an event can meet: per share of its counter, how many of the
/// share's events have been performed. A state counts if it is closed under what is known.
class KnownOrder::States {
 public:
  /// States to be tried at most, of at most so many engine programs.
  static constexpr std::uint64_t kMost = 2'000;
  static constexpr std::uint32_t kMostColumns = 16;

  States(const KnownOrder& known, const EventRef& at) : known_(known), at_(at) {
    count_.resize((*known.window_.shares)[at.counter].size());
  }

  /// Least and largest value of the counter; nothing if there are too many states, if the window
  /// does not hold all of them, or if there is none.
  std::optional<std::pair<std::int64_t, std::int64_t>> extremes(const Front& front) {
    visit(0, (*known_.window_.counters)[CounterId(at_.counter)].initial, front);
    if (given_up_ || least_ > largest_) return std::nullopt;
    return std::pair(least_, largest_);
  }

 private:
  void visit(std::uint32_t share, std::int64_t value, const Front& front) {
    if (given_up_ || (given_up_ = ++tried_ > kMost)) return;
    const auto& shares = (*known_.window_.shares)[at_.counter];
    if (share == shares.size()) return finish(value, front);
    const Extent e = known_.extent(at_, share, front);
    if (e.low > e.high) return;
    const bool other = share != at_.share;
    given_up_ |= other && known_.window_.open_start && e.low == 0;
    // The callers have given up already where what lies beyond the end matters; this asks nobody.
    given_up_ |= other && known_.window_.open_end && e.high == shares[share].events.size();
    for (std::uint32_t n = e.low; n <= e.high && !given_up_; ++n) {
      count_[share] = n;
      Front then = front;
      if (other && n > 0) known_.perform(shares[share].events[n - 1].transition.value(), then);
      visit(share + 1, value + shares[share].prefix[n], then);
    }
  }

  /// What a later share has performed may need more of an earlier one than was chosen for it.
  void finish(std::int64_t value, const Front& front) {
    for (std::uint32_t s = 0; s < count_.size(); ++s) {
      if (known_.low(at_, s, front) > count_[s]) return;
    }
    least_ = std::min(least_, value);
    largest_ = std::max(largest_, value);
  }

  const KnownOrder& known_;
  const EventRef& at_;
  std::vector<std::uint32_t> count_;
  std::uint64_t tried_ = 0;
  bool given_up_ = false;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t largest_ = std::numeric_limits<std::int64_t>::min();
};

std::optional<std::pair<std::int64_t, std::int64_t>> KnownOrder::extremes(
    const EventRef& at, const Front& front) const {
  if (columns_ > States::kMostColumns) return std::nullopt;
  return States(*this, at).extremes(front);
}

/// The first event of `share` that has not been performed if `source` has not.
std::uint32_t KnownOrder::unperformed_from(const CounterShare& share, TransitionId source,
                                           bool of_source) const {
  if (of_source) return events_below(share, source.value());
  const std::size_t row = std::size_t{source.value()} * columns_;
  return events_below(share, after_[row + column_[share.program.value()]]);
}

/// Is the counter too low for `test` in every admissible state without `source`?
bool KnownOrder::necessary(const EventRef& test, TransitionId source, const Front& front) const {
  const auto& shares = (*window_.shares)[test.counter];
  const CounterEvent& event = shares[test.share].events[test.event];
  std::int64_t most = (*window_.counters)[CounterId(test.counter)].initial;
  for (std::uint32_t s = 0; s < shares.size(); ++s) {
    const Extent e = extent(test, s, front);
    if (e.low > e.high) return true;  // the test is never performed
    const bool of_source = shares[s].program.value() == window_.unrolled->program[source.value()];
    // The events before the source; of other programs those that do not come after it.
    const std::uint32_t until =
        s == test.share ? e.high : std::min(e.high, unperformed_from(shares[s], source, of_source));
    if (until < e.low) return true;  // known already
    // What a program did before an open window is not known. Of the source's own program nothing is
    // concluded then, though the sum below would be right too: it is too small only for a test that
    // is never performed.
    const bool open = window_.open_start && e.low == 0;
    if (open && of_source && s != test.share) return false;
    if (until == e.high || open) {
      if (e.unbounded_above) return false;
      most += e.largest;
      continue;
    }
    const auto begin = shares[s].prefix.begin();
    most += *std::max_element(begin + e.low, begin + until + 1);
  }
  return most < event.need;
}

KnownOrder::Answer KnownOrder::examine(const EventRef& test, const std::vector<Place>& into) const {
  const auto& shares = (*window_.shares)[test.counter];
  const CounterEvent& event = shares[test.share].events[test.event];
  Front front = performed_before(event.transition.value());
  for (const Place& place : into) {
    if (!necessary(test, place.from, front)) return Answer::unjustified;
    perform(place.from.value(), front);
  }
  std::int64_t least = (*window_.counters)[CounterId(test.counter)].initial;
  for (std::uint32_t s = 0; s < shares.size(); ++s) {
    const Extent e = extent(test, s, front);
    if (e.low > e.high || e.unbounded_below) return Answer::inexact;
    least += e.smallest;
  }
  if (least < event.need) {
    if (const auto all = extremes(test, front)) least = all->first;
  }
  return least >= event.need ? Answer::exact : Answer::inexact;
}

std::optional<std::int64_t> KnownOrder::largest_after(const EventRef& post,
                                                      std::int64_t allowed) const {
  const auto& shares = (*window_.shares)[post.counter];
  const CounterShare& own = shares[post.share];
  Front front = performed_before(own.events[post.event].transition.value());
  std::int64_t value =
      (*window_.counters)[CounterId(post.counter)].initial + own.prefix[post.event + 1];
  for (std::uint32_t s = 0; s < shares.size(); ++s) {
    if (s == post.share) continue;
    const Extent e = extent(post, s, front);
    // A post that contradicts known order is never performed.
    if (e.low > e.high) return std::numeric_limits<std::int64_t>::min();
    if (e.unbounded_above) return std::nullopt;
    value += e.largest;
  }
  if (value <= allowed) return value;
  if (const auto all = extremes(post, front))
    value = std::min(value, all->second + own.events[post.event].delta);
  return value;
}

}  // namespace spatialcert::ir
