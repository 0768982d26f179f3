#include "proofs/isolation/recompute.hpp"

#include <algorithm>

#include "proofs/isolation/sharing.hpp"

namespace spatialcert::proofs::isolation {
namespace {

NotReproduced no(std::string why) { return {std::move(why)}; }

/// Where in the composition an op stands.
struct Position {
  std::uint32_t phase = 0;
  std::uint32_t other_phase = 0;  ///< boundaries lie between two
  std::uint32_t unit = 0;
};

class Recomputation {
 public:
  Recomputation(const ir::Program& program, const Counterexample& c, ir::Unrolled one)
      : program_(program),
        c_(c),
        one_(std::move(one)),
        phases_(ir::phases_of(program)),
        units_(units_of(program, one_, phases_)) {}

  ReplayResult run() const {
    const bool location = c_.range.has_value();
    if (c_.ops.size() != (location ? 0U : 2U) || c_.accesses.size() != (location ? 2U : 0U))
      return no("two accesses of a range, or two ops that use a counter, are needed");
    const ir::TransitionId a = location ? c_.accesses[0].transition : c_.ops[0];
    const ir::TransitionId b = location ? c_.accesses[1].transition : c_.ops[1];
    for (const ir::TransitionId t : {a, b}) {
      if (!t.valid() || t.value() >= one_.transitions()) return no("no such op");
    }
    const Position one = position(a), two = position(b);
    const bool together = one.phase == two.phase || one.phase == two.other_phase ||
                          one.other_phase == two.phase || one.other_phase == two.other_phase;
    if (!together) return no("the two ops are not of one phase");
    if (one.unit == two.unit) return no("the two ops belong together");
    return location ? share_locations() : share_counter(a, b);
  }

 private:
  [[nodiscard]] Position position(ir::TransitionId t) const {
    const auto pieces = ir::pieces_of(program_, one_);
    const auto at = std::find_if(pieces.begin(), pieces.end(), [&](const ir::Piece& piece) {
      return piece.begin <= t.value() && t.value() < piece.end;
    });
    if (at->section.valid()) {
      const std::uint32_t phase = phases_.of[at->section.value()];
      return {phase, phase, units_[at->section.value()]};
    }
    const auto [before, after] = phases_beside(program_, phases_, at->boundary);
    return {before, after, kBoundaryUnit};
  }

  [[nodiscard]] ReplayResult share_locations() const {
    const ir::AccessMap map = ir::resolve_accesses(program_, one_);
    if (map.limit) return no("the accesses exceed the limit of the analysis");
    if (c_.range->low >= c_.range->high) return no("the range is empty");
    bool writes = false;
    for (const AccessRef& ref : c_.accesses) {
      const auto touches = [&](const ir::ResolvedAccess& a) {
        const ir::Storage& s = map.storages[a.storage];
        const ir::Storage& r = c_.range->storage;
        return a.transition == ref.transition && a.access == ref.access && s.kind == r.kind &&
               s.kind != ir::Storage::Kind::fifo && s.object == r.object && s.site == r.site &&
               s.space == r.space && a.low <= c_.range->low && c_.range->high <= a.high;
      };
      const auto found = std::find_if(map.accesses.begin(), map.accesses.end(), touches);
      if (found == map.accesses.end()) return no("an op does not touch the range");
      writes |= found->write;
    }
    return writes ? ReplayResult(Reproduced{}) : no("neither of the accesses writes");
  }

  [[nodiscard]] ReplayResult share_counter(ir::TransitionId a, ir::TransitionId b) const {
    const ir::Counters counters(program_);
    if (!c_.counter.valid() || c_.counter.value() >= counters.size()) return no("no such counter");
    bool writes = false;
    for (const ir::TransitionId t : {a, b}) {
      const ir::Op& op = one_.op_of(program_, t);
      if (counter_of(counters, op) != c_.counter) return no("an op does not use the counter");
      writes |= op.code != ir::OpCode::await;
    }
    return writes ? ReplayResult(Reproduced{}) : no("neither of the ops changes the counter");
  }

  const ir::Program& program_;
  const Counterexample& c_;
  ir::Unrolled one_;
  ir::Phases phases_;
  std::vector<std::uint32_t> units_;
};

}  // namespace

ReplayResult recompute(const ir::Program& program, const Counterexample& c) {
  if (c.iterations != 1) return no("one iteration is looked at");
  auto one = ir::unroll(program);
  if (!std::holds_alternative<ir::Unrolled>(one))
    return no("the program unrolls to more ops than the limit");
  return Recomputation(program, c, std::move(std::get<ir::Unrolled>(one))).run();
}

}  // namespace spatialcert::proofs::isolation
