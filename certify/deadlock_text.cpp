// Who waits for whom: circles, and chains that end at a wait nobody can satisfy.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "certify/narrative.hpp"

namespace spatialcert::certify {
namespace {

using ir::CounterKind;
using proofs::Counterexample;
using proofs::WaitLink;

std::string waits_for(const OpNames& names, const WaitLink& link) {
  const ir::Program& program = names.program();
  const ir::Counter& counter = names.counters()[link.counter];
  const std::string& object = counter_object(program, counter);
  switch (counter.kind) {
    case CounterKind::semaphore:
      return fmt::format("semaphore {} to reach {} (it holds {})", object, link.need, link.have);
    case CounterKind::filled:
      return fmt::format("{} of fifo {} ({} filled)", count_text(link.need, "page"), object,
                         link.have);
    case CounterKind::free:
      return fmt::format("{} of fifo {} ({} free)", count_text(link.need, "free page"), object,
                         link.have);
  }
  return object;
}

const char* supplying_verb(CounterKind kind) {
  switch (kind) {
    case CounterKind::semaphore:
      return "post";
    case CounterKind::filled:
      return "push";
    case CounterKind::free:
      return "pop";
  }
  return "raise";
}

/// `would push it with op 20 `push kv 1``, from the supplier of `link`.
std::string would_supply(const OpNames& names, const WaitLink& link) {
  const CounterKind kind = names.counters()[link.counter].kind;
  return fmt::format("{} would {} {} with {}", names.engine(link.supplier), supplying_verb(kind),
                     kind == CounterKind::free ? "one" : "it", names.op(link.supplier));
}

/// The links in order; the first introduces itself, the others as who would have helped the one
/// before.
void chain_lines(const OpNames& names, const std::vector<WaitLink>& chain, bool circle,
                 Lines& out) {
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const WaitLink& link = chain[i];
    std::string line = fmt::format("  {}. ", i + 1);
    if (i == 0 || !chain[i - 1].supplier.valid()) {
      line += fmt::format("{}, {}, waits for {}", names.engine(link.waiter),
                          names.placed_op(link.waiter), waits_for(names, link));
    } else {
      line += fmt::format("{}, but is stuck at {}, which waits for {}",
                          would_supply(names, chain[i - 1]), names.placed_op(link.waiter),
                          waits_for(names, link));
    }
    out.push_back(line + (circle || i + 1 < chain.size() ? ";" : "."));
  }
  if (!circle || chain.empty()) return;
  out.push_back(fmt::format("  {}. {}, but is stuck at op {}, which is step 1: a circle.",
                            chain.size() + 1, would_supply(names, chain.back()),
                            names.unrolled().op[chain.front().waiter.value()]));
}

/// What the waiting engine program has taken from the counter before it waits here.
std::int64_t taken_before(const OpNames& names, const WaitLink& link) {
  const ir::Counter& counter = names.counters()[link.counter];
  const ir::OpCode taking = counter.kind == CounterKind::semaphore ? ir::OpCode::wait
                            : counter.kind == CounterKind::filled  ? ir::OpCode::pop
                                                                   : ir::OpCode::push;
  const ir::Unrolled& all = names.unrolled();
  std::int64_t taken = 0;
  for (std::uint32_t t = all.begin[all.program[link.waiter.value()]]; t < link.waiter.value();
       ++t) {
    const ir::Op& op = names.op_of(ir::TransitionId(t));
    if (op.code != taking || op.object != counter.object) continue;
    if (__builtin_add_overflow(taken, op.count, &taken)) return INT64_MAX;
  }
  return taken;
}

constexpr std::size_t kMostSuppliers = 6;

void supplier_lines(const OpNames& names, const std::vector<CounterUse>& uses, const WaitLink& link,
                    Lines& out) {
  const CounterKind kind = names.counters()[link.counter].kind;
  for (std::size_t i = 0; i < uses.size() && i < kMostSuppliers; ++i) {
    const CounterUse& use = uses[i];
    const bool own = use.program == names.program_of(link.waiter);
    std::string line = fmt::format(
        "    {} {} {} in all, {}{}", engine_text(names.program(), use.program), raising_verb(kind),
        use.amount, use.ops == 1 ? "with " : "first with ", names.op(use.first));
    if (own && use.first.value() > link.waiter.value()) line += ", but only after it has waited";
    out.push_back(std::move(line));
  }
  if (uses.size() > kMostSuppliers) {
    out.push_back(fmt::format("    and {} more engine programs", uses.size() - kMostSuppliers));
  }
}

struct Shortage {
  std::int64_t missing = 0;
  const char* verb = "raise";
};

/// Supply against demand of the test that nothing satisfies.
Shortage supply_lines(const OpNames& names, const WaitLink& link, Lines& out) {
  const ir::Counter& counter = names.counters()[link.counter];
  const std::string text = counter_text(names.program(), counter);
  const CounterUses uses = uses_of(names, link.counter);
  std::int64_t supply = counter.initial;
  for (const CounterUse& use : uses.raising) {
    if (__builtin_add_overflow(supply, use.amount, &supply)) supply = INT64_MAX;
  }
  const std::int64_t taken = taken_before(names, link);
  std::int64_t demand = 0;
  if (__builtin_add_overflow(taken, link.need, &demand)) demand = INT64_MAX;
  if (uses.raising.empty()) {
    out.push_back(fmt::format("  nobody {} {}; at the start there {} {}",
                              raising_verb(counter.kind), counter_object(names.program(), counter),
                              counter.initial == 1 ? "is" : "are", counter.initial));
  } else {
    out.push_back(fmt::format("  supply of {}: {} at the start, then", text, counter.initial));
    supplier_lines(names, uses.raising, link, out);
  }
  out.push_back(
      fmt::format("  demand: {} taken by {} before this op, and {} more here: {}; supply: {}",
                  taken, names.engine(link.waiter), link.need, demand, supply));
  return {demand - supply, supplying_verb(counter.kind)};
}

std::size_t engines_in(const OpNames& names, const std::vector<WaitLink>& chain) {
  std::vector<ir::ProgramId> seen;
  for (const WaitLink& link : chain) {
    const ir::ProgramId p = names.program_of(link.waiter);
    if (std::find(seen.begin(), seen.end(), p) == seen.end()) seen.push_back(p);
  }
  return seen.size();
}

void cycle_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  const std::size_t engines = engines_in(names, c.chain);
  out.push_back(engines == 1
                    ? "deadlock: an engine program waits for itself"
                    : fmt::format("deadlock: {} engine programs wait for each other", engines));
  chain_lines(names, c.chain, true, out);
  if (!c.schedules.empty()) {
    out.push_back(fmt::format("  seen {}: nobody can step", after_steps(c.schedules[0])));
  }
  out.push_back("to break the circle, one of these ops must come before the wait that holds it up");
}

void starved_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  out.push_back("starved: a wait that nothing can satisfy");
  chain_lines(names, c.chain, false, out);
  if (c.chain.empty()) return;
  const WaitLink& last = c.chain.back();
  const Shortage shortage = supply_lines(names, last, out);
  if (!c.schedules.empty()) {
    out.push_back(fmt::format("  seen {}: nobody can step", after_steps(c.schedules[0])));
  }
  if (shortage.missing > 0) {
    out.push_back(fmt::format("remedy: {} {} more before {} waits here, or let it wait for less",
                              shortage.verb, shortage.missing, names.engine(last.waiter)));
  }
}

}  // namespace

std::uint64_t step_count(const ir::Schedule& schedule) {
  std::uint64_t steps = 0;
  for (const ir::ScheduleRun& run : schedule) steps += run.steps;
  return steps;
}

std::string after_steps(const ir::Schedule& schedule) {
  const std::uint64_t steps = step_count(schedule);
  if (steps == 0) return "at the start of the token game";
  return fmt::format("after {} step{} of the token game", steps, steps == 1 ? "" : "s");
}

void deadlock_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  if (c.kind == proofs::Kind::cycle) {
    cycle_lines(names, c, out);
  } else {
    starved_lines(names, c, out);
  }
}

}  // namespace spatialcert::certify
