// A supply or a test more or less: counters that do not come out even, and moves that break a
// circle of waits.
#include <algorithm>
#include <optional>
#include <utility>

#include "certify/repair/propose.hpp"

namespace spatialcert::certify::repair {
namespace {

using ir::OpCode;

/// The op texts that raise (lower) a counter.
struct Uses {
  std::vector<OpRef> raising, lowering;
};

Uses uses_of_counter(const Case& what, const ir::Counter& counter) {
  Uses out;
  for (std::uint32_t p = 0; p < what.program.programs.size(); ++p) {
    const auto& ops = what.program.programs[p].ops;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      const ir::Op& op = ops[i];
      if (op.code == OpCode::run || op.code == OpCode::repeat || op.object != counter.object)
        continue;
      const bool semaphore = counter.kind == ir::CounterKind::semaphore;
      if (semaphore && op.code == OpCode::post) out.raising.push_back({ir::ProgramId(p), i});
      if (semaphore && op.code == OpCode::wait) out.lowering.push_back({ir::ProgramId(p), i});
      if (counter.kind == ir::CounterKind::filled && op.code == OpCode::push)
        out.raising.push_back({ir::ProgramId(p), i});
      if (counter.kind == ir::CounterKind::filled && op.code == OpCode::pop)
        out.lowering.push_back({ir::ProgramId(p), i});
    }
  }
  return out;
}

ir::Op with_count(OpCode code, std::uint32_t object, std::int64_t count) {
  ir::Op op;
  op.code = code;
  op.object = object;
  op.count = count;
  return op;
}

/// The counter gets `more` from a post that counts more, or less from one that counts less.
void change_counts(const Case& what, const std::vector<OpRef>& ops, std::int64_t by,
                   const std::string& idea, Proposals& out) {
  for (auto at = ops.rbegin(); at != ops.rend(); ++at) {
    const std::int64_t now = what.op(*at).count;
    if (now + by > 0)
      out.add({ChangeCount{*at, now + by}}, idea);
    else if (now + by == 0)
      out.add({RemoveOp{*at}}, idea);
  }
}

/// Where an op can be added to the engine programs that hold `near`: behind these, and behind runs.
std::vector<Beside> places_near(const Case& what, const std::vector<OpRef>& near) {
  std::vector<Beside> out;
  for (auto at = near.rbegin(); at != near.rend(); ++at) out.push_back({*at, true});
  std::vector<std::uint32_t> programs;
  for (const OpRef& at : near) programs.push_back(at.program.value());
  std::sort(programs.begin(), programs.end());
  programs.erase(std::unique(programs.begin(), programs.end()), programs.end());
  for (const std::uint32_t p : programs) {
    const auto& ops = what.program.programs[p].ops;
    for (auto i = static_cast<std::uint32_t>(ops.size()); i-- > 0 && out.size() < 16;) {
      if (ops[i].code == OpCode::run || ops[i].code == OpCode::repeat)
        out.push_back({{ir::ProgramId(p), i}, true});
    }
  }
  return out;
}

void missing_supply(const Case& what, const ir::Counter& counter, std::int64_t more,
                    std::optional<OpRef> test, Proposals& out) {
  const Uses uses = uses_of_counter(what, counter);
  if (counter.kind == ir::CounterKind::semaphore) {
    out.tried.emplace_back("a post more");
    change_counts(what, uses.raising, more, "a post that counts more", out);
    for (const Beside& where : places_near(what, uses.raising)) {
      out.add({InsertOp{where, with_count(OpCode::post, counter.object, more)}},
              "a post that was missing");
    }
    if (uses.raising.empty()) {
      for (std::uint32_t p = 0; p < what.program.programs.size(); ++p) {
        const auto& ops = what.program.programs[p].ops;
        if (ops.empty() || (test && test->program.value() == p)) continue;
        for (auto i = static_cast<std::uint32_t>(ops.size()); i-- > 0;) {
          if (ops[i].code != OpCode::run) continue;
          out.add({InsertOp{{{ir::ProgramId(p), i}, true},
                            with_count(OpCode::post, counter.object, more)}},
                  "a post that was missing");
          break;
        }
      }
    }
  }
  if (counter.kind == ir::CounterKind::filled) {
    out.tried.emplace_back("a push more");
    for (const OpRef& at : uses.raising) {
      out.add({InsertOp{{at, true}, with_count(OpCode::push, counter.object, more)}},
              "a push that was missing");
    }
  }
  if (!test) return;
  out.tried.emplace_back("a test that asks for less");
  change_counts(what, {*test}, -more, "a test that asks for less", out);
}

void surplus(const Case& what, const ir::Counter& counter, std::int64_t more, Proposals& out) {
  const Uses uses = uses_of_counter(what, counter);
  const bool semaphore = counter.kind == ir::CounterKind::semaphore;
  out.tried.emplace_back(semaphore ? "a wait more" : "a pop more");
  for (const Beside& where : places_near(what, uses.lowering)) {
    Edits edits;
    if (!semaphore)
      edits.push_back(InsertOp{where, with_count(OpCode::front, counter.object, more)});
    edits.push_back(
        InsertOp{where, with_count(semaphore ? OpCode::wait : OpCode::pop, counter.object, more)});
    out.add(std::move(edits), semaphore ? "a wait that was missing" : "a pop that was missing");
  }
  if (semaphore) change_counts(what, uses.lowering, more, "a wait that counts more", out);
  out.tried.emplace_back(semaphore ? "a post less" : "a push less");
  change_counts(what, uses.raising, -more, semaphore ? "a post less" : "a push less", out);
  if (!semaphore || uses.raising.size() < 2) return;
  Edits all;
  for (const OpRef& at : uses.raising) all.push_back(RemoveOp{at});
  if (uses.lowering.empty()) out.add(std::move(all), "posts that nobody waits for removed");
}

void widen_window(const Case& what, Proposals& out) {
  const auto& c = what.counterexample;
  const OpRef at = what.op_of(c.transition);
  const ir::Op& op = what.op(at);
  if (op.code != OpCode::push && op.code != OpCode::pop) return;
  const bool push = op.code == OpCode::push;
  const OpCode opens = push ? OpCode::reserve : OpCode::front;
  out.tried.emplace_back(push ? "a reserve that opens more" : "a front that opens more");
  const auto& ops = what.program.programs[at.program.value()].ops;
  for (std::uint32_t i = at.op; i-- > 0;) {
    if (ops[i].code != opens || ops[i].object != op.object) continue;
    out.add({ChangeCount{{at.program, i}, ops[i].count + c.value - c.limit}},
            push ? "a reserve that opens more" : "a front that opens more");
    break;
  }
  out.add({InsertOp{{at, false}, with_count(opens, op.object, op.count)}},
          push ? "a reserve that was missing" : "a front that was missing");
  out.tried.emplace_back(push ? "a push of fewer pages" : "a pop of fewer pages");
  if (c.limit > 0)
    out.add({ChangeCount{at, c.limit}}, push ? "a push of fewer pages" : "a pop of fewer pages");
}

/// Synchronisation around an op that moves with it: up to the next run or loop.
Edits moved_block(const Case& what, OpRef from, std::uint32_t end, Beside to) {
  Edits edits;
  for (std::uint32_t i = from.op; i < end; ++i) {
    const OpCode code = what.op({from.program, i}).code;
    if (code == OpCode::run || code == OpCode::repeat) return {};
    edits.push_back(MoveOp{{from.program, i}, to});
  }
  return edits;
}

}  // namespace

void propose_counts(const Case& what, Proposals& out) {
  const auto& c = what.counterexample;
  if (c.kind == proofs::Kind::starved && !c.chain.empty()) {
    const proofs::WaitLink& link = c.chain.back();
    const ir::Counter& counter = what.names.counters()[link.counter];
    if (counter.kind != ir::CounterKind::free)
      missing_supply(what, counter, link.need - link.have, what.op_of(link.waiter), out);
  }
  if (c.kind == proofs::Kind::leftover) {
    const ir::Counter& counter = what.names.counters()[c.counter];
    if (c.value > c.limit && counter.kind != ir::CounterKind::free)
      surplus(what, counter, c.value - c.limit, out);
    if (c.value < c.limit && counter.kind == ir::CounterKind::semaphore)
      missing_supply(what, counter, c.limit - c.value, std::nullopt, out);
  }
  if (c.kind == proofs::Kind::overflow) {
    const ir::Counter& counter = what.names.counters()[c.counter];
    if (counter.kind == ir::CounterKind::semaphore) {
      out.tried.emplace_back("a larger maximum");
      const std::int64_t most = what.program.target.semaphore_maximum;
      if (c.value <= most) {
        out.add({ChangeMaximum{ir::SemaphoreId(counter.object), c.value}}, "a larger maximum");
        out.add({ChangeMaximum{ir::SemaphoreId(counter.object), most}}, "the largest maximum");
      } else {
        out.obstacles.push_back("the target's semaphores do not count so far");
      }
    }
  }
  if (c.kind == proofs::Kind::misuse && c.transition.valid()) widen_window(what, out);
}

void propose_moves(const Case& what, Proposals& out) {
  const auto& chain = what.counterexample.chain;
  if (what.counterexample.kind != proofs::Kind::cycle) return;
  out.tried.emplace_back("a post or push earlier");
  out.tried.emplace_back("a wait or front later");
  // Every link's supplier stands behind the test at which the next link waits.
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (!chain[i].supplier.valid()) continue;
    const OpRef supplier = what.op_of(chain[i].supplier);
    const OpRef test = what.op_of(chain[(i + 1) % chain.size()].waiter);
    if (supplier.program != test.program || test.op >= supplier.op) continue;
    out.add({MoveOp{supplier, {test, false}}}, "a supply before the test that holds it up");
    out.add({MoveOp{test, {supplier, true}}}, "a test behind what it holds up");
    const ir::Op& op = what.op(test);
    if (op.code != OpCode::front && op.code != OpCode::reserve) continue;
    // Together with what closes its window.
    const auto& ops = what.program.programs[test.program.value()].ops;
    for (std::uint32_t end = test.op + 1; end < supplier.op; ++end) {
      const bool closes = ops[end].object == op.object &&
                          ops[end].code == (op.code == OpCode::front ? OpCode::pop : OpCode::push);
      if (!closes) continue;
      if (Edits edits = moved_block(what, test, end + 1, {supplier, true}); !edits.empty())
        out.add(std::move(edits), "a window behind what it holds up");
      break;
    }
  }
}

}  // namespace spatialcert::certify::repair
