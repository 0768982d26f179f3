#include "ir/folding.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace spatialcert::ir {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;
/// Comparisons of accesses to one tensor up to which a group is folded.
constexpr std::uint64_t kMostComparisons = 20'000'000;

/// a * b + c, if it fits.
std::optional<std::int64_t> scaled_sum(std::int64_t a, std::int64_t b, std::int64_t c) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out) || __builtin_add_overflow(out, c, &out))
    return std::nullopt;
  return out;
}

/// A loop around the op that is looked at.
struct Enclosing {
  std::int64_t trips = 0;       ///< in the whole program
  std::uint32_t group = kNone;  ///< of a folded loop
  std::uint32_t end = 0;        ///< one past its body
};

using Box = std::array<std::int64_t, 4>;

/// What an access inside a group's loops touches in all trips.
struct Footprint {
  std::uint32_t tensor = 0;
  Box box{};
  bool widened_write = false;
};

bool overlap(const Box& a, const Box& b) {
  return a[0] < b[1] && b[0] < a[1] && a[2] < b[3] && b[2] < a[3];
}

class Folder {
 public:
  Folder(const Program& program, const Folding& folding) : whole_(program), folding_(folding) {}

  std::variant<Folded, Unfoldable> run() {
    out_.depth.assign(folding_.size(), kNone);
    out_.segments.assign(folding_.size(), std::numeric_limits<std::int64_t>::max());
    out_.widened.resize(folding_.size());
    footprints_.resize(folding_.size());
    if (!loops_are_well_formed()) return *refusal_;
    out_.program = whole_;
    seen_.assign(whole_.accesses.size(), false);
    const auto programs = static_cast<std::uint32_t>(whole_.programs.size());
    for (std::uint32_t p = 0; p < programs; ++p) {
      if (!walk(p)) return *refusal_;
    }
    for (std::uint32_t g = 0; g < folding_.size(); ++g) {
      if (!nobody_else_touches(g)) return *refusal_;
    }
    number_rows();
    return std::move(out_);
  }

 private:
  bool refuse(std::uint32_t group, std::string why) {
    refusal_ = Unfoldable{group, std::move(why)};
    return false;
  }

  /// Does every folded loop exist, in one group, with something left of it?
  bool loops_are_well_formed() {
    group_of_.resize(whole_.programs.size());
    for (std::uint32_t g = 0; g < folding_.size(); ++g) {
      const FoldedGroup& group = folding_[g];
      if (group.loops.empty() || group.removed < 1) return refuse(g, "it takes nothing away");
      for (std::size_t i = 0; i < group.loops.size(); ++i) {
        const FoldedLoop& loop = group.loops[i];
        if (i > 0 && group.loops[i - 1].program >= loop.program)
          return refuse(g, "its loops are not one per engine program, in order");
        if (!take(g, loop)) return false;
      }
    }
    return true;
  }

  bool take(std::uint32_t g, const FoldedLoop& loop) {
    if (loop.program >= whole_.programs.size()) return refuse(g, "no such engine program");
    const auto& ops = whole_.programs[loop.program].ops;
    if (loop.op >= ops.size() || ops[loop.op].code != OpCode::repeat)
      return refuse(g, "no such loop");
    auto& group_of = group_of_[loop.program];
    if (group_of.empty()) group_of.assign(ops.size(), kNone);
    if (group_of[loop.op] != kNone) return refuse(g, "a loop is folded twice");
    group_of[loop.op] = g;
    if (loop.turns < 1 || loop.skip < 0) return refuse(g, "no turns");
    const auto removed = scaled_sum(loop.turns, folding_[g].removed, loop.skip);
    if (!removed || *removed > ops[loop.op].count - loop.turns)
      return refuse(g, "nothing is left of a loop");
    const std::int64_t left = (ops[loop.op].count - *removed) / loop.turns;
    out_.segments[g] = std::min(out_.segments[g], left);
    return true;
  }

  [[nodiscard]] std::int64_t removed_trips(std::uint32_t p, std::uint32_t op) const {
    const std::uint32_t g = group_of_[p].empty() ? kNone : group_of_[p][op];
    if (g == kNone) return 0;
    const auto& loops = folding_[g].loops;
    const auto at = std::lower_bound(
        loops.begin(), loops.end(), p,
        [](const FoldedLoop& loop, std::uint32_t program) { return loop.program < program; });
    return at->turns * folding_[g].removed;
  }

  /// Shortens the loops of one engine program and widens what moves with them.
  bool walk(std::uint32_t p) {
    auto& ops = out_.program.programs[p].ops;
    std::vector<Enclosing> around;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      while (!around.empty() && around.back().end == i) around.pop_back();
      Op& op = ops[i];
      if (op.code == OpCode::run) {
        if (!widen(op, around)) return false;
      } else if (op.code == OpCode::repeat) {
        const std::uint32_t g = group_of_[p].empty() ? kNone : group_of_[p][i];
        if (g != kNone) {
          const auto depth = static_cast<std::uint32_t>(around.size());
          if (out_.depth[g] != kNone && out_.depth[g] != depth)
            return refuse(g, "its loops are nested to different depths");
          out_.depth[g] = depth;
        }
        around.push_back({op.count, g, i + 1 + op.body});
        op.count -= removed_trips(p, i);
      }
    }
    return true;
  }

  /// Outermost folded loop that the region moves with, or ~0.
  [[nodiscard]] std::size_t first_moving(const Region& region,
                                         const std::vector<Enclosing>& around) const {
    std::size_t first = kNone;
    for (std::uint32_t t = 0; t < region.terms; ++t) {
      const AffineTerm& term = whole_.affine_terms[region.first_term + t];
      if (term.coefficient != 0 && around[term.level].group != kNone)
        first = std::min<std::size_t>(first, term.level);
    }
    return first;
  }

  bool widen(const Op& op, const std::vector<Enclosing>& around) {
    for (std::uint32_t a = op.first_access; a < op.first_access + op.accesses; ++a) {
      Access& access = out_.program.accesses[a];
      if (seen_[a]) return refuse(0, "two ops share a list of accesses");
      seen_[a] = true;
      const std::size_t first = first_moving(access.region, around);
      // What it does depends on how large its operands are.
      const bool reduces = whole_.stages[op.object].kind == StageKind::allreduce;
      if (reduces && first != kNone)
        return refuse(around[first].group, "an all-reduce moves with it");
      if (reduces && access.region.kind == RegionKind::tensor)
        sized_.push_back(access.region.object);
      if (first != kNone && !widen(access, around, first)) return false;
      if (access.region.kind != RegionKind::tensor) continue;
      if (first != kNone) moved_.push_back(access.region.object);
      // Every group around it, not only those that it moves with, has to know what it touches.
      const bool write = first != kNone && access.write;
      if (write) out_.widened[around[first].group].push_back(TensorId(access.region.object));
      for (std::size_t level = 0; level < around.size(); ++level) {
        if (around[level].group == kNone) continue;
        const auto box = all_trips(access.region, around);
        if (!box) return refuse(around[level].group, "a region does not fit 64 bits");
        footprints_[around[level].group].push_back(
            {access.region.object, *box, write && level == first});
      }
    }
    return true;
  }

  /// Coefficients of one bound, by level; none if they do not fit.
  [[nodiscard]] std::vector<std::int64_t> coefficients(const Region& region, int bound,
                                                       std::size_t levels) const {
    std::vector<std::int64_t> out(levels, 0);
    for (std::uint32_t t = 0; t < region.terms; ++t) {
      const AffineTerm& term = out_.program.affine_terms[region.first_term + t];
      if (term.bound != bound) continue;
      if (__builtin_add_overflow(out[term.level], term.coefficient, &out[term.level])) return {};
    }
    return out;
  }

  /// Replaces the region by what it touches in all trips of the loops from level `first` inwards.
  bool widen(Access& access, const std::vector<Enclosing>& around, std::size_t first) {
    Region& region = access.region;
    const std::uint32_t group = around[first].group;
    const bool tensor = region.kind == RegionKind::tensor;
    if (access.write && (!tensor || is_view_or_base(region.object)))
      return refuse(group, "a write that moves with it is not to a plain tensor");
    const int halves = tensor ? 2 : 1;
    std::array<std::vector<std::int64_t>, 4> by;
    for (int bound = 0; bound < 2 * halves; ++bound) {
      by[static_cast<std::size_t>(bound)] = coefficients(region, bound, around.size());
      if (by[static_cast<std::size_t>(bound)].empty())
        return refuse(group, "a region does not fit 64 bits");
    }
    for (int half = 0; half < halves; ++half) {
      if (!never_empty(region, half, by, around))
        return refuse(group, "a region that moves with it may be empty");
    }
    for (std::size_t level = around.size(); level-- > first;) {
      int moving = 0;
      for (int half = 0; half < halves; ++half) {
        const std::int64_t low = by[static_cast<std::size_t>(2 * half)][level];
        const std::int64_t high = by[static_cast<std::size_t>(2 * half + 1)][level];
        if (low == 0 && high == 0) continue;
        ++moving;
        if (access.write && !leaves_no_gap(region, half, by, low, high, around[level].trips))
          return refuse(group, "writes that move with it leave gaps, or are none of one size");
        if (!extend(region.bound[2 * half], std::min<std::int64_t>(low, 0), around[level].trips) ||
            !extend(region.bound[2 * half + 1], std::max<std::int64_t>(high, 0),
                    around[level].trips))
          return refuse(group, "a region does not fit 64 bits");
      }
      if (access.write && moving > 1)
        return refuse(group, "a write moves along rows and columns at once");
    }
    keep_terms(region, first);
    return true;
  }

  /// A region whose ends move apart or together is not empty in any trip: one that were would leave
  /// its object, and what it is widened to would not show it.
  static bool never_empty(const Region& region, int half,
                          const std::array<std::vector<std::int64_t>, 4>& by,
                          const std::vector<Enclosing>& around) {
    const auto lower = static_cast<std::size_t>(2 * half);
    std::int64_t least = 0;
    if (__builtin_sub_overflow(region.bound[2 * half + 1], region.bound[2 * half], &least))
      return false;
    for (std::size_t level = 0; level < around.size(); ++level) {
      std::int64_t apart = 0;
      if (__builtin_sub_overflow(by[lower + 1][level], by[lower][level], &apart)) return false;
      if (apart < 0 && !extend(least, apart, around[level].trips)) return false;
    }
    return least >= 1;
  }

  static bool extend(std::int64_t& bound, std::int64_t coefficient, std::int64_t trips) {
    const auto sum = scaled_sum(coefficient, trips - 1, bound);
    if (sum) bound = *sum;
    return sum.has_value();
  }

  /// Both bounds move alike with every loop, by no more than the width.
  static bool leaves_no_gap(const Region& region, int half,
                            const std::array<std::vector<std::int64_t>, 4>& by, std::int64_t low,
                            std::int64_t high, std::int64_t trips) {
    const auto lower = static_cast<std::size_t>(2 * half);
    if (low != high || by[lower] != by[lower + 1]) return false;
    std::int64_t width = 0;
    if (__builtin_sub_overflow(region.bound[2 * half + 1], region.bound[2 * half], &width))
      return false;
    return width >= 1 && (trips == 1 || (low <= width && low >= -width));
  }

  void keep_terms(Region& region, std::size_t first) {
    auto& terms = out_.program.affine_terms;
    const auto begin = static_cast<std::uint32_t>(terms.size());
    for (std::uint32_t t = 0; t < region.terms; ++t) {
      const AffineTerm term = terms[region.first_term + t];
      if (term.level < first) terms.push_back(term);
    }
    region.first_term = begin;
    region.terms = static_cast<std::uint32_t>(terms.size()) - begin;
  }

  [[nodiscard]] bool is_view_or_base(std::uint32_t tensor) {
    if (shares_.empty()) {
      shares_.assign(whole_.tensors.size(), 0);
      for (std::size_t t = 0; t < whole_.tensors.size(); ++t) {
        if (whole_.tensors[t].view) shares_[t] = shares_[whole_.tensors[t].view->base.value()] = 1;
      }
    }
    return shares_[tensor] != 0;
  }

  /// The least box around a tensor region in all trips of all loops.
  [[nodiscard]] std::optional<Box> all_trips(const Region& region,
                                             const std::vector<Enclosing>& around) const {
    Box box{region.bound[0], region.bound[1], region.bound[2], region.bound[3]};
    for (std::uint32_t t = 0; t < region.terms; ++t) {
      const AffineTerm& term = out_.program.affine_terms[region.first_term + t];
      const bool upper = term.bound % 2 != 0;
      if (upper ? term.coefficient < 0 : term.coefficient > 0) continue;
      if (!extend(box[term.bound], term.coefficient, around[term.level].trips)) return std::nullopt;
    }
    return box;
  }

  /// Inside the group's loops, what a widened write touches is touched by nothing else.
  bool nobody_else_touches(std::uint32_t g) {
    auto& all = footprints_[g];
    std::sort(all.begin(), all.end(), [](const Footprint& a, const Footprint& b) {
      return a.tensor != b.tensor ? a.tensor < b.tensor : a.box < b.box;
    });
    std::uint64_t comparisons = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = i + 1;
           j < all.size() && all[j].tensor == all[i].tensor && all[j].box[0] < all[i].box[1]; ++j) {
        if (++comparisons > kMostComparisons) return refuse(g, "too many accesses to one tensor");
        if ((all[i].widened_write || all[j].widened_write) && overlap(all[i].box, all[j].box))
          return refuse(g, "what a trip writes is touched in another one: tensor " +
                               whole_.tensors[all[i].tensor].name);
      }
    }
    auto& widened = out_.widened[g];
    std::sort(widened.begin(), widened.end());
    widened.erase(std::unique(widened.begin(), widened.end()), widened.end());
    return true;
  }

  /// Of tensors whose accesses were widened, only the order of the rows matters: neighbouring rows
  /// that no access tells apart become one. A region of a billion rows is otherwise too many runs
  /// of elements to look at.
  void number_rows() {
    Program& program = out_.program;
    std::sort(moved_.begin(), moved_.end());
    std::vector<char> wanted(program.tensors.size(), 0);
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    for (const std::uint32_t t : moved_)
      wanted[t] = is_view_or_base(t) || program.tensors[t].rows > kMost ? 0 : 1;
    for (const std::uint32_t t : sized_) wanted[t] = 0;
    std::vector<std::vector<std::int64_t>> rows(program.tensors.size());
    const auto is_row = [](const AffineTerm& term) { return term.bound < 2; };
    for (const Access& access : program.accesses) {
      const Region& region = access.region;
      if (region.kind != RegionKind::tensor || wanted[region.object] == 0) continue;
      const auto first = program.affine_terms.begin() + region.first_term;
      const auto all = static_cast<std::int64_t>(program.tensors[region.object].rows);
      if (std::any_of(first, first + region.terms, is_row) || region.bound[0] < 0 ||
          region.bound[1] < 0 || region.bound[0] > all || region.bound[1] > all) {
        wanted[region.object] = 0;
        continue;
      }
      rows[region.object].insert(rows[region.object].end(), {region.bound[0], region.bound[1]});
    }
    for (std::uint32_t t = 0; t < rows.size(); ++t) {
      if (wanted[t] == 0) continue;
      auto& r = rows[t];
      r.insert(r.end(), {0, static_cast<std::int64_t>(program.tensors[t].rows)});
      std::sort(r.begin(), r.end());
      r.erase(std::unique(r.begin(), r.end()), r.end());
      program.tensors[t].rows = r.size() - 1;
    }
    for (Access& access : program.accesses) {
      Region& region = access.region;
      if (region.kind != RegionKind::tensor || wanted[region.object] == 0) continue;
      const auto& r = rows[region.object];
      for (int half = 0; half < 2; ++half)
        region.bound[half] = std::lower_bound(r.begin(), r.end(), region.bound[half]) - r.begin();
    }
  }

  const Program& whole_;
  const Folding& folding_;
  Folded out_;
  std::optional<Unfoldable> refusal_;
  std::vector<std::vector<std::uint32_t>> group_of_;  // engine program -> op -> group; empty: none
  std::vector<std::vector<Footprint>> footprints_;    // by group
  std::vector<std::uint32_t> moved_;                  // tensors of widened accesses
  std::vector<std::uint32_t> sized_;                  // tensors that all-reduces touch
  std::vector<bool> seen_;                            // accesses of ops that were walked
  std::vector<char> shares_;                          // tensors that are views or have some
};

std::uint64_t instances(const std::vector<Op>& ops, std::uint32_t begin, std::uint32_t end) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::uint64_t sum = 0;
  for (std::uint32_t i = begin; i < end; i += 1 + ops[i].body) {
    std::uint64_t here = 1;
    if (ops[i].code == OpCode::repeat) {
      const std::uint64_t body = instances(ops, i + 1, i + 1 + ops[i].body);
      const auto trips = static_cast<std::uint64_t>(std::max<std::int64_t>(ops[i].count, 0));
      here = body != 0 && trips > kMost / body ? kMost : body * trips;
    }
    sum = sum > kMost - here ? kMost : sum + here;
  }
  return sum;
}

}  // namespace

std::variant<Folded, Unfoldable> fold(const Program& program, const Folding& folding) {
  return Folder(program, folding).run();
}

std::uint64_t op_instances(const Program& program) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::uint64_t sum = 0;
  for (const EngineProgram& p : program.programs) {
    const std::uint64_t here = instances(p.ops, 0, static_cast<std::uint32_t>(p.ops.size()));
    sum = sum > kMost - here ? kMost : sum + here;
  }
  return sum;
}

}  // namespace spatialcert::ir
