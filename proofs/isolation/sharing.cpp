#include "proofs/isolation/sharing.hpp"

#include <algorithm>
#include <tuple>

namespace spatialcert::proofs::isolation {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;
bool uses_fifo(const ir::Op& op) {
  return op.code == ir::OpCode::reserve || op.code == ir::OpCode::push ||
         op.code == ir::OpCode::front || op.code == ir::OpCode::pop;
}
bool uses_semaphore(const ir::Op& op) {
  return op.code == ir::OpCode::wait || op.code == ir::OpCode::await || op.code == ir::OpCode::post;
}

/// Who has used one thing in the phase at hand.
struct Users {
  std::uint32_t phase = kNone;
  std::uint32_t unit = kNone;     ///< of the first use
  std::uint32_t first = kNone;    ///< the first use
  std::uint32_t other = kNone;    ///< the first of another unit
  std::uint32_t changer = kNone;  ///< the first that writes
  std::uint32_t changer_unit = kNone;
};

/// Notes a use. Two that conflict, if it is the one that makes them.
std::optional<std::pair<std::uint32_t, std::uint32_t>> use(Users& users, std::uint32_t phase,
                                                           std::uint32_t unit, std::uint32_t what,
                                                           bool writes) {
  if (users.phase != phase) users = {phase, unit, what, kNone, kNone, kNone};
  if (unit != users.unit && users.other == kNone) users.other = what;
  if (writes && users.changer == kNone) {
    users.changer = what;
    users.changer_unit = unit;
  }
  if (users.other == kNone || users.changer == kNone) return std::nullopt;
  if (users.changer_unit != users.unit) return std::pair(users.first, users.changer);
  return std::pair(users.changer, users.other);
}

class Comparison {
 public:
  Comparison(const ir::Program& program, const ir::Unrolled& one, const ir::Unrolled& stretch,
             const ir::AccessMap& accesses)
      : program_(program),
        one_(one),
        stretch_(stretch),
        map_(accesses),
        counters_(program),
        of_segment_(accesses.segments.size()),
        of_counter_(counters_.size()) {}

  Sharing run() {
    for (const Part& part : parts_of(program_, one_)) {
      for (std::uint32_t t = part.begin; t < part.end; ++t) visit(t, part.phase, part.unit);
    }
    return std::move(out_);
  }

 private:
  void visit(std::uint32_t t, std::uint32_t phase, std::uint32_t unit) {
    const ir::Op& op = one_.op_of(program_, ir::TransitionId(t));
    if (op.code == ir::OpCode::run) return accesses(t, phase, unit);
    const auto counter = counter_of(counters_, op);
    if (!counter) return;
    ++out_.uses;
    const bool writes = op.code != ir::OpCode::await;
    const auto pair = use(of_counter_[counter->value()], phase, unit, t, writes);
    if (!pair || out_.first) return;
    out_.first =
        Shared{ir::TransitionId(pair->first), ir::TransitionId(pair->second), counter, 0, 0, 0};
  }

  void accesses(std::uint32_t t, std::uint32_t phase, std::uint32_t unit) {
    const std::uint32_t p = one_.program[t];
    const ir::TransitionId in_stretch(stretch_.begin[p] + (t - one_.begin[p]));
    auto at = std::lower_bound(
        map_.accesses.begin(), map_.accesses.end(), in_stretch,
        [](const ir::ResolvedAccess& a, ir::TransitionId x) { return a.transition < x; });
    for (; at != map_.accesses.end() && at->transition == in_stretch; ++at) {
      if (map_.storages[at->storage].kind == ir::Storage::Kind::fifo) continue;
      const auto access = static_cast<std::uint32_t>(at - map_.accesses.begin());
      for (std::uint32_t s = at->first_segment; s < at->last_segment; ++s) {
        ++out_.uses;
        const auto pair = use(of_segment_[s], phase, unit, access, at->write);
        if (pair && !out_.first) out_.first = shared(pair->first, pair->second, s);
      }
    }
  }

  [[nodiscard]] Shared shared(std::uint32_t a, std::uint32_t b, std::uint32_t segment) const {
    return {in_one(map_.accesses[a].transition),
            in_one(map_.accesses[b].transition),
            std::nullopt,
            a,
            b,
            segment};
  }
  [[nodiscard]] ir::TransitionId in_one(ir::TransitionId t) const {
    const std::uint32_t p = stretch_.program[t.value()];
    return ir::TransitionId(one_.begin[p] + (t.value() - stretch_.begin[p]));
  }

  const ir::Program& program_;
  const ir::Unrolled& one_;
  const ir::Unrolled& stretch_;
  const ir::AccessMap& map_;
  ir::Counters counters_;
  std::vector<Users> of_segment_, of_counter_;
  Sharing out_;
};

}  // namespace

std::optional<ir::CounterId> counter_of(const ir::Counters& counters, const ir::Op& op) {
  if (uses_semaphore(op)) return counters.of(ir::SemaphoreId(op.object));
  if (uses_fifo(op)) return counters.filled(ir::BufferId(op.object));
  return std::nullopt;
}

std::pair<std::uint32_t, std::uint32_t> phases_beside(const ir::Program& program,
                                                      const ir::Phases& phases,
                                                      ir::BoundaryId boundary) {
  const std::uint32_t before = phases.of[program.boundaries[boundary.value()].after.value()];
  if (before + 1 < phases.count) return {before, before + 1};
  return {before, program.execution == ir::Execution::persistent ? 0 : before};
}

std::vector<Part> parts_of(const ir::Program& program, const ir::Unrolled& one) {
  const ir::Phases phases = ir::phases_of(program);
  const auto units = units_of(program, one, phases);
  std::vector<Part> parts;
  for (const ir::Piece& piece : ir::pieces_of(program, one)) {
    if (piece.section.valid()) {
      const std::uint32_t section = piece.section.value();
      parts.push_back({phases.of[section], units[section], piece.begin, piece.end});
      continue;
    }
    const auto [before, after] = phases_beside(program, phases, piece.boundary);
    parts.push_back({before, kBoundaryUnit, piece.begin, piece.end});
    if (after != before) parts.push_back({after, kBoundaryUnit, piece.begin, piece.end});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.phase < b.phase; });
  return parts;
}

std::vector<std::uint32_t> units_of(const ir::Program& program, const ir::Unrolled& one,
                                    const ir::Phases& phases) {
  const ir::Counters counters(program);
  std::vector<char> is_link(counters.size(), 0);
  for (const ir::Link& link : program.links) {
    const auto counter = link.is_fifo ? counters.filled(ir::BufferId(link.object))
                                      : counters.of(ir::SemaphoreId(link.object));
    is_link[counter.value()] = 1;
  }
  // Who uses which link in which phase, so that neighbours in order are joined.
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> uses;
  for (const ir::Piece& piece : ir::pieces_of(program, one)) {
    if (!piece.section.valid() || program.links.empty()) continue;
    for (std::uint32_t t = piece.begin; t < piece.end; ++t) {
      const auto counter = counter_of(counters, one.op_of(program, ir::TransitionId(t)));
      if (!counter || is_link[counter->value()] == 0) continue;
      uses.emplace_back(counter->value(), phases.of[piece.section.value()], piece.section.value());
    }
  }
  std::sort(uses.begin(), uses.end());
  std::vector<std::uint32_t> unit(program.sections.size());
  for (std::uint32_t s = 0; s < unit.size(); ++s) unit[s] = s;
  const auto root = [&](std::uint32_t s) {
    while (unit[s] != s) s = unit[s] = unit[unit[s]];
    return s;
  };
  for (std::size_t i = 1; i < uses.size(); ++i) {
    const auto& [counter, phase, section] = uses[i];
    if (std::get<0>(uses[i - 1]) != counter || std::get<1>(uses[i - 1]) != phase) continue;
    const std::uint32_t a = root(std::get<2>(uses[i - 1])), b = root(section);
    unit[std::max(a, b)] = std::min(a, b);
  }
  for (std::uint32_t s = 0; s < unit.size(); ++s) unit[s] = root(s);
  return unit;
}

Sharing sharing(const ir::Program& program, const ir::Unrolled& one, const ir::Unrolled& stretch,
                const ir::AccessMap& accesses) {
  return Comparison(program, one, stretch, accesses).run();
}

}  // namespace spatialcert::proofs::isolation
