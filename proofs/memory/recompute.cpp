#include "proofs/memory/recompute.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proofs/memory/layout.hpp"

namespace spatialcert::proofs::memory {
namespace {

NotReproduced no(std::string why) { return {std::move(why)}; }

}  // namespace

ReplayResult recompute(const ir::Program& program, const Counterexample& c) {
  const std::size_t wanted = c.kind == Kind::overlap ? 2 : 1;
  if (c.buffers.size() != wanted) return no(fmt::format("{} buffers are needed", wanted));
  for (const ir::BufferId b : c.buffers) {
    if (!b.valid() || b.value() >= program.buffers.size()) return no("no such buffer");
  }
  const auto all = occupancies(program);
  const auto lives = [](const Occupancy& o, ir::BufferId b) {
    return std::find(o.buffers.begin(), o.buffers.end(), b) != o.buffers.end();
  };
  // Views and FIFOs of guaranteed depth have no place of their own.
  const bool placed = std::any_of(all.begin(), all.end(),
                                  [&](const Occupancy& o) { return lives(o, c.buffers[0]); });
  if (!placed) return no("the buffer is not placed");
  const ir::Buffer& first = program.buffers[c.buffers[0].value()];
  const ir::MemorySpace& space = program.target.spaces[first.space.value()];
  if (c.kind == Kind::out_of_memory) {
    return first.address > space.bytes || first.bytes() > space.bytes - first.address
               ? ReplayResult(Reproduced{})
               : no("the buffer fits");
  }
  if (c.kind == Kind::misaligned) {
    return first.address % space.alignment != 0 ? ReplayResult(Reproduced{})
                                                : no("the buffer is aligned");
  }
  for (const Occupancy& o : all) {
    if (c.buffers[0] == c.buffers[1] || !lives(o, c.buffers[0]) || !lives(o, c.buffers[1]))
      continue;
    const auto holds = [&](ir::BufferId id) {
      const ir::Buffer& b = program.buffers[id.value()];
      const auto byte = static_cast<std::uint64_t>(c.value);
      return b.address <= byte && byte - b.address < b.bytes();
    };
    if (holds(c.buffers[0]) && holds(c.buffers[1])) return Reproduced{};
  }
  return no("the buffers do not share that byte at the same time");
}

}  // namespace spatialcert::proofs::memory
