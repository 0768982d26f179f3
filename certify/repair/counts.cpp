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

/// The same of all counters at once, by their number, and by how much an iteration raises each.
struct AllUses {
  std::vector<Uses> of;
  std::vector<std::int64_t> balance;
};

AllUses uses_of_all(const Case& what) {
  const ir::Counters& counters = what.names.counters();
  AllUses out{std::vector<Uses>(counters.size()), std::vector<std::int64_t>(counters.size(), 0)};
  for (std::uint32_t p = 0; p < what.program.programs.size(); ++p) {
    const auto& ops = what.program.programs[p].ops;
    std::vector<std::pair<std::uint32_t, std::int64_t>> loops;  // end, executions within
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      while (!loops.empty() && loops.back().first <= i) loops.pop_back();
      const std::int64_t times = loops.empty() ? 1 : loops.back().second;
      const ir::Op& op = ops[i];
      if (op.code == OpCode::repeat) loops.emplace_back(i + 1 + op.body, product(times, op.count));
      const bool raises = op.code == OpCode::post || op.code == OpCode::push;
      const bool lowers = op.code == OpCode::wait || op.code == OpCode::pop;
      if (!raises && !lowers) continue;
      const bool semaphore = op.code == OpCode::post || op.code == OpCode::wait;
      const std::uint32_t counter = (semaphore ? counters.of(ir::SemaphoreId(op.object))
                                               : counters.filled(ir::BufferId(op.object)))
                                        .value();
      Uses& uses = out.of[counter];
      (raises ? uses.raising : uses.lowering).push_back({ir::ProgramId(p), i});
      const std::int64_t all = product(op.count, times);
      out.balance[counter] = sum(out.balance[counter], raises ? all : -all);
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

/// A new op beside another one, that counts `all` in one iteration; in a loop a share of it.
/// Nothing if that does not come out even.
Edits counting_beside(const Case& what, const Beside& where, OpCode code, std::uint32_t object,
                      std::int64_t all) {
  const std::int64_t times = executions(what, where.anchor);
  if (all % times != 0) return {};
  return {InsertOp{where, with_count(code, object, all / times)}};
}

/// The counter gets `more` from a post that counts more, or less from one that counts less.
void change_counts(const Case& what, const std::vector<OpRef>& ops, std::int64_t by,
                   const std::string& idea, Proposals& out) {
  // Where a counter is used all over a program the last ones have to do.
  constexpr std::ptrdiff_t kMost = 8;
  for (auto at = ops.rbegin(); at != ops.rend() && at - ops.rbegin() < kMost; ++at) {
    const std::int64_t now = what.op(*at).count, share = by / executions(what, *at);
    if (by % executions(what, *at) != 0) continue;
    const std::int64_t then = sum(now, share);
    if (then > 0)
      out.add({ChangeCount{*at, then}}, idea);
    else if (then == 0)
      out.add({RemoveOp{*at}}, idea);
  }
}

/// Runs that read (write) pages of a FIFO.
std::vector<OpRef> runs_on(const Case& what, std::uint32_t fifo, bool write) {
  std::vector<OpRef> out;
  for (std::uint32_t p = 0; p < what.program.programs.size(); ++p) {
    const auto& ops = what.program.programs[p].ops;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      for (std::uint32_t a = 0; ops[i].code == OpCode::run && a < ops[i].accesses; ++a) {
        const ir::Access& access = what.program.accesses[ops[i].first_access + a];
        if (access.region.kind != ir::RegionKind::page || access.region.object != fifo ||
            access.write != write)
          continue;
        out.push_back({ir::ProgramId(p), i});
        break;
      }
    }
  }
  return out;
}

/// Where somebody could wait who does not wait at all: at the beginning of sections of engine
/// programs that may, other than those that post.
std::vector<Beside> places_to_wait(const Case& what, std::uint32_t semaphore, const Uses& uses) {
  std::vector<Beside> out;
  for (std::uint32_t p = 0; p < what.program.programs.size(); ++p) {
    const ir::EngineProgram& one = what.program.programs[p];
    if (one.site != what.program.semaphores[semaphore].site) continue;
    if (std::any_of(uses.raising.begin(), uses.raising.end(),
                    [&](const OpRef& at) { return at.program.value() == p; }))
      continue;
    for (const ir::Span& span : one.spans) {
      if (span.section.valid() && out.size() < 12)
        out.push_back({{ir::ProgramId(p), span.begin}, false});
    }
  }
  return out;
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
      out.add(counting_beside(what, where, OpCode::post, counter.object, more),
              "a post that was missing");
    }
    if (uses.raising.empty()) {
      for (std::uint32_t p = 0; p < what.program.programs.size(); ++p) {
        const auto& ops = what.program.programs[p].ops;
        if (ops.empty() || (test && test->program.value() == p)) continue;
        for (auto i = static_cast<std::uint32_t>(ops.size()); i-- > 0;) {
          if (ops[i].code != OpCode::run) continue;
          out.add(counting_beside(what, {{ir::ProgramId(p), i}, true}, OpCode::post, counter.object,
                                  more),
                  "a post that was missing");
          break;
        }
      }
    }
  }
  if (counter.kind == ir::CounterKind::filled) {
    out.tried.emplace_back("a push more");
    change_counts(what, uses.raising, more, "a push of more pages", out);
    for (const OpRef& at : uses.raising) {
      out.add(counting_beside(what, {at, true}, OpCode::push, counter.object, more),
              "a push that was missing");
    }
    for (const OpRef& at : runs_on(what, counter.object, true)) {
      out.add(counting_beside(what, {at, true}, OpCode::push, counter.object, more),
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
  std::vector<Beside> places = places_near(what, uses.lowering);
  if (semaphore && uses.lowering.empty()) places = places_to_wait(what, counter.object, uses);
  if (!semaphore) {
    // Pages that are looked at and not freed.
    for (const OpRef& at : runs_on(what, counter.object, false)) {
      out.add(counting_beside(what, {at, true}, OpCode::pop, counter.object, more),
              "a pop that was missing");
    }
  }
  for (const Beside& where : places) {
    Edits edits;
    if (!semaphore) edits = counting_beside(what, where, OpCode::front, counter.object, more);
    for (Edit& edit :
         counting_beside(what, where, semaphore ? OpCode::wait : OpCode::pop, counter.object, more))
      edits.push_back(std::move(edit));
    out.add(std::move(edits), semaphore ? "a wait that was missing" : "a pop that was missing");
  }
  change_counts(what, uses.lowering, more,
                semaphore ? "a wait that counts more" : "a pop of more pages", out);
  out.tried.emplace_back(semaphore ? "a post less" : "a push less");
  change_counts(what, uses.raising, -more, semaphore ? "a post less" : "a push less", out);
  if (!semaphore || uses.raising.size() < 2) return;
  Edits all;
  for (const OpRef& at : uses.raising) all.push_back(RemoveOp{at});
  if (uses.lowering.empty()) out.add(std::move(all), "posts that nobody waits for removed");
}

/// A run touches a page that is not open: what closes its window later, or what opens it earlier.
void open_window(const Case& what, const OpRef& at, Proposals& out) {
  const ir::Op& run = what.op(at);
  const auto& ops = what.program.programs[at.program.value()].ops;
  bool tried = false;
  for (std::uint32_t a = run.first_access; a < run.first_access + run.accesses; ++a) {
    const ir::Access& access = what.program.accesses[a];
    if (access.region.kind != ir::RegionKind::page) continue;
    const std::uint32_t fifo = access.region.object;
    const OpCode opens = access.write ? OpCode::reserve : OpCode::front;
    const OpCode closes = access.write ? OpCode::push : OpCode::pop;
    if (!std::exchange(tried, true)) out.tried.emplace_back("a window that is open around the run");
    const auto is = [&](std::uint32_t i, OpCode code) {
      return ops[i].code == code && ops[i].object == fifo;
    };
    for (std::uint32_t i = at.op + 1; i < ops.size(); ++i) {
      if (!is(i, opens)) continue;
      out.add({MoveOp{{at.program, i}, {at, false}}}, "a window opened before the run");
      break;
    }
    for (std::uint32_t i = at.op; i-- > 0;) {
      if (!is(i, closes)) continue;
      out.add({MoveOp{{at.program, i}, {at, true}}}, "a window closed after the run");
      break;
    }
    for (std::uint32_t i = at.op; i-- > 0;) {
      if (!is(i, opens)) continue;
      out.add({ChangeCount{{at.program, i}, sum(ops[i].count, 1)}}, "a window that opens more");
      break;
    }
    const std::int64_t pages = access.region.page + 1;
    out.add({InsertOp{{at, false}, with_count(opens, fifo, pages)}},
            access.write ? "a reserve that was missing" : "a front that was missing");
    out.add({InsertOp{{at, false}, with_count(opens, fifo, pages)},
             InsertOp{{at, true}, with_count(closes, fifo, pages)}},
            "a window that was missing");
  }
}

void widen_window(const Case& what, Proposals& out) {
  const auto& c = what.counterexample;
  const OpRef at = what.op_of(c.transition);
  const ir::Op& op = what.op(at);
  if (op.code == OpCode::run) return open_window(what, at, out);
  if (op.code != OpCode::push && op.code != OpCode::pop) return;
  const bool push = op.code == OpCode::push;
  const OpCode opens = push ? OpCode::reserve : OpCode::front;
  out.tried.emplace_back(push ? "a reserve that opens more" : "a front that opens more");
  const auto& ops = what.program.programs[at.program.value()].ops;
  for (std::uint32_t i = at.op; i-- > 0;) {
    if (ops[i].code != opens || ops[i].object != op.object) continue;
    out.add({ChangeCount{{at.program, i}, sum(ops[i].count, c.value - c.limit)}},
            push ? "a reserve that opens more" : "a front that opens more");
    break;
  }
  out.add({InsertOp{{at, false}, with_count(opens, op.object, op.count)}},
          push ? "a reserve that was missing" : "a front that was missing");
  out.tried.emplace_back(push ? "a push of fewer pages" : "a pop of fewer pages");
  if (c.limit > 0)
    out.add({ChangeCount{at, c.limit}}, push ? "a push of fewer pages" : "a pop of fewer pages");
  else
    out.add({RemoveOp{at}}, push ? "a push less" : "a pop less");
}

/// Posts (waits) on a semaphore that has too many of them, where `counter` has too few.
void redirect(const Case& what, const AllUses& all, ir::CounterId id, Proposals& out) {
  const ir::Counter& counter = what.names.counters()[id];
  const Uses& uses = all.of[id.value()];
  const std::int64_t excess = all.balance[id.value()];
  if (counter.kind != ir::CounterKind::semaphore) return;
  const auto moved_to = [&](const OpRef& at, std::uint32_t semaphore) {
    out.add({RemoveOp{at},
             InsertOp{{at, true}, with_count(what.op(at).code, semaphore, what.op(at).count)}},
            what.op(at).code == OpCode::post ? "a post on the semaphore that is waited for"
                                             : "a wait for the semaphore that is posted");
  };
  bool tried = false;
  for (std::uint32_t s = 0; s < what.program.semaphores.size(); ++s) {
    const std::uint32_t number = what.names.counters().of(ir::SemaphoreId(s)).value();
    const Uses& other = all.of[number];
    const std::int64_t there = all.balance[number];
    if (there == 0 || (there > 0) == (excess > 0)) continue;
    if (!std::exchange(tried, true)) out.tried.emplace_back("ops on the other semaphore");
    // Of the two, the one with too many posts gives one, and the one with too many waits.
    const bool from_here = excess > 0;
    for (const OpRef& at : from_here ? uses.raising : other.raising) {
      if (what.op(at).count <= std::abs(excess)) moved_to(at, from_here ? s : counter.object);
    }
    for (const OpRef& at : from_here ? other.lowering : uses.lowering) {
      if (what.op(at).count <= std::abs(excess)) moved_to(at, from_here ? counter.object : s);
    }
  }
}

/// Does one of the ops stand at a boundary?
bool meets(const Case& what, const std::vector<OpRef>& ops) {
  return std::any_of(ops.begin(), ops.end(), [&](const OpRef& at) {
    const auto& spans = what.program.programs[at.program.value()].spans;
    const auto span =
        std::upper_bound(spans.begin(), spans.end(), at.op,
                         [](std::uint32_t op, const ir::Span& s) { return op < s.end; });
    return span != spans.end() && span->boundary.valid();
  });
}

/// Counters of which an iteration takes more than it gives, or less, whatever the counterexample is
/// about: what is stuck may be so because of them.
void propose_balances(const Case& what, Proposals& out) {
  constexpr std::size_t kMost = 3;
  std::size_t count = 0;
  const auto& counters = what.names.counters();
  const AllUses all = uses_of_all(what);
  for (std::uint32_t n = 0; n < counters.size() && count < kMost; ++n) {
    const ir::Counter& counter = counters[ir::CounterId(n)];
    const Uses& uses = all.of[n];
    const std::int64_t excess = all.balance[n];
    // Rendezvous are mended as such (certify/repair/rendezvous.cpp).
    if (excess == 0 || meets(what, uses.raising) || meets(what, uses.lowering)) continue;
    ++count;
    redirect(what, all, ir::CounterId(n), out);
    if (excess > 0) {
      surplus(what, counter, excess, out);
      continue;
    }
    missing_supply(what, counter, -excess, std::nullopt, out);
    out.tried.emplace_back("a test that asks for less");
    change_counts(what, uses.lowering, excess, "a test that asks for less", out);
  }
}

/// A post and the wait for it, where both stand alone and make a circle with something else.
void propose_removal(const Case& what, Proposals& out) {
  bool tried = false;
  for (const proofs::WaitLink& link : what.counterexample.chain) {
    const ir::Counter& counter = what.names.counters()[link.counter];
    if (counter.kind != ir::CounterKind::semaphore) continue;
    const Uses uses = uses_of_counter(what, counter);
    if (uses.raising.size() != 1 || uses.lowering.size() != 1) continue;
    if (!std::exchange(tried, true)) out.tried.emplace_back("a hand-off removed");
    out.add({RemoveOp{uses.raising.front()}, RemoveOp{uses.lowering.front()}},
            "a hand-off removed");
  }
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
        out.obstacle("the target's semaphores do not count so far");
      }
      propose_taking(what, counter.object, out);
      propose_room(what, counter.object, out);
      propose_closing_any(what, out);
    }
  }
  if (c.kind == proofs::Kind::cycle || c.kind == proofs::Kind::starved ||
      c.kind == proofs::Kind::overflow)
    propose_balances(what, out);
  if (c.kind == proofs::Kind::cycle) propose_removal(what, out);
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
