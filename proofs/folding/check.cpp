#include "proofs/folding/check.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "ir/counter_events.hpp"
#include "proofs/folding/back_pressure.hpp"
#include "proofs/folding/joined.hpp"
#include "proofs/folding/segments.hpp"
#include "proofs/folding/windows.hpp"
#include "proofs/issues.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::proofs::folding {
namespace {

constexpr std::uint32_t kSeveral = 0xfffffffeU;

/// Who raises, lowers and tests a counter, in the whole program.
struct Parties {
  std::uint32_t raiser = kNone;
  std::uint32_t lowerer = kNone;
  std::uint32_t tester = kNone;
};

/// What the trips of a segment do to a counter.
struct Gain {
  std::int64_t raised = 0;
  std::int64_t lowered = 0;
};
using Gains = std::map<std::uint32_t, Gain>;

void note(std::uint32_t& party, std::uint32_t program) {
  party = party == kNone || party == program ? program : kSeveral;
}

/// Sum of what ops [begin, end) do, `times` times; false if it does not fit.
bool add_up(const std::vector<ir::Op>& ops, std::uint32_t begin, std::uint32_t end,
            std::int64_t times, const ir::Counters& counters, Gains& out) {
  for (std::uint32_t i = begin; i < end; i += 1 + ops[i].body) {
    if (ops[i].code == ir::OpCode::repeat) {
      std::int64_t inner = 0;
      if (__builtin_mul_overflow(times, ops[i].count, &inner) ||
          !add_up(ops, i + 1, i + 1 + ops[i].body, inner, counters, out))
        return false;
      continue;
    }
    for (const ir::CounterEffect& effect : ir::effects_of(ops[i], counters)) {
      Gain& gain = out[effect.counter.value()];
      std::int64_t& sum = effect.delta > 0 ? gain.raised : gain.lowered;
      std::int64_t all = 0;
      if (__builtin_mul_overflow(times, effect.delta < 0 ? -effect.delta : effect.delta, &all) ||
          __builtin_add_overflow(sum, all, &sum))
        return false;
    }
  }
  return true;
}

class Examination {
 public:
  Examination(const ir::Folding& folding, const ir::Folded& folded, const Subject& reduced)
      : folding_(folding),
        folded_(folded),
        program_(folded.program),
        subject_(reduced),
        counters_(program_),
        shape_(folding.size()) {}

  std::vector<Objection> run() {
    if (!program_.postconditions.empty()) {
      object(0, Objection::Kind::values,
             "values pass through all trips, and reduction follows them");
      return objections_;
    }
    find_parties();
    const std::set<std::uint32_t> depths(folded_.depth.begin(), folded_.depth.end());
    for (const std::uint32_t depth : depths) {
      if (!holds_at(depth)) break;
    }
    return objections_;
  }

 private:
  bool object(std::uint32_t group, Objection::Kind kind, std::string why,
              std::int64_t segments = 0) {
    objections_.push_back({group, kind, segments, std::move(why)});
    return false;
  }

  void find_parties() {
    parties_.assign(counters_.size(), {});
    for (std::uint32_t p = 0; p < program_.programs.size(); ++p) {
      for (const ir::Op& op : program_.programs[p].ops) {
        for (const ir::CounterEffect& effect : ir::effects_of(op, counters_)) {
          Parties& parties = parties_[effect.counter.value()];
          if (effect.delta > 0) note(parties.raiser, p);
          if (effect.delta < 0) note(parties.lowerer, p);
          if (effect.need > 0) note(parties.tester, p);
        }
      }
    }
  }

  bool holds_at(std::uint32_t depth) {
    for (std::uint32_t g = 0; g < folding_.size(); ++g) {
      if (folded_.depth[g] == depth) counters_balance(g);
    }
    if (!objections_.empty()) return false;
    auto labelled = segments_at(folding_, folded_, subject_.one, depth);
    if (const auto* uneven = std::get_if<Uneven>(&labelled))
      return object(uneven->group, Objection::Kind::uneven, "its loops run unequally often");
    const Segments& segments = std::get<Segments>(labelled);
    return places_shift(segments) && enough(depth, segments) && held_back(segments) &&
           apart(segments);
  }

  /// Premise 1.
  void counters_balance(std::uint32_t g) {
    Gains all;
    for (const ir::FoldedLoop& loop : folding_[g].loops) {
      const auto& ops = program_.programs[loop.program].ops;
      Gains own;
      if (!add_up(ops, loop.op + 1, loop.op + 1 + ops[loop.op].body, loop.turns, counters_, own))
        return odd(g, "what a segment does to a counter does not fit 64 bits");
      for (const auto& [counter, gain] : own) {
        const Parties& parties = parties_[counter];
        const bool raises = parties.raiser == loop.program;
        const bool lowers = parties.lowerer == loop.program && parties.tester == loop.program;
        if (!raises && !lowers) return odd(g, name(counter) + " has others that use it");
        if (raises) all[counter].raised = gain.raised;
        if (lowers) all[counter].lowered = gain.lowered;
      }
    }
    for (const auto& [counter, gain] : all) {
      if (gain.raised != gain.lowered || gain.raised < 1)
        return odd(g, name(counter) + " is not raised as often as it is lowered");
    }
    shape_[g].gains = std::move(all);
  }

  void odd(std::uint32_t g, std::string why) {
    object(g, Objection::Kind::counter, std::move(why));
  }
  [[nodiscard]] std::string name(std::uint32_t counter) const {
    return counter_text(program_, ir::CounterId(counter));
  }

  /// Premise 2.
  bool places_shift(const Segments& segments) {
    const ir::Unrolled& one = subject_.one;
    std::vector<char> fed(one.transitions(), 0);
    for (const ir::Place& place : subject_.net.places) {
      const std::uint32_t from = place.from.value();
      const std::uint32_t to = place.to.value();
      const std::uint32_t a = segments.instance[from];
      const std::uint32_t b = segments.instance[to];
      if (place.tokens < 0)
        return object(0, Objection::Kind::backwards,
                      "an iteration needs what a later one supplies");
      if (a != kNone && a == b && place.tokens == 0) {
        fed[to] = 1;
        Shape& shape = shape_[segments.group[a]];
        const std::int64_t lag =
            std::int64_t{segments.segment[to]} - std::int64_t{segments.segment[from]};
        if (lag < 0 && !shape.backwards) {
          shape.backwards = true;
          object(segments.group[a], Objection::Kind::backwards,
                 "a segment needs what a later one supplies");
        }
        shape.lag = std::max(shape.lag, lag);
        continue;
      }
      if (a != kNone) leaves(segments, from);
    }
    // Every other test depends on what is outside, or on nothing yet.
    for (std::uint32_t t = 0; t < one.transitions(); ++t) {
      if (segments.instance[t] == kNone || fed[t] != 0) continue;
      const ir::CounterEffects effects =
          ir::effects_of(one.op_of(program_, ir::TransitionId(t)), counters_);
      for (const ir::CounterEffect& effect : effects) {
        // Who raises and lowers a counter alone finds it alike in every segment.
        const bool own = parties_[effect.counter.value()].raiser == one.program[t];
        if (effect.need > 0 && !own) enters(segments, t);
      }
    }
    return objections_.empty();
  }

  void enters(const Segments& segments, std::uint32_t t) {
    Shape& shape = shape_[segments.group[segments.instance[t]]];
    shape.early = std::max(shape.early, std::int64_t{segments.segment[t]} + 1);
  }
  void leaves(const Segments& segments, std::uint32_t t) {
    const std::uint32_t g = segments.group[segments.instance[t]];
    shape_[g].late = std::max(shape_[g].late, folded_.segments[g] - segments.segment[t]);
  }

  /// Premises 4 and 7.
  bool enough(std::uint32_t depth, const Segments& segments) {
    const FifoWindows windows(program_, subject_.stretch);
    for (std::uint32_t g = 0; g < folding_.size(); ++g) {
      if (folded_.depth[g] != depth) continue;
      Shape& shape = shape_[g];
      std::int64_t distance = std::max({shape.early, shape.late, shape.lag}) + 1;
      for (const auto& [counter, gain] : shape.gains) {
        const ir::Counter& c = counters_[ir::CounterId(counter)];
        if (c.kind != ir::CounterKind::filled) continue;
        const std::int64_t pages = windows.widest(c.object);
        distance = std::max(distance, shape.lag + 2 + (pages + gain.raised - 1) / gain.raised);
      }
      const std::int64_t needed = shape.early + shape.late + distance + 1;
      if (folded_.segments[g] < needed)
        object(g, Objection::Kind::too_few, "too few segments remain", needed);
    }
    if (!objections_.empty()) return false;
    std::vector<std::int64_t> early;
    for (const Shape& shape : shape_) early.push_back(shape.early);
    if (const auto changing = windows.changing(segments, folding_, subject_.one, early))
      return object(*changing, Objection::Kind::window, "the window of a FIFO changes");
    return true;
  }

  /// Premise 5.
  bool held_back(const Segments& segments) {
    BackPressure search(subject_, segments);
    for (std::uint32_t i = 0; i < segments.group.size(); ++i) {
      const std::uint32_t g = segments.group[i];
      const Shape& shape = shape_[g];
      const auto last = static_cast<std::uint32_t>(folded_.segments[g] - shape.late - 1);
      const auto first = static_cast<std::uint32_t>(shape.early);
      for (const auto& [counter, gain] : shape.gains) {
        if (counters_[ir::CounterId(counter)].kind != ir::CounterKind::semaphore) continue;
        const Parties& parties = parties_[counter];
        if (!search.holds(i, ir::CounterId(counter), parties.raiser, parties.lowerer, first, last))
          return object(g, Objection::Kind::unbounded, name(counter) + " is not held back");
      }
    }
    return true;
  }

  /// Premises 3 and 6.
  bool apart(const Segments& segments) {
    if (const auto i = on_a_circuit(subject_, segments.instance, segments.group.size()))
      return object(segments.group[*i], Objection::Kind::circular,
                    "an op outside its loops comes between two of their trips");
    std::vector<std::uint32_t> around = segments.around;
    bool any = false;
    for (std::uint32_t& instance : around) {
      if (instance == kNone) continue;
      if (folded_.widened[segments.group[instance]].empty()) instance = kNone;
      any |= instance != kNone;
    }
    if (!any) return true;
    if (const auto i = on_a_circuit(subject_, around, segments.group.size()))
      return object(segments.group[*i], Objection::Kind::interleaved,
                    "an op outside its loops comes between two of their writes");
    return true;
  }

  /// What is measured of a group.
  struct Shape {
    Gains gains;
    std::int64_t early = 1;  ///< E
    std::int64_t late = 1;   ///< T
    std::int64_t lag = 0;    ///< segments that the longest place inside spans
    bool backwards = false;
  };

  const ir::Folding& folding_;
  const ir::Folded& folded_;
  const ir::Program& program_;
  const Subject& subject_;
  ir::Counters counters_;
  std::vector<Parties> parties_;  // by counter
  std::vector<Shape> shape_;      // by group
  std::vector<Objection> objections_;
};

}  // namespace

std::vector<Objection> check(const ir::Folding& folding, const ir::Folded& folded,
                             const Subject& reduced) {
  return Examination(folding, folded, reduced).run();
}

}  // namespace spatialcert::proofs::folding
