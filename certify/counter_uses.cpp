// Who raises and lowers a counter, and what becomes of it: leftover, overflow, misuse.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "certify/narrative.hpp"

namespace spatialcert::certify {
namespace {

using ir::CounterKind;
using ir::OpCode;
using proofs::Counterexample;

bool raises(CounterKind kind, OpCode code) {
  switch (kind) {
    case CounterKind::semaphore:
      return code == OpCode::post;
    case CounterKind::filled:
      return code == OpCode::push;
    case CounterKind::free:
      return code == OpCode::pop;
  }
  return false;
}

bool lowers(CounterKind kind, OpCode code) {
  switch (kind) {
    case CounterKind::semaphore:
      return code == OpCode::wait;
    case CounterKind::filled:
      return code == OpCode::pop;
    case CounterKind::free:
      return code == OpCode::push;
  }
  return false;
}

bool is_on(const ir::Counter& counter, const ir::Op& op) {
  return op.code != OpCode::run && op.code != OpCode::repeat && op.object == counter.object;
}

void add(std::vector<CounterUse>& uses, const OpNames& names, ir::TransitionId t) {
  const ir::ProgramId program = names.program_of(t);
  auto use = std::find_if(uses.begin(), uses.end(),
                          [&](const CounterUse& known) { return known.program == program; });
  if (use == uses.end()) use = uses.insert(uses.end(), {program, 0, 0, t, t});
  // Saturating: the sum is only printed.
  if (__builtin_add_overflow(use->amount, names.op_of(t).count, &use->amount)) {
    use->amount = INT64_MAX;
  }
  use->last = t;
  ++use->ops;
}

void add(CounterUses& uses, const OpNames& names, const ir::Counter& counter, ir::TransitionId t) {
  const ir::Op& op = names.op_of(t);
  // Semaphores and buffers are numbered apart; the op code says which one it is.
  if (!is_on(counter, op)) return;
  if (raises(counter.kind, op.code)) add(uses.raising, names, t);
  if (lowers(counter.kind, op.code)) add(uses.lowering, names, t);
}

constexpr std::size_t kMostUses = 6;

void use_lines(const OpNames& names, const std::vector<CounterUse>& uses, const char* verb,
               Lines& out) {
  for (std::size_t i = 0; i < uses.size() && i < kMostUses; ++i) {
    const CounterUse& use = uses[i];
    const bool again = names.unrolled().iterations > 1;
    out.push_back(fmt::format("  {} {} {}{} with {}{}", engine_text(names.program(), use.program),
                              verb, use.amount, again ? " in every iteration," : "",
                              count_text(static_cast<std::int64_t>(use.ops), "op"),
                              use.ops == 1 ? ": " + names.placed_op(use.first)
                                           : ", first " + names.placed_op(use.first)));
  }
  if (uses.size() > kMostUses) {
    out.push_back(fmt::format("  and {} more engine programs", uses.size() - kMostUses));
  }
}

void leftover_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  const ir::Counter& counter = names.counters()[c.counter];
  const bool semaphore = counter.kind == CounterKind::semaphore;
  out.push_back(fmt::format("leftover: at the end {} {} {} instead of the initial {}",
                            counter_text(names.program(), counter), semaphore ? "holds" : "are",
                            c.value, counter.initial));
  const CounterUses uses = uses_of(names, c.counter);
  use_lines(names, uses.raising, raising_verb(counter.kind), out);
  use_lines(names, uses.lowering, lowering_verb(counter.kind), out);
  if (uses.raising.empty()) {
    out.push_back(fmt::format("  nobody {} it", raising_verb(counter.kind)));
  }
  if (uses.lowering.empty()) {
    out.push_back(fmt::format("  nobody {} it", lowering_verb(counter.kind)));
  }
  if (!c.schedules.empty()) out.push_back("  seen " + after_steps(c.schedules[0]) + ", to the end");
  std::int64_t over = 0;
  if (!semaphore || __builtin_sub_overflow(c.value, counter.initial, &over)) return;
  out.push_back(over > 0 ? fmt::format("remedy: wait for {0} more, or post {0} less", over)
                         : fmt::format("remedy: post {0} more, or wait for {0} less", -over));
}

void overflow_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  const ir::Counter& counter = names.counters()[c.counter];
  out.push_back(fmt::format("overflow: {} would hold {}, above its maximum of {}",
                            counter_text(names.program(), counter), c.value, c.limit));
  out.push_back(fmt::format("  {}, {}, is the post too many", names.engine(c.transition),
                            names.placed_op(c.transition)));
  if (!c.schedules.empty()) out.push_back("  reached " + after_steps(c.schedules[0]));
  const CounterUses uses = uses_of(names, c.counter);
  use_lines(names, uses.raising, raising_verb(counter.kind), out);
  use_lines(names, uses.lowering, lowering_verb(counter.kind), out);
  if (uses.lowering.empty()) {
    out.push_back("remedy: nobody waits for this semaphore, so every post adds up; wait for it");
  }
}

std::string misuse_text(const OpNames& names, const Counterexample& c) {
  const ir::Program& program = names.program();
  const ir::Op& op = names.op_of(c.transition);
  if (!c.counter.valid()) return c.note.empty() ? "is used against its meaning" : c.note;
  const std::string& fifo = counter_object(program, names.counters()[c.counter]);
  if (op.code == OpCode::push || op.code == OpCode::pop) {
    return fmt::format("{} {} of fifo {}, but its window has {} open",
                       op.code == OpCode::push ? "pushes" : "pops", count_text(c.value, "page"),
                       fifo, c.limit);
  }
  return fmt::format("touches page {} of fifo {}, but its window has {} open (pages count from 0)",
                     c.value - 1, fifo, c.limit);
}

void misuse_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  const ir::Program& program = names.program();
  out.push_back(
      fmt::format("misuse: {}, {},", names.engine(c.transition), names.placed_op(c.transition)));
  if (!c.counter.valid() && !c.accesses.empty()) {
    const ir::Access& access = program.accesses[c.accesses[0].access];
    out.push_back(fmt::format("  {} {}, which reaches {} of an object of {}{}",
                              access.write ? "writes" : "reads",
                              region_text(program, access.region), c.value, c.limit,
                              c.note.empty() ? "" : ": " + c.note));
    return;
  }
  out.push_back("  " + misuse_text(names, c));
  if (!c.schedules.empty()) out.push_back("  reached " + after_steps(c.schedules[0]));
  if (!c.counter.valid()) return;
  const bool back = names.counters()[c.counter].kind == CounterKind::free;
  out.push_back(fmt::format("remedy: `{} {} {}` before this op, which opens what it needs",
                            back ? "reserve" : "front",
                            counter_object(program, names.counters()[c.counter]), c.value));
}

}  // namespace

const char* raising_verb(CounterKind kind) {
  switch (kind) {
    case CounterKind::semaphore:
      return "posts";
    case CounterKind::filled:
      return "pushes";
    case CounterKind::free:
      return "pops";
  }
  return "raises by";
}

const char* lowering_verb(CounterKind kind) {
  switch (kind) {
    case CounterKind::semaphore:
      return "waits for";
    case CounterKind::filled:
      return "pops";
    case CounterKind::free:
      return "pushes";
  }
  return "lowers by";
}

CounterUses uses_of(const OpNames& names, ir::CounterId id) {
  const ir::Unrolled& all = names.unrolled();
  CounterUses uses;
  for (std::uint32_t t = 0; t < all.transitions(); ++t) {
    if (all.iteration(ir::TransitionId(t)) != 0) continue;
    add(uses, names, names.counters()[id], ir::TransitionId(t));
  }
  return uses;
}

CounterUses uses_in(const OpNames& names, ir::CounterId id, const ir::Schedule& schedule) {
  std::vector<std::uint32_t> next(names.unrolled().begin);
  CounterUses uses;
  for (const ir::ScheduleRun& run : schedule) {
    for (std::uint32_t i = 0; i < run.steps; ++i) {
      add(uses, names, names.counters()[id], ir::TransitionId(next[run.program.value()]++));
    }
  }
  return uses;
}

void counter_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  switch (c.kind) {
    case proofs::Kind::leftover:
      leftover_lines(names, c, out);
      break;
    case proofs::Kind::overflow:
      overflow_lines(names, c, out);
      break;
    default:
      misuse_lines(names, c, out);
      break;
  }
}

}  // namespace spatialcert::certify
