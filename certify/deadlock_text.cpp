// Who waits for whom: circles, and the chains that lead to a wait nobody can satisfy.
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

/// `would push it with op 20 `push kv 1``, from the supplier of `link`.
std::string would_supply(const OpNames& names, const WaitLink& link) {
  const CounterKind kind = names.counters()[link.counter].kind;
  return fmt::format("{} would {} {} with {}{}", names.engine(link.supplier), supplying_verb(kind),
                     kind == CounterKind::free ? "one" : "it", names.op(link.supplier),
                     names.source(link.supplier));
}

}  // namespace

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

void chain_lines(const OpNames& names, const std::vector<WaitLink>& chain, bool circle,
                 Lines& out) {
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const WaitLink& link = chain[i];
    std::string line = fmt::format("  {}. ", i + 1);
    if (i == 0 || !chain[i - 1].supplier.valid()) {
      line += fmt::format("{}, {}, waits for {}", names.engine(link.waiter),
                          names.placed_op(link.waiter), waits_for(names, link));
    } else {
      line += fmt::format("{}, but only after {}, which waits for {}",
                          would_supply(names, chain[i - 1]), names.placed_op(link.waiter),
                          waits_for(names, link));
    }
    out.push_back(line + (circle || i + 1 < chain.size() ? ";" : "."));
  }
  if (!circle || chain.empty()) return;
  out.push_back(fmt::format("  {}. {}, but only after op {}, which is step 1: a circle.",
                            chain.size() + 1, would_supply(names, chain.back()),
                            names.unrolled().op[chain.front().waiter.value()]));
}

namespace {

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
