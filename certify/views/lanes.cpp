#include "certify/views/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "certify/narrative.hpp"
#include "certify/report.hpp"

namespace spatialcert::certify::views {
namespace {

using proofs::Counterexample;
using proofs::Kind;

constexpr std::size_t kMostMarks = 400;
constexpr std::size_t kMostInvolved = 200;
constexpr std::size_t kMostLanes = 1'000;
constexpr std::size_t kMostRows = 4'000;
/// Engine programs of a counterexample that names no op: those that stepped last.
constexpr std::size_t kLastSteps = 24;

/// Ops that the counterexample names, by kind, in the order and with the numbers of its text.
class Marker {
 public:
  Marker(const OpNames& names, const Counterexample& c, Scene& scene)
      : names_(names), c_(c), scene_(scene) {}

  void mark() {
    chain();
    if (!c_.accesses.empty()) accesses();
    ops();
    if (c_.transition.valid()) {
      add(c_.transition, "!", "culprit",
          c_.kind == Kind::overflow ? "would raise the counter above its maximum"
                                    : "must not be performed here");
    }
    const bool counted = c_.kind == Kind::leftover || c_.kind == Kind::overflow;
    if (counted && c_.counter.valid()) uses(c_.counter);
    const bool starves = c_.kind == Kind::starved && !c_.chain.empty();
    if (starves && !c_.chain.back().supplier.valid()) uses(c_.chain.back().counter);
  }

 private:
  void add(ir::TransitionId t, std::string label, const char* role, std::string text) {
    if (scene_.marks.size() >= kMostMarks) return;
    scene_.marks.push_back({t, std::move(label), role, std::move(text)});
  }
  void link(ir::TransitionId from, ir::TransitionId to, const char* role, std::string text) {
    if (scene_.links.size() >= kMostMarks) return;
    scene_.links.push_back({from, to, role, std::move(text)});
  }

  void chain() {
    const bool circle = c_.kind == Kind::cycle;
    for (std::size_t i = 0; i < c_.chain.size(); ++i) {
      const proofs::WaitLink& l = c_.chain[i];
      const std::string counter = counter_text(names_.program(), names_.counters()[l.counter]);
      const std::string number = fmt::format("{}", i + 1);
      add(l.waiter, number, "waiter",
          fmt::format("({}) never happens: needs {} of {}, which holds {}", number, l.need, counter,
                      l.have));
      if (!l.supplier.valid()) continue;
      add(l.supplier, number + "\xE2\x80\xB2", "supplier",
          fmt::format("would help ({}), but is never reached", number));
      link(l.supplier, l.waiter, "missing", fmt::format("never comes: {}", counter));
      const bool last = i + 1 == c_.chain.size();
      if (last && !circle) continue;
      const ir::TransitionId next = c_.chain[last ? 0 : i + 1].waiter;
      if (names_.program_of(next) == names_.program_of(l.supplier) && next != l.supplier) {
        link(next, l.supplier, "behind",
             fmt::format("({}) holds up `{}`, which ({}) needs", last ? 1 : i + 2,
                         op_text(names_.program(), names_.op_of(l.supplier)), number));
      }
    }
  }

  [[nodiscard]] std::string does(const proofs::AccessRef& ref) const {
    const ir::Access& access = names_.program().accesses[ref.access];
    return fmt::format("{} {}", access.write ? "writes" : "reads",
                       region_text(names_.program(), access.region));
  }

  /// What two accesses are to each other.
  [[nodiscard]] std::string relation(bool flows) const {
    std::string text = flows                   ? "what one writes here the other reads"
                       : c_.kind == Kind::race ? "nothing orders these two"
                       : c_.kind == Kind::wrong_order
                           ? "these two happen against the order of their sections"
                           : "the two get in each other's way";
    if (!c_.range) return text;
    return text + ": " +
           ir::describe(names_.program(), c_.range->storage, c_.range->low, c_.range->high);
  }

  void accesses() {
    const bool way = c_.accesses.size() > 2 || rule_is_a_way();
    if (!way) {
      for (std::size_t i = 0; i < c_.accesses.size(); ++i) {
        const char letter = static_cast<char>('a' + i);
        add(c_.accesses[i].transition, std::string(1, letter), "access",
            fmt::format("({}) {}", letter, does(c_.accesses[i])));
      }
      if (c_.accesses.size() == 2) {
        const bool flows = c_.kind == Kind::undefined_read || c_.kind == Kind::wrong_producer;
        link(c_.accesses[flows ? 1 : 0].transition, c_.accesses[flows ? 0 : 1].transition,
             flows ? "flow" : "conflict", relation(flows));
      }
      return;
    }
    std::size_t number = 0;
    for (std::size_t i = 0; i < c_.accesses.size(); ++i) {
      const bool same = i > 0 && c_.accesses[i].transition == c_.accesses[i - 1].transition;
      if (same) {
        if (!scene_.marks.empty() && scene_.marks.size() < kMostMarks)
          scene_.marks.back().text += ", " + does(c_.accesses[i]);
        continue;
      }
      ++number;
      add(c_.accesses[i].transition, fmt::format("{}", number), "access",
          fmt::format("({}) {}", number, does(c_.accesses[i])));
      if (i > 0) link(c_.accesses[i - 1].transition, c_.accesses[i].transition, "flow", "data");
    }
  }
  /// The accesses of these are a way from op to op, however short.
  [[nodiscard]] bool rule_is_a_way() const {
    switch (c_.kind) {
      case Kind::leak:
      case Kind::missing_chip:
      case Kind::double_contribution:
      case Kind::nonlinear:
      case Kind::mismatch:
        return !c_.schedules.empty();
      default:
        return false;
    }
  }

  void ops() {
    for (std::size_t i = 0; i < c_.ops.size(); ++i) {
      std::string text = c_.note.empty() ? "named by the counterexample" : c_.note;
      if (c_.kind == Kind::slip_through) {
        text = i == 0 ? "stands after the boundary, and is performed"
                      : "stands before the boundary, and is not performed yet";
      } else if (c_.kind == Kind::interference) {
        text = "uses the same counter in another section of the phase";
      }
      const bool judged = c_.note.empty() || c_.kind == Kind::interference;
      const char letter = judged ? static_cast<char>('a' + i % 26) : '!';
      add(c_.ops[i], std::string(1, letter), "culprit", text);
    }
    if (c_.ops.size() == 2 && c_.kind == Kind::slip_through)
      link(c_.ops[1], c_.ops[0], "conflict", "should come first");
    if (c_.ops.size() == 2 && c_.kind == Kind::interference)
      link(c_.ops[0], c_.ops[1], "conflict", "one counter, two sections of one phase");
  }

  void uses(ir::CounterId counter) {
    const CounterUses all = c_.schedules.empty() ? uses_of(names_, counter)
                                                 : uses_in(names_, counter, c_.schedules.front());
    const ir::CounterKind kind = names_.counters()[counter].kind;
    const auto each = [&](const std::vector<CounterUse>& side, const char* verb) {
      for (const CounterUse& use : side) {
        const std::string text = fmt::format("{} {} in {}", verb, use.amount,
                                             count_text(static_cast<std::int64_t>(use.ops), "op"));
        add(use.last, "", "use", text);
      }
    };
    each(all.raising, raising_verb(kind));
    each(all.lowering, lowering_verb(kind));
  }

  const OpNames& names_;
  const Counterexample& c_;
  Scene& scene_;
};

/// The lanes, those with a mark first, then those that step.
class LaneChooser {
 public:
  LaneChooser(const OpNames& names, const std::vector<Playback>& playbacks, Scene& scene)
      : names_(names), playbacks_(playbacks), scene_(scene) {}

  void choose() {
    for (const Mark& mark : scene_.marks) {
      if (scene_.lanes.size() < kMostInvolved) take(names_.program_of(mark.transition));
    }
    if (scene_.marks.empty()) last_movers();
    scene_.involved = scene_.lanes.size();
    for (const Playback& played : playbacks_) {
      for (const PlayedStep& step : played.steps) take(names_.program_of(step.transition));
    }
    const std::size_t all = names_.program().programs.size();
    for (std::uint32_t p = 0; p < all && scene_.lanes.size() < kMostLanes; ++p) {
      take(ir::ProgramId(p));
    }
    scene_.lanes_left_out = all - scene_.lanes.size();
  }

 private:
  void take(ir::ProgramId p) {
    if (taken_.insert(p).second) scene_.lanes.push_back(p);
  }
  void last_movers() {
    std::set<ir::ProgramId> movers;
    for (const Playback& played : playbacks_) {
      const std::size_t n = played.steps.size();
      for (std::size_t i = n; i > 0 && i + kLastSteps > n; --i)
        movers.insert(names_.program_of(played.steps[i - 1].transition));
    }
    for (const ir::ProgramId p : movers) take(p);
  }

  const OpNames& names_;
  const std::vector<Playback>& playbacks_;
  Scene& scene_;
  std::set<ir::ProgramId> taken_;
};

/// The ops of the lanes, as many as there may be, what matters most first.
class RowChooser {
 public:
  RowChooser(const OpNames& names, const std::vector<Playback>& playbacks, Scene& scene)
      : names_(names), playbacks_(playbacks), scene_(scene) {}

  void choose() {
    for (const Mark& mark : scene_.marks) around(mark.transition, 0, 1);
    for (const Mark& mark : scene_.marks) around(mark.transition, 4, 5);
    for (std::size_t i = 0; i < scene_.involved; ++i) ends(scene_.lanes[i], 3);
    for (std::size_t i = 0; i < scene_.involved; ++i) performed(scene_.lanes[i], 250);
    for (const Mark& mark : scene_.marks) around(mark.transition, 40, 40);
    for (std::size_t i = scene_.involved; i < scene_.lanes.size(); ++i) ends(scene_.lanes[i], 3);
    for (std::size_t i = scene_.involved; i < scene_.lanes.size(); ++i)
      performed(scene_.lanes[i], 40);
    for (const ir::ProgramId p : scene_.lanes) whole_if_short(p);
  }

 private:
  [[nodiscard]] std::uint32_t begin(ir::ProgramId p) const {
    return names_.unrolled().begin[p.value()];
  }
  [[nodiscard]] std::uint32_t end(ir::ProgramId p) const {
    return names_.unrolled().begin[p.value() + 1];
  }
  void add(ir::ProgramId p, std::int64_t low, std::int64_t high) {
    low = std::max<std::int64_t>(low, begin(p));
    high = std::min<std::int64_t>(high, end(p));
    for (std::int64_t t = low; t < high && used_ < kMostRows; ++t) {
      if (scene_.rows[p].insert(static_cast<std::uint32_t>(t)).second) ++used_;
    }
  }
  void around(ir::TransitionId t, std::int64_t before, std::int64_t behind) {
    const ir::ProgramId p = names_.program_of(t);
    if (std::find(scene_.lanes.begin(), scene_.lanes.end(), p) == scene_.lanes.end()) return;
    const std::int64_t at = t.value();
    add(p, at - before, at + behind);
  }
  void ends(ir::ProgramId p, std::int64_t each_side) {
    for (const Playback& played : playbacks_) {
      const std::int64_t at = played.after.next[p.value()];
      add(p, at - each_side, at + each_side);
    }
  }
  /// The last `most` of those that a schedule performs and a page shows.
  void performed(ir::ProgramId p, std::int64_t most) {
    for (const Playback& played : playbacks_) {
      const std::int64_t high = played.after.next[p.value()];
      add(p, std::max<std::int64_t>(played.before.next[p.value()], high - most), high);
    }
  }
  void whole_if_short(ir::ProgramId p) {
    constexpr std::uint32_t kShort = 60;
    if (end(p) - begin(p) <= kShort) add(p, begin(p), end(p));
  }

  const OpNames& names_;
  const std::vector<Playback>& playbacks_;
  Scene& scene_;
  std::size_t used_ = 0;
};

}  // namespace

Scene scene_of(const OpNames& names, const Counterexample& c,
               const std::vector<Playback>& playbacks) {
  Scene scene;
  Marker(names, c, scene).mark();
  if (scene.marks.empty() && playbacks.empty()) return scene;
  LaneChooser(names, playbacks, scene).choose();
  RowChooser(names, playbacks, scene).choose();
  return scene;
}

}  // namespace spatialcert::certify::views
