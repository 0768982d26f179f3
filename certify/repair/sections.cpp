// What sections of one phase share, and sections that are performed against the order of the
// source.
#include "ir/sections.hpp"

#include <algorithm>
#include <optional>

#include "certify/repair/propose.hpp"

namespace spatialcert::certify::repair {
namespace {

std::optional<ir::BufferId> buffer_of(const ir::Program& program, std::uint32_t access) {
  const ir::Region& region = program.accesses[access].region;
  if (region.kind == ir::RegionKind::tensor) return std::nullopt;
  ir::BufferId buffer(region.object);
  while (program.buffers[buffer.value()].view) buffer = program.buffers[buffer.value()].view->base;
  return buffer;
}

}  // namespace

void propose_isolation(const Case& what, Proposals& out) {
  const auto& c = what.counterexample;
  if (c.accesses.size() == 2) {
    const auto a = buffer_of(what.program, c.accesses[0].access);
    const auto b = buffer_of(what.program, c.accesses[1].access);
    if (a && b && a != b) add_addresses(what, {*a, *b}, out);
  }
  if (!c.counter.valid()) return;
  const ir::Counter& counter = what.names.counters()[c.counter];
  out.tried.emplace_back("a hand-off declared as a link");
  out.add({DeclareLink{{counter.kind != ir::CounterKind::semaphore, counter.object}}},
          "a hand-off declared as a link");
}

void propose_order(const Case& what, Proposals& out) {
  const auto& c = what.counterexample;
  if (c.accesses.size() < 2) return;
  out.tried.emplace_back("the sections in the order of the source");
  const auto& u = what.names.unrolled();
  const auto section = [&](std::size_t i) {
    return ir::section_of_run(what.program, u, c.accesses[i].transition);
  };
  // (a) is performed first and comes later in the source.
  const ir::SectionId early = section(0), late = section(1);
  if (early < late) out.add({MoveSection{late, early}}, "the sections in the order of the source");
}

}  // namespace spatialcert::certify::repair
