#include "ir/sections.hpp"

#include <algorithm>

namespace spatialcert::ir {

Phases phases_of(const Program& program) {
  Phases out;
  std::vector<char> ends(program.sections.size(), 0);
  for (std::uint32_t b = 0; b < program.boundaries.size(); ++b) {
    if (!program.boundaries[b].closed) continue;
    out.closed.emplace_back(b);
    ends[program.boundaries[b].after.value()] = 1;
  }
  std::uint32_t phase = 0;
  for (const char end : ends) {
    out.of.push_back(phase);
    phase += end != 0 ? 1 : 0;
  }
  out.in_order = out.of;
  const bool open_end = ends.empty() || ends.back() == 0;
  out.count = phase + (open_end ? 1 : 0);
  if (program.execution == Execution::persistent && open_end && phase > 0) {
    std::replace(out.of.begin(), out.of.end(), phase, 0U);
    out.count = phase;
  }
  return out;
}

std::vector<Piece> pieces_of(const Program& program, const Unrolled& one) {
  std::vector<Piece> out;
  for (std::uint32_t p = 0; p < program.programs.size(); ++p) {
    std::uint32_t at = one.begin[p];
    for (const Span& span : program.programs[p].spans) {
      // Ops of a span come before those of the next one, however often loops repeat them.
      const auto last = std::partition_point(one.op.begin() + at, one.op.begin() + one.begin[p + 1],
                                             [&](std::uint32_t op) { return op < span.end; });
      const auto end = static_cast<std::uint32_t>(last - one.op.begin());
      if (at < end) out.push_back({ProgramId(p), span.section, span.boundary, at, end});
      at = end;
    }
  }
  return out;
}

}  // namespace spatialcert::ir
