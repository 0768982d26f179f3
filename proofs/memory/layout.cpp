#include "proofs/memory/layout.hpp"

#include <map>
#include <set>
#include <tuple>

namespace spatialcert::proofs::memory {
namespace {

/// Phase of every section: sections are in order; a closed boundary after one begins a new phase.
std::vector<std::uint32_t> phases(const ir::Program& program) {
  std::vector<char> closed(program.sections.size(), 0);
  for (const ir::Boundary& b : program.boundaries) {
    if (b.closed) closed[b.after.value()] = 1;
  }
  std::vector<std::uint32_t> phase(program.sections.size(), 0);
  for (std::size_t s = 1; s < phase.size(); ++s)
    phase[s] = phase[s - 1] + (closed[s - 1] != 0 ? 1 : 0);
  return phase;
}

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

}  // namespace

std::vector<Occupancy> occupancies(const ir::Program& program) {
  const auto phase = phases(program);
  const std::uint32_t phase_count = phase.empty() ? 1 : phase.back() + 1;
  const auto touched = touched_phases(program, phase);
  std::map<std::tuple<ir::Site, std::uint32_t, std::uint32_t>, std::vector<ir::BufferId>> by_place;
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const ir::Buffer& buffer = program.buffers[b];
    const bool unplaced =
        buffer.kind == ir::BufferKind::fifo && buffer.depth == ir::Depth::guaranteed;
    if (buffer.view || unplaced) continue;
    const auto add = [&](std::uint32_t p) {
      by_place[{buffer.site, buffer.space.value(), p}].emplace_back(b);
    };
    const bool resident = buffer.lifetime == ir::Lifetime::resident;
    if (!resident && !touched[b].empty()) {
      for (const std::uint32_t p : touched[b]) add(p);
      continue;
    }
    const bool bounded = resident && buffer.resident_from.valid() && buffer.resident_to.valid();
    const std::uint32_t first = bounded ? phase[buffer.resident_from.value()] : 0;
    const std::uint32_t last = bounded ? phase[buffer.resident_to.value()] : phase_count - 1;
    for (std::uint32_t p = first; p <= last; ++p) add(p);
  }
  std::vector<Occupancy> out;
  for (auto& [place, buffers] : by_place) {
    out.push_back({std::get<0>(place), ir::SpaceId(std::get<1>(place)), std::get<2>(place),
                   std::move(buffers)});
  }
  return out;
}

}  // namespace spatialcert::proofs::memory
