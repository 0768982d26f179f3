// A hand-off between two accesses that nothing orders: one that exists moved, or a new semaphore.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "certify/repair/propose.hpp"
#include "ir/sections.hpp"

namespace spatialcert::certify::repair {
namespace {

using ir::OpCode;

/// The outermost loop around an op, or the op itself.
OpRef outermost(const Case& what, const OpRef& at) {
  const auto& ops = what.program.programs[at.program.value()].ops;
  for (std::uint32_t i = 0; i < at.op; i += 1 + ops[i].body) {
    if (at.op <= i + ops[i].body) return {at.program, i};
  }
  return at;
}

/// Which execution of its text in its iteration an instance is, counted over iterations.
std::int64_t execution_of(const Case& what, ir::TransitionId t) {
  const ir::Unrolled& u = what.names.unrolled();
  std::int64_t before = 0;
  for (std::uint32_t i = u.begin[u.program[t.value()]]; i < t.value(); ++i)
    before += u.op[i] == u.op[t.value()] ? 1 : 0;
  return before;
}

class Handoffs {
 public:
  Handoffs(const Case& what, Proposals& out) : what_(what), out_(out) {}

  /// `from` comes before `to`.
  void order(ir::TransitionId from, ir::TransitionId to) {
    const OpRef a = what_.op_of(from), b = what_.op_of(to);
    if (a.program == b.program) return;
    reuse(a, b);
    share(a, b);
    add_semaphore(from, to, a, b);
  }

 private:
  [[nodiscard]] const std::vector<ir::Op>& ops(ir::ProgramId p) const {
    return what_.program.programs[p.value()].ops;
  }
  [[nodiscard]] static bool supplies(OpCode code) {
    return code == OpCode::post || code == OpCode::push || code == OpCode::pop;
  }
  [[nodiscard]] static bool answers(const ir::Op& test, const ir::Op& supply) {
    if (test.object != supply.object) return false;
    return (supply.code == OpCode::post &&
            (test.code == OpCode::wait || test.code == OpCode::await)) ||
           (supply.code == OpCode::push && test.code == OpCode::front) ||
           (supply.code == OpCode::pop && test.code == OpCode::reserve);
  }

  /// A supply of a's engine program, that b's waits for, behind a; or that wait before b.
  void reuse(const OpRef& a, const OpRef& b) {
    for (std::uint32_t s = 0; s < ops(a.program).size(); ++s) {
      const ir::Op& supply = ops(a.program)[s];
      if (!supplies(supply.code)) continue;
      for (std::uint32_t t = 0; t < ops(b.program).size(); ++t) {
        if (!answers(ops(b.program)[t], supply)) continue;
        if (s < a.op) {
          out_.add({MoveOp{{a.program, s}, {a, true}}}, "a supply behind the first access");
          break;
        }
        if (t > b.op) {
          out_.add({MoveOp{{b.program, t}, {b, false}}}, "a wait before the second access");
          break;
        }
      }
      if (supply.code == OpCode::post && s > a.op) {
        ir::Op wait;
        wait.code = OpCode::wait;
        wait.object = supply.object;
        wait.count = supply.count;
        out_.add({InsertOp{{b, false}, wait}}, "a wait for a post that is there");
      }
    }
  }

  /// A wait of b's engine program for several posts, of which another one makes too many.
  void share(const OpRef& a, const OpRef& b) {
    for (std::uint32_t t = 0; t < b.op; ++t) {
      const ir::Op& test = ops(b.program)[t];
      if (test.code != OpCode::wait || test.count < 2) continue;
      for (std::uint32_t p = 0; p < what_.program.programs.size(); ++p) {
        for (std::uint32_t s = 0; s < ops(ir::ProgramId(p)).size(); ++s) {
          const ir::Op& supply = ops(ir::ProgramId(p))[s];
          if (supply.code != OpCode::post || supply.object != test.object || supply.count < 2)
            continue;
          ir::Op post = supply;
          post.count = 1;
          post.location = ir::kNoLocation;
          out_.add(
              {ChangeCount{{ir::ProgramId(p), s}, supply.count - 1}, InsertOp{{a, true}, post}},
              "one post of several made by who was meant");
        }
      }
    }
  }

  void add_semaphore(ir::TransitionId from, ir::TransitionId to, const OpRef& a, const OpRef& b) {
    ir::Semaphore semaphore;
    semaphore.name = unused_name(what_.program, {}, "repair");
    semaphore.site = what_.program.programs[b.program.value()].site;
    semaphore.maximum = what_.program.target.semaphore_maximum;
    if (what_.program.programs[a.program.value()].site.chip != semaphore.site.chip) {
      const auto crossing = crossing_handoff(what_.program);
      if (!crossing) return out_.obstacle("the target has no hand-off that crosses chips");
      semaphore.handoff = *crossing;
    }
    if (!has_room(what_.program, {}, semaphore.site, out_)) return;
    ir::Op post, wait;
    post.code = OpCode::post;
    wait.code = OpCode::wait;
    post.object = wait.object = static_cast<std::uint32_t>(what_.program.semaphores.size());
    post.count = wait.count = 1;
    if (executions(what_, a) == executions(what_, b)) {
      // As many executions ahead as the pair is apart.
      const std::int64_t apart = execution_of(what_, to) - execution_of(what_, from);
      if (apart >= 0) {
        semaphore.initial = apart;
        out_.add({AddSemaphore{semaphore}, InsertOp{{a, true}, post}, InsertOp{{b, false}, wait}},
                 "a new semaphore");
      }
    }
    const OpRef first = outermost(what_, a), second = outermost(what_, b);
    if (first == a && second == b) return;
    semaphore.initial = 0;
    out_.add(
        {AddSemaphore{semaphore}, InsertOp{{first, true}, post}, InsertOp{{second, false}, wait}},
        "a new semaphore around the loops");
  }

  const Case& what_;
  Proposals& out_;
};

}  // namespace

std::int64_t executions(const Case& what, const OpRef& at) {
  const auto& ops = what.program.programs[at.program.value()].ops;
  std::int64_t count = 1;
  for (std::uint32_t i = 0; i < at.op; ++i) {
    if (ops[i].code == OpCode::repeat && at.op <= i + ops[i].body)
      count = product(count, ops[i].count);
  }
  return count;
}

std::optional<ir::HandoffId> crossing_handoff(const ir::Program& program) {
  const auto& all = program.target.handoffs;
  for (std::uint32_t h = 0; h < all.size(); ++h) {
    if (all[h].crosses_chips) return ir::HandoffId(h);
  }
  return std::nullopt;
}

std::string unused_name(const ir::Program& program, const Edits& edits, const std::string& base) {
  const auto used = [&](const std::string& name) {
    const auto& all = program.semaphores;
    return std::any_of(all.begin(), all.end(), [&](const auto& s) { return s.name == name; }) ||
           std::any_of(edits.begin(), edits.end(), [&](const Edit& edit) {
             const auto* added = std::get_if<AddSemaphore>(&edit);
             return added != nullptr && added->semaphore.name == name;
           });
  };
  std::string name = base;
  for (int i = 1; used(name); ++i) name = fmt::format("{}.{}", base, i);
  return name;
}

bool has_room(const ir::Program& program, const Edits& edits, const ir::Site& site,
              Proposals& out) {
  const auto there = [&](const ir::Semaphore& s) { return s.site == site; };
  auto count = std::count_if(program.semaphores.begin(), program.semaphores.end(), there);
  const auto before = count;
  for (const Edit& edit : edits) {
    const auto* added = std::get_if<AddSemaphore>(&edit);
    if (added != nullptr && there(added->semaphore)) ++count;
  }
  if (count < static_cast<std::ptrdiff_t>(program.target.semaphores_per_site)) return true;
  out.obstacle(fmt::format("{} has too few semaphores: {}, of which {} are in use",
                           site_text(program, site), program.target.semaphores_per_site, before));
  return false;
}

void propose_handoff(const Case& what, ir::TransitionId from, ir::TransitionId to, Proposals& out) {
  Handoffs(what, out).order(from, to);
}

void propose_handoffs(const Case& what, Proposals& out) {
  const auto& c = what.counterexample;
  if (c.accesses.size() < 2) return;
  out.tried.emplace_back("a hand-off that is there");
  out.tried.emplace_back("a new semaphore");
  ir::TransitionId first = c.accesses[0].transition, second = c.accesses[1].transition;
  const auto& u = what.names.unrolled();
  const auto section = [&](ir::TransitionId t) {
    return what.program.sections[ir::section_of_run(what.program, u, t).value()].source_index;
  };
  // The order of the iterations, then of the source; within a section what is written first.
  const auto rank = [&](std::size_t i) {
    const ir::TransitionId t = c.accesses[i].transition;
    const bool write = what.program.accesses[c.accesses[i].access].write;
    return std::tuple(u.iteration(t), section(t), execution_of(what, t), write ? 0 : 1);
  };
  if (rank(1) < rank(0)) std::swap(first, second);
  Handoffs handoffs(what, out);
  handoffs.order(first, second);
  // The other order only where neither source nor loops say which was meant.
  if (u.iteration(first) == u.iteration(second) && section(first) == section(second))
    handoffs.order(second, first);
}

void propose_lifetimes(const Case& what, Proposals& out) {
  const auto& c = what.counterexample;
  if (c.accesses.size() < 2) return;
  const ir::Region& region = what.program.accesses[c.accesses[1].access].region;
  if (region.kind != ir::RegionKind::bytes) return;
  out.tried.emplace_back("a buffer that outlives its section");
  const auto& u = what.names.unrolled();
  const auto from = ir::section_of_run(what.program, u, c.accesses[1].transition);
  const auto to = ir::section_of_run(what.program, u, c.accesses[0].transition);
  if (from < to)
    out.add({KeepBuffer{ir::BufferId(region.object), from, to}},
            "a buffer that outlives its section");
}

}  // namespace spatialcert::certify::repair
