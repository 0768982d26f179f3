#include <algorithm>

#include "proofs/reduction/type_run.hpp"
#include "proofs/reduction/typing.hpp"

namespace spatialcert::proofs::reduction {
namespace {

ReplayResult no(std::string why) { return NotReproduced{std::move(why)}; }

}  // namespace

ReplayResult recompute_types(const ir::TokenGame& game, const Counterexample& c) {
  const ir::Program& program = game.program();
  const ir::Unrolled& unrolled = game.unrolled();
  if (c.schedules.size() != 1 || c.ops.size() != 1) return no("one schedule and one op are needed");
  const ir::AccessMap accesses = ir::resolve_accesses(program, unrolled);
  if (accesses.limit || !accesses.faults.empty()) return no("the accesses cannot be resolved");
  TypeRun types(program, program, unrolled, accesses);
  const auto belongs = [&](const AccessRef& ref) {
    if (!ref.transition.valid() || ref.transition.value() >= unrolled.transitions()) return false;
    const ir::Op& op = unrolled.op_of(program, ref.transition);
    return ref.access >= op.first_access && ref.access - op.first_access < op.accesses;
  };
  if (!std::all_of(c.accesses.begin(), c.accesses.end(), belongs))
    return no("an access is none of its op");
  std::size_t hop = 0;  // accesses of the path that have been performed
  ir::PlayState state = game.start();
  std::optional<TypeFault> latest;
  std::optional<std::uint32_t> last;
  for (const ir::ScheduleRun& run : c.schedules[0]) {
    if (run.program.value() >= program.programs.size()) return no("no such engine program");
    for (std::uint32_t i = 0; i < run.steps; ++i) {
      if (!game.can_step(state, run.program)) return no("the schedule cannot be played");
      last = state.next[run.program.value()];
      if (game.step(state, run.program)) return no("the schedule meets a fault");
      latest = types.perform(*last);
      while (hop < c.accesses.size() && c.accesses[hop].transition.value() == *last) ++hop;
    }
  }
  if (!last || *last != c.ops[0].value()) return no("the schedule does not end with the op");
  if (hop != c.accesses.size()) return no("the schedule does not perform the whole path");
  if (!latest || latest->kind != TypeFault::Kind::violation) return no("the op is typed");
  if (latest->violation.kind != c.kind) return no("the op is wrong in another way");
  if (latest->violation.what != c.note) return no("the contents are of other types");
  const ir::Segment& segment = accesses.segments[latest->segment];
  const ir::Storage& storage = accesses.storages[segment.storage];
  if (!c.range || c.range->storage.kind != storage.kind || c.range->low != segment.low ||
      c.range->high != segment.high || c.range->storage.object != storage.object ||
      c.range->storage.site != storage.site)
    return no("another content shows it");
  return Reproduced{};
}

}  // namespace spatialcert::proofs::reduction
