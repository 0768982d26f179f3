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
