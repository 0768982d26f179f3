#include "proofs/folding/segments.hpp"

#include <algorithm>

namespace spatialcert::proofs::folding {
namespace {

struct Reach {
  std::uint32_t group = 0;
  const ir::FoldedLoop* loop = nullptr;
  std::uint32_t body_end = 0;
  std::uint32_t executing = kNone;  ///< context around the loop in its latest execution
  std::uint32_t executions = 0;
};

/// The loops of one engine program that are folded at one depth, and what stands beside them.
class Reaches {
 public:
  Reaches(const ir::Folded& folded, std::uint32_t p)
      : folded_(folded), ops_(folded.program.programs[p].ops), at_(ops_.size(), kNone) {
    const ir::EngineProgram& one = folded.program.programs[p];
    list_.assign(ops_.size(), 0);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> around;  // end of body, loop
    std::size_t span = 0;
    for (std::uint32_t i = 0; i < ops_.size(); ++i) {
      while (!around.empty() && around.back().first == i) around.pop_back();
      while (span < one.spans.size() && one.spans[span].end <= i) ++span;
      // A list of ops is the body of a loop, or what one span has outside all loops.
      list_[i] =
          around.empty() ? static_cast<std::uint32_t>(ops_.size() + span) : around.back().second;
      if (ops_[i].code == ir::OpCode::repeat) around.emplace_back(i + 1 + ops_[i].body, i);
    }
  }

  /// An op beside two loops belongs to the one that is added first.
  void add(std::uint32_t group, const ir::FoldedLoop& loop) {
    const auto number = static_cast<std::uint32_t>(all_.size());
    const std::uint32_t body_end = loop.op + 1 + ops_[loop.op].body;
    all_.push_back({group, &loop, body_end});
    for (std::uint32_t i = loop.op + 1; i < body_end; ++i) at_[i] = number;
    for (std::uint32_t i = loop.op; i-- > 0 && joins(i, loop.op, group);) at_[i] = number;
    for (std::uint32_t i = body_end; i < ops_.size() && joins(i, loop.op, group); ++i)
      at_[i] = number;
  }

  [[nodiscard]] std::uint32_t at(std::uint32_t op) const { return at_[op]; }
  [[nodiscard]] std::vector<Reach>& all() { return all_; }

 private:
  [[nodiscard]] bool joins(std::uint32_t op, std::uint32_t loop, std::uint32_t group) const {
    if (at_[op] != kNone || list_[op] != list_[loop] || ops_[op].code == ir::OpCode::repeat)
      return false;
    const auto& apart = folded_.widened[group];
    for (std::uint32_t a = 0; a < ops_[op].accesses; ++a) {
      const ir::Region& region = folded_.program.accesses[ops_[op].first_access + a].region;
      if (region.kind == ir::RegionKind::tensor &&
          std::binary_search(apart.begin(), apart.end(), ir::TensorId(region.object)))
        return false;
    }
    return true;
  }

  const ir::Folded& folded_;
  const std::vector<ir::Op>& ops_;
  std::vector<std::uint32_t> list_;
  std::vector<std::uint32_t> at_;
  std::vector<Reach> all_;
};

class Labeller {
 public:
  Labeller(const ir::Folding& folding, const ir::Folded& folded, const ir::Unrolled& one)
      : folding_(folding), folded_(folded), one_(one) {
    out_.instance.assign(one.transitions(), kNone);
    out_.segment.assign(one.transitions(), 0);
    out_.around.assign(one.transitions(), kNone);
    out_.beside.assign(one.transitions(), 0);
  }

  std::variant<Segments, Uneven> run(std::uint32_t depth) {
    depth_ = depth;
    group_of_.assign(one_.transitions(), kNone);
    executed_.assign(folding_.size(), kNone);
    std::vector<std::vector<std::pair<std::uint32_t, const ir::FoldedLoop*>>> of_program(
        folded_.program.programs.size());
    for (std::uint32_t g = 0; g < folding_.size(); ++g) {
      if (folded_.depth[g] != depth) continue;
      for (const ir::FoldedLoop& loop : folding_[g].loops)
        of_program[loop.program].emplace_back(g, &loop);
    }
    for (std::uint32_t p = 0; p < of_program.size(); ++p) {
      if (of_program[p].empty()) continue;
      Reaches reaches(folded_, p);
      for (const auto& [group, loop] : of_program[p]) reaches.add(group, *loop);
      label(p, reaches);
      for (const Reach& reach : reaches.all()) {
        std::uint32_t& executed = executed_[reach.group];
        if (executed != kNone && executed != reach.executions) return Uneven{reach.group};
        executed = reach.executions;
      }
    }
    number();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::uint32_t outer(std::uint32_t context, std::uint32_t depth) const {
    while (one_.contexts[context].depth > depth) context = one_.contexts[context].parent;
    return context;
  }

  /// Instances are numbered within their group at first.
  void label(std::uint32_t p, Reaches& reaches) {
    for (std::uint32_t t = one_.begin[p]; t < one_.begin[p + 1]; ++t) {
      const std::uint32_t number = reaches.at(one_.op[t]);
      if (number == kNone) continue;
      Reach& reach = reaches.all()[number];
      const std::uint32_t around = outer(one_.context[t], depth_);
      if (around != reach.executing) {
        reach.executing = around;
        ++reach.executions;
      }
      group_of_[t] = reach.group;
      out_.around[t] = reach.executions - 1;
      const bool inside = one_.op[t] > reach.loop->op && one_.op[t] < reach.body_end;
      out_.beside[t] = inside ? 0 : 1;
      if (!inside) continue;
      const std::int64_t trip =
          one_.contexts[outer(one_.context[t], depth_ + 1)].index - reach.loop->skip;
      if (trip < 0 || trip / reach.loop->turns >= folded_.segments[reach.group]) continue;
      out_.instance[t] = out_.around[t];
      out_.segment[t] = static_cast<std::uint32_t>(trip / reach.loop->turns);
    }
  }

  void number() {
    std::vector<std::uint32_t> first(folding_.size(), 0);
    for (std::size_t g = 0; g < folding_.size(); ++g) {
      first[g] = static_cast<std::uint32_t>(out_.group.size());
      if (executed_[g] != kNone)
        out_.group.insert(out_.group.end(), executed_[g], static_cast<std::uint32_t>(g));
    }
    for (std::size_t t = 0; t < group_of_.size(); ++t) {
      if (out_.around[t] != kNone) out_.around[t] += first[group_of_[t]];
      if (out_.instance[t] != kNone) out_.instance[t] += first[group_of_[t]];
    }
  }

  const ir::Folding& folding_;
  const ir::Folded& folded_;
  const ir::Unrolled& one_;
  std::uint32_t depth_ = 0;
  Segments out_;
  std::vector<std::uint32_t> group_of_;  // transition in `around` -> its group
  std::vector<std::uint32_t> executed_;  // group -> executions of each of its loops
};

}  // namespace

std::variant<Segments, Uneven> segments_at(const ir::Folding& folding, const ir::Folded& folded,
                                           const ir::Unrolled& one, std::uint32_t depth) {
  return Labeller(folding, folded, one).run(depth);
}

}  // namespace spatialcert::proofs::folding
