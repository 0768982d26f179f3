#include <fmt/format.h>

#include <algorithm>

#include "ir/require.hpp"
#include "proofs/issues.hpp"
#include "proofs/ordering/clocks.hpp"
#include "proofs/ordering/plays.hpp"
#include "proofs/ordering/rule.hpp"
#include "proofs/reversal.hpp"
#include "proofs/schedules.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs::ordering {
namespace {

/// Unordered pairs that are compared to find the one with the nearest common history.
constexpr std::size_t kCandidates = 64;

class Prover {
 public:
  Prover(const Subject& subject, const std::vector<std::uint32_t>& position, smt::Session& session,
         const Cuts& cuts)
      : subject_(subject),
        position_(position),
        session_(session),
        cuts_(cuts),
        pairs_(conflicting_pairs(subject, position)) {}

  Found run() {
    Found found;
    const Paths paths = find_paths(subject_, position_, pairs_, cuts_);
    const std::uint64_t before = session_.queries, repeated = session_.repeated;
    found.search = judge(paths);
    found.strategy = strategy(paths, session_.queries - before, session_.repeated - repeated);
    for (std::uint32_t i = 0; i < pairs_.size(); ++i) {
      found.ordered.push_back({first(i), last(i), paths.reach[i], shown_ && paths.found[i] != 0});
    }
    return found;
  }

 private:
  [[nodiscard]] std::uint32_t first(std::uint32_t i) const {
    return subject_.accesses.accesses[pairs_[i].earlier].transition.value();
  }
  [[nodiscard]] std::uint32_t last(std::uint32_t i) const {
    return subject_.accesses.accesses[pairs_[i].later].transition.value();
  }
  /// Pairs by the part of the net that a query about them speaks of.
  [[nodiscard]] static std::string strategy(const Paths& paths, std::uint64_t queries,
                                            std::uint64_t repeated) {
    if (queries == 0) return "";
    const std::string more = repeated == 0 ? "" : fmt::format(" for {}", queries + repeated);
    if (queries == 1) return repeated == 0 ? "one query" : "one query" + more;
    std::uint64_t pairs[4] = {0, 0, 0, 0};
    for (const Reach reach : paths.reach) ++pairs[static_cast<std::size_t>(reach)];
    std::string text = fmt::format(
        "{} queries{}: {} pairs within two engine programs, {} within a site, {} in the whole net",
        queries, more, pairs[0], pairs[1], pairs[2]);
    if (pairs[3] != 0) text += fmt::format(", {} across boundaries", pairs[3]);
    return text;
  }
  Search<Witness> judge(const Paths& paths) {
    if (paths.limit) {
      return Unknown{
          "some pairs of accesses are joined only through more engine programs than the limit "
          "allows"};
    }
    std::vector<OrderedPair> ordered;
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < pairs_.size(); ++i) {
      if (paths.found[i] == 0) {
        open.push_back(i);
      } else {
        ordered.push_back({first(i), last(i), paths.reach[i]});
      }
    }
    if (auto reason = refute_reversals(subject_, position_, session_, cuts_, ordered))
      return Unknown{std::move(*reason)};
    shown_ = true;
    if (!open.empty()) return refute(open);
    if (const auto wrong = against_sections(subject_, position_)) return refute_order(*wrong);
    return Proved<Witness>{witness(paths)};
  }

  /// Every schedule performs the pair in this order: one is enough.
  [[nodiscard]] Search<Witness> refute_order(const Pair& pair) const {
    Counterexample c = conflict_of(pair);
    c.kind = Kind::wrong_order;
    c.schedules.push_back(schedule_of(
        subject_, position_,
        causal_past(subject_, {c.accesses[0].transition.value(), c.accesses[1].transition.value()},
                    true)));
    if (std::holds_alternative<Reproduced>(replay(*subject_.program, c)))
      return Refuted{std::move(c)};
    return Unknown{"two accesses against the order of their sections did not replay"};
  }

  static Witness witness(const Paths& paths) {
    Witness w;
    w.begin.push_back(0);
    for (const auto& path : paths.places) {
      w.places.insert(w.places.end(), path.begin(), path.end());
      w.begin.push_back(static_cast<std::uint32_t>(w.places.size()));
    }
    return w;
  }

  /// Ops that are in the past of exactly one of the two accesses.
  [[nodiscard]] std::uint64_t history_distance(std::uint32_t i) const {
    const auto a = causal_past(subject_, {first(i)}, false);
    const auto b = causal_past(subject_, {last(i)}, false);
    std::uint64_t distance = 0;
    for (std::size_t t = 0; t < a.size(); ++t) distance += a[t] != b[t] ? 1 : 0;
    return distance;
  }

  Search<Witness> refute(std::vector<std::uint32_t> open) {
    std::stable_sort(open.begin(), open.end(), [&](std::uint32_t x, std::uint32_t y) {
      return std::max(position_[first(x)], position_[last(x)]) <
             std::max(position_[first(y)], position_[last(y)]);
    });
    if (!subject_.net.exact()) {
      if (auto found = race_by_playing(open)) return Refuted{std::move(*found)};
    }
    if (open.size() > kCandidates) open.resize(kCandidates);
    std::vector<std::pair<std::uint64_t, std::uint32_t>> ranked;
    for (const std::uint32_t i : open) ranked.emplace_back(history_distance(i), i);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& x, const auto& y) { return x.first < y.first; });
    for (const auto& [distance, i] : ranked) {
      const OrderedPair pair{first(i), last(i), Reach::anywhere};
      const smt::Answer answer = ask_reversal(subject_, position_, session_, pair);
      if (const auto* undecided = std::get_if<smt::Undecided>(&answer))
        return Unknown{undecided->reason};
      SPATIALCERT_REQUIRE(std::holds_alternative<smt::Satisfied>(answer),
                          "the solver and the clocks disagree");
      Counterexample c = race(i);
      if (std::holds_alternative<Reproduced>(replay(*subject_.program, c)))
        return Refuted{std::move(c)};
    }
    return Unknown{fmt::format(
        "no order between {} and {} was justified, but no two schedules were found that run them "
        "either way",
        transition_text(*subject_.program, subject_.stretch, ir::TransitionId(first(open.front()))),
        transition_text(*subject_.program, subject_.stretch,
                        ir::TransitionId(last(open.front()))))};
  }

  /// A race of pair `i`, without schedules.
  [[nodiscard]] Counterexample race_between(std::uint32_t i) const {
    Counterexample c = conflict_of(pairs_[i]);
    c.kind = Kind::race;
    return c;
  }

  [[nodiscard]] Counterexample conflict_of(const Pair& pair) const {
    Counterexample c;
    c.iterations = subject_.stretch.iterations;
    const auto& earlier = subject_.accesses.accesses[pair.earlier];
    const auto& later = subject_.accesses.accesses[pair.later];
    c.accesses = {{earlier.transition, earlier.access}, {later.transition, later.access}};
    c.range = LocationRange{subject_.accesses.storages[earlier.storage],
                            std::max(earlier.low, later.low), std::min(earlier.high, later.high)};
    return c;
  }

  [[nodiscard]] std::optional<Counterexample> race_by_playing(
      const std::vector<std::uint32_t>& open) const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> asked;
    for (const std::uint32_t i : open) asked.emplace_back(first(i), last(i));
    auto found = play_both_orders(subject_, asked);
    if (!found) return std::nullopt;
    Counterexample c = race_between(open[found->pair]);
    c.schedules = {std::move(found->first_before), std::move(found->last_before)};
    if (!std::holds_alternative<Reproduced>(replay(*subject_.program, c))) return std::nullopt;
    return c;
  }

  /// Past of both, then earlier before later; and past of the later alone first.
  [[nodiscard]] Counterexample race(std::uint32_t i) const {
    const std::uint32_t a = first(i), b = last(i);
    Counterexample c = race_between(i);
    // With the declared depths, unless only a deeper FIFO lets the later access go first.
    auto past_b = causal_past(subject_, {b}, true);
    const bool deeper = past_b[a] != 0;
    if (deeper) past_b = causal_past(subject_, {b}, false);
    c.schedules.push_back(schedule_of(subject_, position_, causal_past(subject_, {a, b}, true)));
    auto both = causal_past(subject_, {a, b}, !deeper);
    ir::Schedule second = schedule_of(subject_, position_, past_b);
    for (std::size_t t = 0; t < both.size(); ++t) {
      if (past_b[t] != 0) both[t] = 0;
    }
    append_schedule(second, schedule_of(subject_, position_, both));
    c.schedules.push_back(std::move(second));
    if (deeper) c.deeper = deeper_fifos(subject_, c.schedules.back());
    return c;
  }

  const Subject& subject_;
  const std::vector<std::uint32_t>& position_;
  smt::Session& session_;
  const Cuts& cuts_;
  std::vector<Pair> pairs_;
  bool shown_ = false;
};

}  // namespace

Found prove(const Subject& subject, const std::vector<std::uint32_t>& position,
            smt::Session& session) {
  return prove(subject, position, session, Cuts{});
}

Found prove(const Subject& subject, const std::vector<std::uint32_t>& position,
            smt::Session& session, const Cuts& cuts) {
  if (subject.accesses.limit) {
    return {Unknown{"the accesses of the program exceed the limit of the analysis"}, {}, {}};
  }
  return Prover(subject, position, session, cuts).run();
}

}  // namespace spatialcert::proofs::ordering
