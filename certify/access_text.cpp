// Accesses in the wrong order, or in none: races, and reads of what nobody or the wrong stage
// wrote.
#include <fmt/format.h>

#include <algorithm>

#include "certify/narrative.hpp"

namespace spatialcert::certify {
namespace {

using proofs::AccessRef;
using proofs::Counterexample;
using proofs::Kind;

/// Steps of a schedule that are printed; a counterexample file has all of them.
constexpr std::uint64_t kStepsShown = 12;

const ir::Access& access_of(const OpNames& names, const AccessRef& ref) {
  return names.program().accesses[ref.access];
}

std::string access_line(const OpNames& names, const AccessRef& ref, char letter) {
  const ir::Access& access = access_of(names, ref);
  return fmt::format("  ({}) {}, {}, {} {}", letter, names.engine(ref.transition),
                     names.placed_op(ref.transition), access.write ? "writes" : "reads",
                     region_text(names.program(), access.region));
}

std::string range_line(const OpNames& names, const Counterexample& c) {
  if (!c.range) return {};
  return ir::describe(names.program(), c.range->storage, c.range->low, c.range->high);
}

/// The transitions that a schedule performs, one by one.
std::vector<ir::TransitionId> steps_of(const OpNames& names, const ir::Schedule& schedule) {
  std::vector<std::uint32_t> next(names.unrolled().begin);
  std::vector<ir::TransitionId> steps;
  for (const ir::ScheduleRun& run : schedule) {
    for (std::uint32_t i = 0; i < run.steps; ++i) {
      steps.emplace_back(next[run.program.value()]++);
    }
  }
  return steps;
}

/// The last steps up to the second of the two accesses, which is where the order has been decided.
void schedule_lines(const OpNames& names, const Counterexample& c, std::size_t which, Lines& out) {
  std::vector<ir::TransitionId> steps = steps_of(names, c.schedules[which]);
  std::string first = "?";
  std::size_t end = steps.size();
  std::size_t met = 0;
  for (std::size_t i = 0; i < steps.size() && met < 2; ++i) {
    const bool a = steps[i] == c.accesses[0].transition;
    const bool b = steps[i] == c.accesses[1].transition;
    if (!a && !b) continue;
    if (met++ == 0) first = a ? "(a) before (b)" : "(b) before (a)";
    end = i + 1;
  }
  steps.resize(end);
  const std::size_t begin = end > kStepsShown ? end - kStepsShown : 0;
  out.push_back(fmt::format("  schedule {}, {}: {}{}", which + 1, first,
                            count_text(static_cast<std::int64_t>(end), "step"),
                            begin == 0 ? "" : fmt::format(", the last {}", end - begin)));
  std::size_t width = 0;
  for (std::size_t i = begin; i < end; ++i) width = std::max(width, names.engine(steps[i]).size());
  for (std::size_t i = begin; i < end; ++i) {
    const char* mark = steps[i] == c.accesses[0].transition   ? "  <- (a)"
                       : steps[i] == c.accesses[1].transition ? "  <- (b)"
                                                              : "";
    out.push_back(fmt::format("    {:>6}  {:<{}}  {}{}", i + 1, names.engine(steps[i]), width,
                              names.op(steps[i]), mark));
  }
  if (begin != 0) out.push_back("    (all steps are in the file that --cex writes, for `replay`)");
}

constexpr std::size_t kMostDeeper = 4;

/// Which FIFOs of guaranteed depth really hold more than that in the second schedule.
void deeper_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  if (c.deeper.empty() || c.schedules.size() < 2) return;
  const ir::Program& program = names.program();
  std::vector<std::int64_t> filled(program.buffers.size(), 0);
  std::vector<std::int64_t> wanted(program.buffers.size(), 0);
  for (const ir::TransitionId t : steps_of(names, c.schedules[1])) {
    const ir::Op& op = names.op_of(t);
    if (op.code == ir::OpCode::push) filled[op.object] += op.count;
    if (op.code == ir::OpCode::pop) filled[op.object] -= op.count;
    if (op.code == ir::OpCode::reserve) {
      wanted[op.object] = std::max(wanted[op.object], filled[op.object] + op.count);
    }
  }
  std::size_t found = 0;
  for (std::size_t b = 0; b < wanted.size(); ++b) {
    const ir::Buffer& fifo = program.buffers[b];
    if (wanted[b] <= static_cast<std::int64_t>(fifo.pages) || found++ >= kMostDeeper) continue;
    out.push_back(fmt::format("  schedule 2 happens where fifo {} has {}; only {} guaranteed",
                              fifo.name, count_text(wanted[b], "page"),
                              fifo.pages == 1 ? "1 is" : fmt::format("{} are", fifo.pages)));
  }
  if (found > kMostDeeper) {
    out.push_back(
        fmt::format("  and where {} more fifos are deeper than guaranteed", found - kMostDeeper));
  }
}

/// Which of the two should come first is the author's to say; how to order them is not.
void order_remedy(const OpNames& names, const Counterexample& c, Lines& out) {
  const auto op = [&](std::size_t i) {
    return fmt::format("op {} of {}", names.unrolled().op[c.accesses[i].transition.value()],
                       names.engine(c.accesses[i].transition));
  };
  out.push_back(fmt::format(
      "remedy: let (b) wait for (a): a post after {} and a wait for it before {};", op(0), op(1)));
  out.push_back("  or (a) for (b), if that is the order that was meant");
}

void race_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  if (c.accesses.size() < 2) return;
  const bool race = c.kind == Kind::race;
  out.push_back(race ? "race: two accesses that nothing orders"
                     : "wrong order: two accesses that happen against the order of their sections");
  out.push_back(access_line(names, c.accesses[0], 'a'));
  out.push_back(access_line(names, c.accesses[1], 'b'));
  if (c.range) out.push_back("  both touch " + range_line(names, c));
  for (std::size_t i = 0; i < c.schedules.size(); ++i) schedule_lines(names, c, i, out);
  deeper_lines(names, c, out);
  if (race) return order_remedy(names, c, out);
  out.push_back(
      "remedy: perform the sections in the order of the source, or with a boundary between them");
}

void undefined_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  if (c.accesses.empty()) return;
  const bool written = c.accesses.size() > 1;
  out.push_back(written ? "undefined read: what was written there did not outlive its section"
                        : "undefined read: nothing was ever written there, and it holds nothing at "
                          "the start");
  out.push_back(access_line(names, c.accesses[0], 'a'));
  if (written) out.push_back(access_line(names, c.accesses[1], 'b'));
  if (c.range) out.push_back("  undefined: " + range_line(names, c));
  if (!c.schedules.empty()) out.push_back("  reached " + after_steps(c.schedules[0]));
}

void producer_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  if (c.accesses.size() < 2) return;
  const ir::Program& program = names.program();
  out.push_back(
      "wrong producer: a read sees what a stage wrote that is not declared as its producer");
  out.push_back(access_line(names, c.accesses[0], 'a'));
  out.push_back(access_line(names, c.accesses[1], 'b'));
  if (c.range) out.push_back("  (a) sees what (b) wrote to " + range_line(names, c));
  if (!c.schedules.empty()) out.push_back("  reached " + after_steps(c.schedules[0]));
  const std::string& consumer = program.stages[names.op_of(c.accesses[0].transition).object].name;
  const std::string& producer = program.stages[names.op_of(c.accesses[1].transition).object].name;
  out.push_back(fmt::format(
      "remedy: declare the edge {} -> {} if that is meant, or put the declared producer's "
      "write in between",
      producer, consumer));
}

}  // namespace

void access_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  switch (c.kind) {
    case Kind::undefined_read:
      undefined_lines(names, c, out);
      break;
    case Kind::wrong_producer:
      producer_lines(names, c, out);
      break;
    default:
      race_lines(names, c, out);
      break;
  }
}

}  // namespace spatialcert::certify
