#include "ir/search/periodic_justifier.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "ir/search/order_justifier.hpp"

namespace spatialcert::ir {
namespace {

constexpr std::uint32_t kPast = kPastIterations;
constexpr std::uint32_t kWindow = kWindowIterations;

class Induction {
 public:
  Induction(const PeriodicTask& task, const Unrolled& many, const CounterShares& shares)
      : task_(task), many_(many), shares_(shares), known_(window_places(task.known)) {}

  void run(Net& net) {
    candidates();
    while (drop_failing()) {
    }
    net.places.insert(net.places.end(), candidates_.begin(), candidates_.end());
    net.by_order = candidates_.size();
    exactness(net);
  }

 private:
  [[nodiscard]] Window window(bool open_start) const {
    return {&many_, &shares_, &task_.shares, &task_.counters, &task_.decided, open_start, true};
  }

  /// Places of the window for places with tokens; only those into iterations below `last`.
  [[nodiscard]] std::vector<Place> window_places(const std::vector<Place>& places,
                                                 std::uint32_t last = kWindow) const {
    Net net;
    net.places = places;
    auto all = expand_places(net, task_.one, many_);
    all.erase(std::remove_if(all.begin(), all.end(),
                             [&](const Place& p) { return many_.iteration(p.to) >= last; }),
              all.end());
    return all;
  }

  [[nodiscard]] std::vector<Place> with_known(std::vector<Place> places) const {
    places.insert(places.begin(), known_.begin(), known_.end());
    return places;
  }

  [[nodiscard]] TransitionId at(TransitionId t, std::uint32_t iteration) const {
    const std::uint32_t p = task_.one.program[t.value()];
    return TransitionId(many_.begin[p] + iteration * task_.one.length(ProgramId(p)) +
                        (t.value() - task_.one.begin[p]));
  }
  [[nodiscard]] TransitionId within_one(TransitionId t) const {
    const std::uint32_t p = many_.program[t.value()];
    const std::uint32_t offset = t.value() - many_.begin[p];
    return TransitionId(task_.one.begin[p] + offset % task_.one.length(ProgramId(p)));
  }

  /// Places into iteration kPast that hold, shifted, in every iteration up to it.
  void candidates() {
    OrderJustifier base(window(false), task_.by_order, known_);
    base.run(0, kWindow);
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (const Place& found : base.found()) {
      const std::uint32_t to = many_.iteration(found.to);
      const std::uint32_t from = many_.iteration(found.from);
      if (from > to || to - from > kPast) continue;
      Place place{within_one(found.from), within_one(found.to),
                  static_cast<std::int32_t>(to - from), found.counter, false};
      const std::uint32_t key = place.from.value();
      if (!seen.insert({key * (kPast + 1) + (to - from), place.to.value()}).second) continue;
      bool always = true;
      for (std::uint32_t i = to - from; i <= kPast && always; ++i) {
        always = base.before(at(place.from, i - (to - from)), at(place.to, i));
      }
      if (always) candidates_.push_back(place);
    }
  }

  bool drop_failing() {
    OrderJustifier step(window(true), task_.by_order,
                        with_known(window_places(candidates_, kPast)));
    step.run(kPast, kPast + 1);
    const auto holds = [&](const Place& p) {
      return step.before(at(p.from, kPast - static_cast<std::uint32_t>(p.tokens)), at(p.to, kPast));
    };
    const auto kept = std::stable_partition(candidates_.begin(), candidates_.end(), holds);
    const bool dropped = kept != candidates_.end();
    candidates_.erase(kept, candidates_.end());
    if (!dropped) take_order_of(step.found());
    return dropped;
  }

  /// The check goes through the places into a test in the order given, in an iteration with unknown
  /// past: so the order in which the step found them, and then what follows from those.
  void take_order_of(const std::vector<Place>& found) {
    std::vector<Place> ordered;
    std::map<TransitionId, std::vector<Place>> into_test;
    const auto add = [&](const Place& place) {
      const auto same = [&](const Place& p) {
        return p.from == place.from && p.tokens == place.tokens;
      };
      auto& into = into_test[place.to];
      if (std::any_of(into.begin(), into.end(), same)) return;
      into.push_back(place);
      ordered.push_back(place);
    };
    for (const Place& place : found) {
      const std::uint32_t from = many_.iteration(place.from);
      if (from > kPast) continue;
      add({within_one(place.from), within_one(place.to), static_cast<std::int32_t>(kPast - from),
           place.counter, false});
    }
    for (const Place& place : candidates_) add(place);
    candidates_ = std::move(ordered);
  }

  void exactness(Net& net) const {
    const auto all = with_known(window_places(candidates_));
    std::vector<TestIssue> issues;
    for (const bool open_start : {false, true}) {
      OrderJustifier check(window(open_start), task_.by_order, all);
      check.examine_only(open_start ? kPast : 0, open_start ? kPast + 1 : kPast);
      const auto found = check.issues();
      issues.insert(issues.end(), found.begin(), found.end());
    }
    std::set<TransitionId> reported;
    for (TestIssue issue : issues) {
      issue.transition = within_one(issue.transition);
      if (reported.insert(issue.transition).second) net.issues.push_back(issue);
    }
  }

  const PeriodicTask& task_;
  const Unrolled& many_;
  const CounterShares& shares_;
  std::vector<Place> known_;
  std::vector<Place> candidates_;
};

}  // namespace

void justify_periodically(const PeriodicTask& task, Net& net) {
  const auto limit = [&] {
    net.issues.push_back({TestIssue::Kind::limit, {}, CounterId(task.by_order.front()), 0, 0});
  };
  const auto many = unroll(task.program, kWindow);
  if (!std::holds_alternative<Unrolled>(many)) return limit();
  const auto& window = std::get<Unrolled>(many);
  const auto shares = counter_shares(task.program, window, task.counters);
  if (!shares) return limit();
  const Window w{&window, &*shares, &task.shares, &task.counters, &task.decided, false, true};
  if (OrderJustifier::clock_bytes(w, task.by_order) > task.clock_bytes) return limit();
  Induction(task, window, *shares).run(net);
}

}  // namespace spatialcert::ir
