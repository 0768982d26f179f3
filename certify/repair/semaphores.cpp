// Semaphores that several wait for, where one may take what was posted for another; and those that
// nobody takes from.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "certify/repair/propose.hpp"

namespace spatialcert::certify::repair {
namespace {

using ir::OpCode;

/// Semaphores that are divided, of those that come into question.
constexpr std::size_t kMostDivided = 4;

/// The op texts that use a semaphore.
struct Uses {
  std::map<std::uint32_t, std::vector<OpRef>> waits;  ///< by engine program
  std::vector<OpRef> posts;
  std::vector<OpRef> awaits;
};

std::vector<Uses> uses_of_semaphores(const ir::Program& program) {
  std::vector<Uses> out(program.semaphores.size());
  for (std::uint32_t p = 0; p < program.programs.size(); ++p) {
    const auto& ops = program.programs[p].ops;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      const OpRef at{ir::ProgramId(p), i};
      if (ops[i].code == OpCode::wait) out[ops[i].object].waits[p].push_back(at);
      if (ops[i].code == OpCode::post) out[ops[i].object].posts.push_back(at);
      if (ops[i].code == OpCode::await) out[ops[i].object].awaits.push_back(at);
    }
  }
  return out;
}

ir::Op counting(OpCode code, std::size_t semaphore, std::int64_t count) {
  ir::Op op;
  op.code = code;
  op.object = static_cast<std::uint32_t>(semaphore);
  op.count = count;
  return op;
}

/// One semaphore for every engine program that waits; every post is shared out evenly. Nothing if
/// that does not come out even, or the site has no room.
Edits divided(const Case& what, std::uint32_t semaphore, const Uses& uses, Proposals& out) {
  const ir::Program& program = what.program;
  const ir::Semaphore& one = program.semaphores[semaphore];
  const auto shares = static_cast<std::int64_t>(uses.waits.size());
  if (one.initial != 0) return {};  // whose the tokens are is not known
  for (const OpRef& at : uses.posts) {
    if (what.op(at).count % shares != 0) return {};
  }
  Edits edits;
  std::size_t next = program.semaphores.size();
  for (auto waiter = std::next(uses.waits.begin()); waiter != uses.waits.end(); ++waiter, ++next) {
    if (!has_room(program, edits, one.site, out)) return {};
    ir::Semaphore own = one;
    own.name = unused_name(program, edits, "repair." + one.name);
    edits.push_back(AddSemaphore{std::move(own)});
    for (const OpRef& at : waiter->second) {
      edits.push_back(RemoveOp{at});
      edits.push_back(InsertOp{{at, true}, counting(OpCode::wait, next, what.op(at).count)});
    }
    for (const OpRef& at : uses.posts) {
      edits.push_back(
          InsertOp{{at, true}, counting(OpCode::post, next, what.op(at).count / shares)});
    }
  }
  for (const OpRef& at : uses.posts) edits.push_back(ChangeCount{at, what.op(at).count / shares});
  return edits;
}

}  // namespace

void propose_own_semaphores(const Case& what, Proposals& out) {
  const std::vector<Uses> all = uses_of_semaphores(what.program);
  std::size_t count = 0;
  for (std::uint32_t s = 0; s < all.size() && count < kMostDivided; ++s) {
    if (all[s].waits.size() < 2 || all[s].posts.empty() || !all[s].awaits.empty()) continue;
    Edits edits = divided(what, s, all[s], out);
    if (edits.empty()) continue;
    if (count++ == 0) out.tried.emplace_back("a semaphore of its own for everybody who waits");
    out.add(std::move(edits), "a semaphore of its own for everybody who waits");
  }
}

void propose_taking(const Case& what, std::uint32_t semaphore, Proposals& out) {
  const Uses uses = uses_of_semaphores(what.program)[semaphore];
  if (!uses.waits.empty() || uses.awaits.empty()) return;
  out.tried.emplace_back("a wait in place of an await");
  for (const OpRef& at : uses.awaits) {
    out.add(
        {RemoveOp{at}, InsertOp{{at, true}, counting(OpCode::wait, semaphore, what.op(at).count)}},
        "a wait in place of an await");
  }
}

void propose_room(const Case& what, std::uint32_t semaphore, Proposals& out) {
  const ir::Program& program = what.program;
  const Uses uses = uses_of_semaphores(program)[semaphore];
  if (uses.posts.empty() || uses.waits.empty()) return;
  const ir::Semaphore& counted = program.semaphores[semaphore];
  ir::Semaphore room;
  room.site = program.programs[uses.posts.front().program.value()].site;
  for (const OpRef& at : uses.posts) {
    if (program.programs[at.program.value()].site != room.site) return;
  }
  const bool afar = std::any_of(uses.waits.begin(), uses.waits.end(), [&](const auto& waiter) {
    return program.programs[waiter.first].site.chip != room.site.chip;
  });
  if (const auto crossing = crossing_handoff(program); afar && crossing) room.handoff = *crossing;
  if (counted.initial > counted.maximum || !has_room(program, {}, room.site, out)) return;
  room.name = unused_name(program, {}, "repair.room");
  room.initial = counted.maximum - counted.initial;
  room.maximum = program.target.semaphore_maximum;
  out.tried.emplace_back("room that is waited for");
  const std::size_t number = program.semaphores.size();
  Edits edits{AddSemaphore{room}};
  for (const OpRef& at : uses.posts)
    edits.push_back(InsertOp{{at, false}, counting(OpCode::wait, number, what.op(at).count)});
  for (const auto& [waiter, all] : uses.waits) {
    for (const OpRef& at : all)
      edits.push_back(InsertOp{{at, true}, counting(OpCode::post, number, what.op(at).count)});
  }
  out.add(std::move(edits), "room that is waited for");
}

}  // namespace spatialcert::certify::repair
