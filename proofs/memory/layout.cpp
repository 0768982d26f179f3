#include "proofs/memory/layout.hpp"

#include <map>
#include <set>
#include <tuple>

#include "ir/sections.hpp"
#include "proofs/subject.hpp"

namespace spatialcert::proofs::memory {
namespace {

void touch(const ir::Program& program, const ir::Op& op, std::uint32_t phase,
           std::vector<std::set<std::uint32_t>>& touched) {
  switch (op.code) {
    case ir::OpCode::reserve:
    case ir::OpCode::push:
    case ir::OpCode::front:
    case ir::OpCode::pop:
      touched[op.object].insert(phase);
      break;
    case ir::OpCode::run:
      for (std::uint32_t a = 0; a < op.accesses; ++a) {
        const ir::Region& region = program.accesses[op.first_access + a].region;
        if (region.kind == ir::RegionKind::tensor) continue;
        std::uint32_t buffer = region.object;
        touched[buffer].insert(phase);
        while (program.buffers[buffer].view) {
          buffer = program.buffers[buffer].view->base.value();
          touched[buffer].insert(phase);
        }
      }
      break;
    default:
      break;
  }
}

std::vector<std::set<std::uint32_t>> touched_phases(const ir::Program& program,
                                                    const std::vector<std::uint32_t>& phase) {
  std::vector<std::set<std::uint32_t>> touched(program.buffers.size());
  for (const ir::EngineProgram& p : program.programs) {
    for (const ir::Span& span : p.spans) {
      const std::uint32_t section = span.section.valid()
                                        ? span.section.value()
                                        : program.boundaries[span.boundary.value()].after.value();
      for (std::uint32_t i = span.begin; i < span.end; ++i)
        touch(program, p.ops[i], phase[section], touched);
    }
  }
  return touched;
}

void extend(std::set<std::uint32_t>& alive, std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t p = first; p <= last; ++p) alive.insert(p);
}

}  // namespace

std::vector<Occupancy> occupancies(const ir::Program& program) {
  const ir::Phases phases = ir::phases_of(program);
  const auto touched = touched_phases(program, phases.in_order);
  const auto contents = with_contents(program);
  std::map<std::tuple<ir::Site, std::uint32_t, std::uint32_t>, std::vector<ir::BufferId>> by_place;
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const ir::Buffer& buffer = program.buffers[b];
    const bool unplaced =
        buffer.kind == ir::BufferKind::fifo && buffer.depth == ir::Depth::guaranteed;
    if (buffer.view || unplaced) continue;
    // Where an op touches it, it is there, whatever its lifetime says.
    std::set<std::uint32_t> alive = touched[b];
    const bool resident = buffer.lifetime == ir::Lifetime::resident;
    if (resident && buffer.resident_from.valid() && buffer.resident_to.valid()) {
      const std::uint32_t last = buffer.resident_to.value();
      for (std::uint32_t s = buffer.resident_from.value(); s <= last; ++s)
        alive.insert(phases.in_order[s]);
    } else if (resident || alive.empty()) {
      for (std::uint32_t p = 0; p < phases.count; ++p) alive.insert(p);
    }
    const std::uint32_t first = *alive.begin(), last = *alive.rbegin();
    if (contents[b] != 0) extend(alive, 0, last);
    // What is pushed in one phase and popped in another is there in those between them; of a
    // persistent program that may be all of them.
    if (buffer.kind == ir::BufferKind::fifo && first != last) {
      const bool around = program.execution == ir::Execution::persistent;
      extend(alive, around ? 0 : first, around ? phases.count - 1 : last);
    }
    // What is behind the last boundary is the first phase again.
    if (alive.erase(phases.count) != 0) alive.insert(0);
    for (const std::uint32_t p : alive)
      by_place[{buffer.site, buffer.space.value(), p}].emplace_back(b);
  }
  std::vector<Occupancy> out;
  for (auto& [place, buffers] : by_place) {
    out.push_back({std::get<0>(place), ir::SpaceId(std::get<1>(place)), std::get<2>(place),
                   std::move(buffers)});
  }
  return out;
}

}  // namespace spatialcert::proofs::memory
