#include "proofs/schedules.hpp"

#include <algorithm>

namespace spatialcert::proofs {

std::vector<char> causal_past(const Subject& subject, const std::vector<std::uint32_t>& ends,
                              bool with_credit) {
  const ir::Unrolled& u = subject.stretch;
  std::vector<char> past(u.transitions(), 0);
  std::optional<ir::Adjacency> full;
  if (with_credit) full.emplace(u.transitions(), subject.places, true);
  const ir::Adjacency& adjacency = with_credit ? *full : subject.order;
  std::vector<std::uint32_t> work;
  const auto visit = [&](std::uint32_t t) {
    if (past[t] != 0) return;
    past[t] = 1;
    work.push_back(t);
  };
  for (const std::uint32_t t : ends) visit(t);
  while (!work.empty()) {
    const std::uint32_t t = work.back();
    work.pop_back();
    if (t > u.begin[u.program[t]]) visit(t - 1);
    for (const std::uint32_t place : adjacency.into(t)) visit(subject.places[place].from.value());
  }
  return past;
}

ir::Schedule schedule_of(const Subject& subject, const std::vector<std::uint32_t>& position,
                         const std::vector<char>& marks) {
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t t = 0; t < marks.size(); ++t) {
    if (marks[t] != 0) chosen.push_back(t);
  }
  std::sort(chosen.begin(), chosen.end(),
            [&](std::uint32_t a, std::uint32_t b) { return position[a] < position[b]; });
  ir::Schedule schedule;
  for (const std::uint32_t t : chosen)
    ir::append_step(schedule, ir::ProgramId(subject.stretch.program[t]));
  return schedule;
}

DeeperFifos deeper_fifos(const Subject& subject, const ir::Schedule& schedule) {
  const ir::Program& program = *subject.program;
  std::vector<std::int64_t> filled(program.buffers.size(), 0), most(program.buffers.size(), 0);
  std::vector<std::uint32_t> next(subject.stretch.begin);
  for (const ir::ScheduleRun& run : schedule) {
    for (std::uint32_t i = 0; i < run.steps; ++i) {
      const ir::TransitionId t(next[run.program.value()]++);
      const ir::Op& op = subject.stretch.op_of(program, t);
      if (op.code == ir::OpCode::push) filled[op.object] += op.count;
      if (op.code == ir::OpCode::pop) filled[op.object] -= op.count;
      if (op.code != ir::OpCode::reserve) continue;
      most[op.object] = std::max(most[op.object], filled[op.object] + op.count);
    }
  }
  DeeperFifos out;
  for (std::uint32_t f = 0; f < program.buffers.size(); ++f) {
    const ir::Buffer& fifo = program.buffers[f];
    if (fifo.kind != ir::BufferKind::fifo || fifo.depth != ir::Depth::guaranteed) continue;
    const std::int64_t extra = most[f] - static_cast<std::int64_t>(fifo.pages);
    if (extra > 0) out.emplace_back(ir::BufferId(f), extra);
  }
  return out;
}

void append_schedule(ir::Schedule& to, const ir::Schedule& more) {
  for (const ir::ScheduleRun& run : more) {
    if (!to.empty() && to.back().program == run.program) {
      to.back().steps += run.steps;
    } else {
      to.push_back(run);
    }
  }
}

}  // namespace spatialcert::proofs
