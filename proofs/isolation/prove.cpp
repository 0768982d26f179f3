#include <fmt/format.h>

#include <algorithm>

#include "proofs/counterexample.hpp"
#include "proofs/isolation/apart.hpp"
#include "proofs/isolation/rule.hpp"

namespace spatialcert::proofs::isolation {
namespace {

/// The line of all counters, after the storages.
constexpr std::uint32_t kCounters = 0xffffffffU;

std::vector<Interval> intervals_of(const Subject& subject) {
  const ir::Program& program = *subject.program;
  const ir::Counters counters(program);
  const auto& accesses = subject.accesses.accesses;
  std::vector<Interval> out;
  for (const Part& part : parts_of(program, subject.one)) {
    if (part.begin == part.end) continue;
    const std::uint32_t p = subject.one.program[part.begin];
    const std::uint32_t shift = subject.stretch.begin[p] - subject.one.begin[p];
    auto at = std::lower_bound(
        accesses.begin(), accesses.end(), part.begin + shift,
        [](const ir::ResolvedAccess& a, std::uint32_t t) { return a.transition.value() < t; });
    for (; at != accesses.end() && at->transition.value() < part.end + shift; ++at) {
      if (subject.accesses.storages[at->storage].kind == ir::Storage::Kind::fifo) continue;
      out.push_back({part.phase, at->storage, part.unit, at->write, at->low, at->high});
    }
    for (std::uint32_t t = part.begin; t < part.end; ++t) {
      const ir::Op& op = subject.one.op_of(program, ir::TransitionId(t));
      if (const auto c = counter_of(counters, op)) {
        out.push_back({part.phase, kCounters, part.unit, op.code != ir::OpCode::await, c->value(),
                       std::uint64_t{c->value()} + 1});
      }
    }
  }
  return out;
}

Search<Witness> refute(const Subject& subject) {
  const Sharing found = sharing(*subject.program, subject.one, subject.stretch, subject.accesses);
  if (!found.first) return Unknown{"the solver claims something shared that is not there"};
  Counterexample c;
  c.kind = Kind::interference;
  if (found.first->counter) {
    c.counter = *found.first->counter;
    c.ops = {found.first->first, found.first->second};
  } else {
    const auto& map = subject.accesses;
    const ir::Segment& segment = map.segments[found.first->segment];
    c.accesses = {{found.first->first, map.accesses[found.first->first_access].access},
                  {found.first->second, map.accesses[found.first->second_access].access}};
    c.range = LocationRange{map.storages[segment.storage], segment.low, segment.high};
  }
  if (std::holds_alternative<Reproduced>(replay(*subject.program, c))) return Refuted{std::move(c)};
  return Unknown{"sections of one phase share something, but it could not be recomputed"};
}

}  // namespace

Search<Witness> prove(const Subject& subject, smt::Session& session) {
  if (subject.accesses.limit)
    return Unknown{"the accesses of the program exceed the limit of the analysis"};
  const auto answer = ask_apart(intervals_of(subject), session);
  if (!answer) return Proved<Witness>{};
  if (const auto* undecided = std::get_if<smt::Undecided>(&*answer))
    return Unknown{undecided->reason};
  return refute(subject);
}

}  // namespace spatialcert::proofs::isolation
