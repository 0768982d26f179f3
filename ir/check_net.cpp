// Places by known order, and the tests that they are to make exact.
#include <algorithm>
#include <map>
#include <set>

#include "ir/known_order.hpp"
#include "ir/net.hpp"
#include "ir/require.hpp"

namespace spatialcert::ir {
namespace {

class Checker {
 public:
  Checker(const Program& program, const Unrolled& one, CountedNet& counted,
          const std::vector<Place>& justified)
      : program_(program),
        one_(one),
        counters_(program),
        counted_(counted),
        justified_(justified) {}

  void run() {
    Net& net = counted_.net;
    const std::size_t before = net.issues.size();
    if (given_are_well_formed()) examine();
    const bool refused = std::any_of(
        net.issues.begin() + static_cast<std::ptrdiff_t>(before), net.issues.end(),
        [](const TestIssue& issue) { return issue.kind == TestIssue::Kind::unjustified; });
    if (!refused) {
      net.places.insert(net.places.end(), justified_.begin(), justified_.end());
      net.by_order = justified_.size();
    }
    std::stable_sort(
        net.issues.begin(), net.issues.end(),
        [](const TestIssue& a, const TestIssue& b) { return a.transition < b.transition; });
  }

 private:
  using Kind = TestIssue::Kind;
  [[nodiscard]] bool persistent() const { return program_.execution == Execution::persistent; }

  void issue(Kind kind, TransitionId t, std::uint32_t counter) {
    if (reported_.insert({kind, t}).second)
      counted_.net.issues.push_back({kind, t, CounterId(counter), 0, 0});
  }

  /// Is every given place one from an event of a counter to a test of the same counter?
  bool given_are_well_formed() {
    std::vector<char> asked(counters_.size(), 0);
    for (const std::uint32_t c : counted_.by_order) asked[c] = 1;
    const std::int32_t farthest = persistent() ? std::int32_t{kPastIterations} : 0;
    for (const Place& place : justified_) {
      const bool right = place.counter.valid() && place.counter.value() < asked.size() &&
                         asked[place.counter.value()] != 0 && !place.credit && place.tokens >= 0 &&
                         place.tokens <= farthest && event_at(place, place.from, false) &&
                         event_at(place, place.to, true);
      if (!right) return refuse(place), false;
    }
    return true;
  }

  /// What it names need not exist: anybody may have given it.
  void refuse(const Place& place) {
    const bool to = place.to.valid() && place.to.value() < one_.transitions();
    const bool counter = place.counter.valid() && place.counter.value() < counters_.size();
    counted_.net.issues.push_back({Kind::unjustified, to ? place.to : TransitionId(),
                                   counter ? place.counter : CounterId(), 0, 0});
  }

  [[nodiscard]] bool event_at(const Place& place, TransitionId t, bool test) const {
    if (!t.valid() || t.value() >= one_.transitions()) return false;
    const std::uint32_t c = place.counter.value();
    for (std::size_t s = 0; s < counted_.shares[c].size(); ++s) {
      const CounterShare& share = counted_.shares[c][s];
      if (share.program.value() != one_.program[t.value()]) continue;
      if (test && counted_.decided[c][s] != 0) return false;
      const auto at =
          std::lower_bound(share.events.begin(), share.events.end(), t,
                           [](const CounterEvent& e, TransitionId x) { return e.transition < x; });
      return at != share.events.end() && at->transition == t && (!test || at->need > 0);
    }
    return false;
  }

  void examine() {
    if (counted_.by_order.empty()) return;
    const auto many = unroll(program_, persistent() ? kWindowIterations : 1);
    std::optional<CounterShares> shares;
    if (const auto* unrolled = std::get_if<Unrolled>(&many))
      shares = counter_shares(program_, *unrolled, counters_);
    if (!shares) return issue(Kind::limit, {}, counted_.by_order.front());
    Window window{&std::get<Unrolled>(many), &*shares, &counted_.shares, &counters_,
                  &counted_.decided,         false,    persistent()};
    if (KnownOrder::bytes(window, counted_.by_order) > kKnownBytes)
      return issue(Kind::limit, {}, counted_.by_order.front());
    Net all;
    all.places = counted_.net.places;
    all.places.insert(all.places.end(), justified_.begin(), justified_.end());
    const auto places = expand_places(all, one_, *window.unrolled);
    examine(window, places, 0, persistent() ? kPastIterations : 1);
    if (!persistent()) return;
    window.open_start = true;
    examine(window, places, kPastIterations, kPastIterations + 1);
  }

  /// Examines the tests of the iterations [first, last) of the window.
  void examine(const Window& window, const std::vector<Place>& places, std::uint32_t first,
               std::uint32_t last) {
    const KnownOrder known(window, counted_.by_order, places);
    const Unrolled& u = *window.unrolled;
    // The given places into each test, in the order given.
    std::map<TransitionId, std::vector<Place>> into;
    for (const Place& place : places) {
      if (is_by_order(place.counter)) into[place.to].push_back(place);
    }
    for (const std::uint32_t c : counted_.by_order) {
      for (std::uint32_t s = 0; s < (*window.shares)[c].size(); ++s) {
        if (counted_.decided[c][s] != 0) continue;
        const auto& events = (*window.shares)[c][s].events;
        for (std::uint32_t e = 0; e < events.size(); ++e) {
          const std::uint32_t iteration = u.iteration(events[e].transition);
          if (events[e].need <= 0 || iteration < first || iteration >= last) continue;
          const auto answer = known.examine({c, s, e}, into[events[e].transition]);
          if (answer == KnownOrder::Answer::exact) continue;
          issue(answer == KnownOrder::Answer::inexact ? Kind::inexact : Kind::unjustified,
                within_one(u, events[e].transition), c);
        }
      }
    }
  }

  [[nodiscard]] bool is_by_order(CounterId counter) const {
    return std::binary_search(counted_.by_order.begin(), counted_.by_order.end(), counter.value());
  }

  [[nodiscard]] TransitionId within_one(const Unrolled& many, TransitionId t) const {
    const std::uint32_t p = many.program[t.value()];
    const std::uint32_t offset = t.value() - many.begin[p];
    return TransitionId(one_.begin[p] + offset % one_.length(ProgramId(p)));
  }

  const Program& program_;
  const Unrolled& one_;
  Counters counters_;
  CountedNet& counted_;
  const std::vector<Place>& justified_;
  std::set<std::pair<Kind, TransitionId>> reported_;
};

}  // namespace

Net check_net(const Program& program, const Unrolled& unrolled, CountedNet counted,
              const std::vector<Place>& justified) {
  SPATIALCERT_REQUIRE(unrolled.iterations == 1, "the net is that of one iteration");
  Checker(program, unrolled, counted, justified).run();
  return std::move(counted.net);
}

}  // namespace spatialcert::ir
