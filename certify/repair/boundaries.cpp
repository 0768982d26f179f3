// Boundaries: which of them a counterexample is about, to be made whole or to be closed.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "certify/repair/rendezvous.hpp"

namespace spatialcert::certify::repair {
namespace {

/// Boundaries that are mended, and closed, of those that come into question.
constexpr std::size_t kMostBoundaries = 4;

/// All op instances that a counterexample names.
std::vector<ir::TransitionId> transitions_of(const proofs::Counterexample& c) {
  std::vector<ir::TransitionId> out = c.ops;
  for (const auto& access : c.accesses) out.push_back(access.transition);
  for (const auto& link : c.chain) {
    out.push_back(link.waiter);
    if (link.supplier.valid()) out.push_back(link.supplier);
  }
  if (c.transition.valid()) out.push_back(c.transition);
  return out;
}

const ir::Span* span_of(const Case& what, ir::TransitionId t) {
  const OpRef at = what.op_of(t);
  for (const ir::Span& span : what.program.programs[at.program.value()].spans) {
    if (span.begin <= at.op && at.op < span.end) return &span;
  }
  return nullptr;
}

/// Sections after which a boundary lies between two op instances, those next to them first.
std::vector<ir::SectionId> between(const Case& what, ir::TransitionId a, ir::TransitionId b) {
  const ir::Span* first = span_of(what, a);
  const ir::Span* second = span_of(what, b);
  if (first == nullptr || second == nullptr || !first->section.valid() || !second->section.valid())
    return {};
  const auto& u = what.names.unrolled();
  auto from = first->section.value(), to = second->section.value();
  auto early = u.iteration(a), late = u.iteration(b);
  if (std::pair(late, to) < std::pair(early, from)) {
    std::swap(from, to);
    std::swap(early, late);
  }
  if (early == late && from == to) return {};
  std::vector<ir::SectionId> out;
  const auto add = [&](std::uint32_t section) {
    const ir::SectionId id(section);
    if (out.size() < kMostBoundaries && std::find(out.begin(), out.end(), id) == out.end())
      out.push_back(id);
  };
  const auto last = static_cast<std::uint32_t>(what.program.sections.size() - 1);
  if (early == late) {
    if (from < to) add(to - 1);
    for (std::uint32_t s = from; s < to; ++s) add(s);
  }
  // They may be of one phase by what wraps around.
  if (what.program.execution == ir::Execution::persistent) {
    if (to > 0 && early < late) add(to - 1);
    add(last);
    if (early < late) add(from);
  }
  return out;
}

}  // namespace

void propose_rendezvous(const Case& what, Proposals& out) {
  const Rendezvous rendezvous(what.program, out);
  if (rendezvous.closed().empty()) return;
  out.tried.emplace_back("a rendezvous made whole");
  std::set<ir::SectionId> near;
  for (const ir::TransitionId t : transitions_of(what.counterexample)) {
    const ir::Span* span = span_of(what, t);
    if (span != nullptr && span->boundary.valid())
      near.insert(what.program.boundaries[span->boundary.value()].after);
  }
  if (what.counterexample.kind == proofs::Kind::slip_through &&
      what.counterexample.index < what.program.boundaries.size())
    near.insert(what.program.boundaries[what.counterexample.index].after);
  // Where all are of another form than the composer's, those that the counterexample is about.
  std::vector<std::pair<ir::SectionId, Edits>> found;
  for (const ir::SectionId after : rendezvous.closed()) {
    for (const bool first_reading : {true, false}) {
      if (Edits edits = rendezvous.mended(after, first_reading); !edits.empty())
        found.emplace_back(after, std::move(edits));
    }
  }
  const bool many = found.size() > 2 * kMostBoundaries;
  for (auto& [after, edits] : found) {
    if (!many || near.contains(after)) out.add(std::move(edits), "a rendezvous made whole");
  }
  for (const ir::SectionId after : near) {
    if (!rendezvous.is_closed(after)) continue;
    if (Edits edits = rendezvous.recoloured(after); !edits.empty())
      out.add(std::move(edits), "release semaphores that no neighbouring rendezvous uses");
    if (Edits edits = rendezvous.closing(after); !edits.empty())
      out.add(std::move(edits), "a rendezvous written anew");
  }
}

void propose_closing(const Case& what, Proposals& out) {
  const auto& c = what.counterexample;
  std::vector<ir::TransitionId> two = c.ops;
  for (const auto& access : c.accesses) two.push_back(access.transition);
  if (two.size() < 2) return;
  propose_closing(what, two[0], two[1], out);
}

void propose_closing_any(const Case& what, Proposals& out) {
  const Rendezvous rendezvous(what.program, out);
  std::size_t count = 0;
  const auto sections = static_cast<std::uint32_t>(what.program.sections.size());
  const bool around = what.program.execution == ir::Execution::persistent;
  for (std::uint32_t s = 0; s + (around ? 0 : 1) < sections && count < kMostBoundaries; ++s) {
    if (rendezvous.is_closed(ir::SectionId(s))) continue;
    if (count++ == 0) out.tried.emplace_back("a boundary closed");
    out.add(rendezvous.closing(ir::SectionId(s)), "a boundary closed");
  }
}

void propose_closing(const Case& what, ir::TransitionId a, ir::TransitionId b, Proposals& out) {
  const Rendezvous rendezvous(what.program, out);
  bool tried = false;
  for (const ir::SectionId after : between(what, a, b)) {
    if (rendezvous.is_closed(after)) continue;
    if (!std::exchange(tried, true)) out.tried.emplace_back("a boundary closed");
    if (Edits edits = rendezvous.closing(after); !edits.empty())
      out.add(std::move(edits), "a boundary closed");
  }
  // Where the last boundary of an iteration is open the last sections run beside the first ones of
  // the next, so that one boundary alone ends no phase.
  const ir::SectionId last(what.program.sections.size() - 1);
  if (what.program.execution != ir::Execution::persistent || rendezvous.is_closed(last)) return;
  for (const ir::SectionId after : between(what, a, b)) {
    if (after == last || rendezvous.is_closed(after)) continue;
    Edits both = rendezvous.closing(after, true);
    const auto with_one = edited(what.program, both);
    if (both.empty() || !with_one) continue;
    const Edits second = Rendezvous(*with_one, out).closing(last);
    // New semaphores of the second stand behind those of the first; ops have other numbers.
    if (second.empty() || std::any_of(second.begin(), second.end(),
                                      [](const Edit& e) { return place_of(e).has_value(); }))
      continue;
    both.insert(both.end(), second.begin(), second.end());
    out.add(std::move(both), "two boundaries closed");
  }
}

}  // namespace spatialcert::certify::repair
