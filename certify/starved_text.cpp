// A wait that nothing can satisfy: supply against demand, or who took what was meant for it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "certify/narrative.hpp"

namespace spatialcert::certify {
namespace {

using ir::CounterKind;
using proofs::Counterexample;
using proofs::WaitLink;

std::int64_t sum(std::int64_t start, const std::vector<CounterUse>& uses) {
  std::int64_t total = start;
  for (const CounterUse& use : uses) {
    if (__builtin_add_overflow(total, use.amount, &total)) return INT64_MAX;
  }
  return total;
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
  const std::int64_t supply = sum(counter.initial, uses.raising);
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

const char* past(CounterKind kind, bool raised) {
  if (kind == CounterKind::semaphore) return raised ? "posted" : "took";
  return (kind == CounterKind::filled) == raised ? "pushed" : "popped";
}

/// What became of the counter in the play that ends at the wait.
void played_lines(const OpNames& names, const WaitLink& link, const CounterUses& played,
                  Lines& out) {
  const ir::Counter& counter = names.counters()[link.counter];
  out.push_back(fmt::format("  until then, from {} in {} at the start:", counter.initial,
                            counter_text(names.program(), counter)));
  for (const bool raised : {true, false}) {
    const std::vector<CounterUse>& uses = raised ? played.raising : played.lowering;
    for (std::size_t i = 0; i < uses.size() && i < kMostSuppliers; ++i) {
      out.push_back(
          fmt::format("    {} {} {}, last with {}", engine_text(names.program(), uses[i].program),
                      past(counter.kind, raised), uses[i].amount, names.op(uses[i].last)));
    }
    if (uses.size() > kMostSuppliers) {
      out.push_back(fmt::format("    and {} more engine programs", uses.size() - kMostSuppliers));
    }
  }
}

/// Whether another engine program has taken from the semaphore that is waited for.
bool others_took(const OpNames& names, const WaitLink& link, const CounterUses& played) {
  if (names.counters()[link.counter].kind != CounterKind::semaphore) return false;
  const ir::ProgramId own = names.program_of(link.waiter);
  return std::any_of(played.lowering.begin(), played.lowering.end(),
                     [&](const CounterUse& use) { return use.program != own; });
}

void seen_line(const Counterexample& c, Lines& out) {
  if (c.schedules.empty()) return;
  out.push_back(fmt::format("  seen {}: nobody can step", after_steps(c.schedules[0])));
}

/// Several engine programs wait for one semaphore, and this one came too late.
void competing_lines(const OpNames& names, const Counterexample& c, const CounterUses& played,
                     Lines& out) {
  const WaitLink& last = c.chain.back();
  played_lines(names, last, played, out);
  seen_line(c, out);
  out.push_back(fmt::format(
      "remedy: who waits for {} takes what was posted for others; give each a semaphore of its own",
      counter_text(names.program(), names.counters()[last.counter])));
}

/// A persistent program: what is missing grows with every iteration.
void falling_behind_lines(const OpNames& names, const Counterexample& c, const CounterUses& played,
                          Lines& out) {
  const WaitLink& last = c.chain.back();
  played_lines(names, last, played, out);
  const CounterUses each = uses_of(names, last.counter);
  const std::int64_t given = sum(0, each.raising);
  const std::int64_t taken = sum(0, each.lowering);
  const CounterKind kind = names.counters()[last.counter].kind;
  if (taken > given) {
    out.push_back(fmt::format("  every iteration gives {} and takes {}", given, taken));
  }
  seen_line(c, out);
  if (taken > given) {
    out.push_back(fmt::format("remedy: {} {} more in every iteration, or {} less",
                              supplying_verb(kind), taken - given,
                              kind == CounterKind::semaphore ? "wait for" : "take"));
  }
}

}  // namespace

void starved_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  CounterUses played;
  if (!c.chain.empty() && !c.schedules.empty()) {
    played = uses_in(names, c.chain.back().counter, c.schedules[0]);
  }
  const bool competing = !c.chain.empty() && others_took(names, c.chain.back(), played);
  out.push_back(competing ? "starved: a wait that nothing can satisfy, because others took what "
                            "was posted for it"
                          : "starved: a wait that nothing can satisfy");
  chain_lines(names, c.chain, false, out);
  if (c.chain.empty()) return;
  if (competing) return competing_lines(names, c, played, out);
  if (names.program().execution == ir::Execution::persistent) {
    return falling_behind_lines(names, c, played, out);
  }
  const WaitLink& last = c.chain.back();
  const Shortage shortage = supply_lines(names, last, out);
  seen_line(c, out);
  if (shortage.missing > 0) {
    out.push_back(fmt::format("remedy: {} {} more before {} waits here, or let it wait for less",
                              shortage.verb, shortage.missing, names.engine(last.waiter)));
  }
}

}  // namespace spatialcert::certify
