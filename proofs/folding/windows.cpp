#include "proofs/folding/windows.hpp"

#include <algorithm>

namespace spatialcert::proofs::folding {
namespace {

/// An end of a FIFO belongs to one engine program: a walk program by program sees its windows as
/// every schedule does.
struct Open {
  std::vector<std::int64_t> back, front;  // by buffer

  explicit Open(std::size_t buffers) : back(buffers, 0), front(buffers, 0) {}

  void step(const ir::Op& op) {
    if (op.code == ir::OpCode::reserve) back[op.object] = std::max(back[op.object], op.count);
    if (op.code == ir::OpCode::front) front[op.object] = std::max(front[op.object], op.count);
    // Who closes more than is open is refuted by `bounds`; sums must not overflow on the way there.
    if (op.code == ir::OpCode::push)
      back[op.object] = std::max<std::int64_t>(back[op.object] - op.count, 0);
    if (op.code == ir::OpCode::pop)
      front[op.object] = std::max<std::int64_t>(front[op.object] - op.count, 0);
  }
};

bool is_fifo_op(const ir::Op& op) {
  return op.code == ir::OpCode::reserve || op.code == ir::OpCode::front ||
         op.code == ir::OpCode::push || op.code == ir::OpCode::pop;
}

std::vector<std::uint32_t> fifos_of(const std::vector<ir::Op>& ops, std::uint32_t loop) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = loop + 1; i <= loop + ops[loop].body; ++i) {
    if (is_fifo_op(ops[i])) out.push_back(ops[i].object);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// By engine program: the FIFOs of its folded loops, by group.
using Fifos = std::vector<std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>>>;

Fifos fifos_of(const ir::Program& program, const ir::Folding& folding) {
  Fifos out(program.programs.size());
  for (std::uint32_t g = 0; g < folding.size(); ++g) {
    for (const ir::FoldedLoop& loop : folding[g].loops) {
      out[loop.program].emplace_back(g, fifos_of(program.programs[loop.program].ops, loop.op));
    }
  }
  return out;
}

}  // namespace

FifoWindows::FifoWindows(const ir::Program& program, const ir::Unrolled& stretch)
    : program_(program),
      stretch_(stretch),
      widest_back_(program.buffers.size(), 0),
      widest_front_(program.buffers.size(), 0) {
  Open open(program.buffers.size());
  for (std::uint32_t t = 0; t < stretch.transitions(); ++t) {
    const ir::Op& op = stretch.op_of(program, ir::TransitionId(t));
    open.step(op);
    if (!is_fifo_op(op)) continue;
    widest_back_[op.object] = std::max(widest_back_[op.object], open.back[op.object]);
    widest_front_[op.object] = std::max(widest_front_[op.object], open.front[op.object]);
  }
}

std::optional<std::uint32_t> FifoWindows::changing(const Segments& segments,
                                                   const ir::Folding& folding,
                                                   const ir::Unrolled& one,
                                                   const std::vector<std::int64_t>& early) const {
  Open open(program_.buffers.size());
  const Fifos all = fifos_of(program_, folding);
  for (std::uint32_t p = 0; p < program_.programs.size(); ++p) {
    const std::uint32_t length = one.begin[p + 1] - one.begin[p];
    if (length == 0) continue;
    std::vector<std::int64_t> before;  // windows at the start of the segment
    std::uint32_t instance = kNone;
    std::uint32_t segment = 0;
    const auto measure = [&](std::uint32_t group) {
      std::vector<std::int64_t> out;
      const auto of = std::lower_bound(
          all[p].begin(), all[p].end(), group,
          [](const auto& fifos, std::uint32_t wanted) { return fifos.first < wanted; });
      for (const std::uint32_t b : of->second) out.insert(out.end(), {open.back[b], open.front[b]});
      return out;
    };
    const auto has_changed = [&] {
      if (instance == kNone) return false;
      const std::uint32_t group = segments.group[instance];
      return segment >= early[group] && measure(group) != before;
    };
    for (std::uint32_t t = stretch_.begin[p]; t < stretch_.begin[p + 1]; ++t) {
      const std::uint32_t at = one.begin[p] + (t - stretch_.begin[p]) % length;
      const std::uint32_t now = segments.instance[at];
      if (now != instance || (now != kNone && segments.segment[at] != segment)) {
        if (has_changed()) return segments.group[instance];
        if (now != kNone) before = measure(segments.group[now]);
      }
      instance = now;
      segment = segments.segment[at];
      open.step(stretch_.op_of(program_, ir::TransitionId(t)));
    }
    if (has_changed()) return segments.group[instance];
  }
  return std::nullopt;
}

}  // namespace spatialcert::proofs::folding
