#include "proofs/folding/groups.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "ir/counter_events.hpp"

namespace spatialcert::proofs::folding {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;
/// Trips to a segment, and what a trip does to a counter, up to which rates are matched.
constexpr std::int64_t kMostTurns = 1'000'000;
/// Segments that a folded loop inside another is reckoned to have. Rates match or not whatever it
/// is, for what a segment raises it lowers.
constexpr std::int64_t kSegmentsLeft = 9;

struct Rate {
  std::uint32_t counter = 0;
  std::int64_t raised = 0;  ///< in one trip
  std::int64_t lowered = 0;
};

struct Loop {
  std::uint32_t program = 0;
  std::uint32_t op = 0;
  std::int64_t trips = 0;
  std::uint32_t depth = 0;
  std::vector<Rate> rates;  ///< by counter
  bool usable = true;
};

/// A positive fraction in lowest terms.
struct Fraction {
  std::int64_t over = 1;
  std::int64_t under = 1;
};

std::optional<Fraction> scaled(const Fraction& f, std::int64_t by, std::int64_t through) {
  std::int64_t over = 0;
  std::int64_t under = 0;
  if (by <= 0 || through <= 0 || __builtin_mul_overflow(f.over, by, &over) ||
      __builtin_mul_overflow(f.under, through, &under))
    return std::nullopt;
  const std::int64_t divisor = std::gcd(over, under);
  return Fraction{over / divisor, under / divisor};
}

class Grouping {
 public:
  Grouping(const ir::Program& program, std::int64_t least_trips)
      : program_(program), counters_(program), least_trips_(least_trips) {}

  std::vector<Candidate> run() {
    for (std::uint32_t p = 0; p < program_.programs.size(); ++p) find_loops(p);
    leader_.resize(loops_.size());
    std::iota(leader_.begin(), leader_.end(), 0U);
    std::uint32_t deepest = 0;
    for (const Loop& loop : loops_) deepest = std::max(deepest, loop.depth);
    std::vector<Candidate> out;
    // From the inside out: to the loops around it, a folded loop is one of few trips.
    for (std::uint32_t depth = deepest + 1; depth-- > 0;) {
      std::vector<std::uint32_t> here;
      for (std::uint32_t i = 0; i < loops_.size(); ++i) {
        if (loops_[i].depth == depth) here.push_back(i);
      }
      for (const std::uint32_t i : here) find_rates(loops_[i]);
      join(here);
      std::map<std::uint32_t, std::vector<std::uint32_t>> groups;
      for (const std::uint32_t i : here) groups[lead(i)].push_back(i);
      for (const auto& [leader, members] : groups) {
        auto made = candidate(members);
        if (!made) continue;
        for (const ir::FoldedLoop& loop : made->loops) {
          const std::int64_t removed = std::max<std::int64_t>(made->segments - kSegmentsLeft, 0);
          trips_[loop.program][loop.op] -= loop.turns * removed;
        }
        out.push_back(std::move(*made));
      }
    }
    return out;
  }

 private:
  void find_loops(std::uint32_t p) {
    const auto& ops = program_.programs[p].ops;
    trips_.emplace_back(ops.size(), 0);
    std::vector<std::uint32_t> ends;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      while (!ends.empty() && ends.back() == i) ends.pop_back();
      if (ops[i].code != ir::OpCode::repeat) continue;
      trips_[p][i] = ops[i].count;
      loops_.push_back({p, i, ops[i].count, static_cast<std::uint32_t>(ends.size()), {}, true});
      ends.push_back(i + 1 + ops[i].body);
    }
  }

  void find_rates(Loop& loop) const {
    const auto& ops = program_.programs[loop.program].ops;
    std::map<std::uint32_t, Rate> rates;
    loop.usable = add_up(loop.program, loop.op + 1, loop.op + 1 + ops[loop.op].body, 1, rates);
    for (const auto& [counter, rate] : rates) loop.rates.push_back(rate);
  }

  bool add_up(std::uint32_t p, std::uint32_t begin, std::uint32_t end, std::int64_t times,
              std::map<std::uint32_t, Rate>& out) const {
    const auto& ops = program_.programs[p].ops;
    for (std::uint32_t i = begin; i < end; i += 1 + ops[i].body) {
      if (ops[i].code == ir::OpCode::repeat) {
        std::int64_t inner = 0;
        if (__builtin_mul_overflow(times, trips_[p][i], &inner) ||
            !add_up(p, i + 1, i + 1 + ops[i].body, inner, out))
          return false;
        continue;
      }
      for (const ir::CounterEffect& effect : ir::effects_of(ops[i], counters_)) {
        Rate& rate = out[effect.counter.value()];
        rate.counter = effect.counter.value();
        std::int64_t& sum = effect.delta > 0 ? rate.raised : rate.lowered;
        std::int64_t all = 0;
        if (__builtin_mul_overflow(times, effect.delta < 0 ? -effect.delta : effect.delta, &all) ||
            __builtin_add_overflow(sum, all, &sum))
          return false;
      }
    }
    return true;
  }

  std::uint32_t lead(std::uint32_t i) {
    while (leader_[i] != i) i = leader_[i] = leader_[leader_[i]];
    return i;
  }

  /// The n-th loop that raises a counter goes with the n-th that lowers it.
  void join(const std::vector<std::uint32_t>& here) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> users;
    for (const std::uint32_t i : here) {
      for (const Rate& rate : loops_[i].rates) users[rate.counter].push_back(i);
    }
    for (const auto& [counter, loops] : users) {
      std::vector<std::uint32_t> raise;
      std::vector<std::uint32_t> lower;
      bool clear = true;
      for (const std::uint32_t i : loops) {
        const Rate& rate = *std::find_if(loops_[i].rates.begin(), loops_[i].rates.end(),
                                         [c = counter](const Rate& r) { return r.counter == c; });
        if (rate.raised > 0) raise.push_back(i);
        if (rate.lowered > 0) lower.push_back(i);
        clear &= rate.raised > 0 || rate.lowered > 0;
      }
      clear &= raise.size() == lower.size() && one_program(raise) && one_program(lower);
      for (std::size_t n = 0; clear && n < raise.size(); ++n)
        leader_[lead(raise[n])] = lead(lower[n]);
      if (clear) continue;
      for (const std::uint32_t i : loops) loops_[i].usable = false;
    }
  }

  [[nodiscard]] bool one_program(const std::vector<std::uint32_t>& loops) const {
    return std::all_of(loops.begin(), loops.end(), [&](std::uint32_t i) {
      return loops_[i].program == loops_[loops.front()].program;
    });
  }

  std::optional<Candidate> candidate(const std::vector<std::uint32_t>& members) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Loop& loop = loops_[members[i]];
      const bool again = i > 0 && loops_[members[i - 1]].program == loop.program;
      if (!loop.usable || again || loop.trips < least_trips_) return std::nullopt;
    }
    const auto turns = repetition_vector(members);
    if (!turns) return std::nullopt;
    Candidate out;
    out.segments = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Loop& loop = loops_[members[i]];
      out.loops.push_back({loop.program, loop.op, (*turns)[i], 0});
      out.segments = std::min(out.segments, loop.trips / (*turns)[i]);
    }
    return out;
  }

  /// Trips per segment of every member, the least ones that balance every counter.
  std::optional<std::vector<std::int64_t>> repetition_vector(
      const std::vector<std::uint32_t>& members) {
    struct Ends {
      std::size_t raiser = kNone;
      std::size_t lowerer = kNone;
      Rate rate;
    };
    std::map<std::uint32_t, Ends> by_counter;
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (const Rate& rate : loops_[members[i]].rates) {
        Ends& ends = by_counter[rate.counter];
        if (rate.raised > 0) ends.raiser = i, ends.rate.raised = rate.raised;
        if (rate.lowered > 0) ends.lowerer = i, ends.rate.lowered = rate.lowered;
      }
    }
    std::vector<std::vector<const Ends*>> of(members.size());
    for (const auto& [counter, ends] : by_counter) {
      if (ends.raiser == kNone || ends.lowerer == kNone) return std::nullopt;
      of[ends.raiser].push_back(&ends);
      if (ends.lowerer != ends.raiser) of[ends.lowerer].push_back(&ends);
    }
    std::vector<std::optional<Fraction>> turns(members.size());
    std::vector<std::size_t> reached{0};
    turns[0] = Fraction{};
    std::int64_t denominator = 1;
    for (std::size_t at = 0; at < reached.size(); ++at) {
      const std::size_t i = reached[at];
      for (const Ends* ends : of[i]) {
        const bool raises = ends->raiser == i;
        const std::size_t other = raises ? ends->lowerer : ends->raiser;
        const auto wanted = raises ? scaled(*turns[i], ends->rate.raised, ends->rate.lowered)
                                   : scaled(*turns[i], ends->rate.lowered, ends->rate.raised);
        if (!wanted) return std::nullopt;
        if (turns[other]) {
          if (turns[other]->over != wanted->over || turns[other]->under != wanted->under)
            return std::nullopt;
          continue;
        }
        turns[other] = wanted;
        reached.push_back(other);
        denominator = std::lcm(denominator, wanted->under);
        if (denominator > kMostTurns) return std::nullopt;
      }
    }
    std::vector<std::int64_t> out;
    for (const auto& fraction : turns) {
      if (!fraction || fraction->over > kMostTurns) return std::nullopt;
      out.push_back(fraction->over * (denominator / fraction->under));
    }
    std::int64_t divisor = 0;
    for (const std::int64_t t : out) divisor = std::gcd(divisor, t);
    for (std::int64_t& t : out) t /= divisor;
    return out;
  }

  const ir::Program& program_;
  ir::Counters counters_;
  std::int64_t least_trips_;
  std::vector<Loop> loops_;
  std::vector<std::vector<std::int64_t>> trips_;  // of every `repeat`, those inside folded
  std::vector<std::uint32_t> leader_;
};

}  // namespace

std::vector<Candidate> candidate_groups(const ir::Program& program, std::int64_t least_trips) {
  return Grouping(program, least_trips).run();
}

}  // namespace spatialcert::proofs::folding
