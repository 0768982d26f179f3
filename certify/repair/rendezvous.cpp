// Boundaries: rendezvous that lack something, and open boundaries to be closed.
//
// The form is the composer's (docs/composition.md): everybody posts an arrival at the root, the
// root waits for all and posts the releases, everybody waits for its own. Which semaphores a
// rendezvous that is damaged was meant to use is read off what is left of it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "certify/repair/propose.hpp"

namespace spatialcert::certify::repair {
namespace {

using ir::OpCode;

constexpr std::uint32_t kNone = 0xffffffffU;
/// Boundaries that are mended, and closed, of those that come into question.
constexpr std::size_t kMostBoundaries = 4;

ir::Op counting(OpCode code, std::uint32_t semaphore, std::size_t count) {
  ir::Op op;
  op.code = code;
  op.object = semaphore;
  op.count = static_cast<std::int64_t>(count);
  return op;
}

bool same(const ir::Op& a, const ir::Op& b) {
  return a.code == b.code && a.object == b.object && a.count == b.count;
}

/// Semaphores of a rendezvous: of whom it releases, by engine program.
using Releases = std::map<std::uint32_t, std::uint32_t>;

class Rendezvous {
 public:
  Rendezvous(const ir::Program& program, Proposals& out) : program_(program), out_(out) {
    for (std::uint32_t p = 0; p < program.programs.size(); ++p) {
      if (!program.programs[p].ops.empty()) participants_.push_back(p);
    }
    for (const ir::Boundary& b : program.boundaries) {
      if (b.closed) closed_.push_back(b.after);
    }
    for (const std::uint32_t p : participants_) {
      of_site_[site(p)].push_back(p);
      for (const ir::Span& span : program.programs[p].spans) {
        if (!span.boundary.valid()) continue;
        const auto& from = program.programs[p].ops;
        auto& to = ops_[{program.boundaries[span.boundary.value()].after.value(), p}];
        to.insert(to.end(), from.begin() + span.begin, from.begin() + span.end);
      }
    }
    find_root();
    find_arrival();
  }

  [[nodiscard]] const std::vector<ir::SectionId>& closed() const { return closed_; }
  [[nodiscard]] bool is_closed(ir::SectionId after) const {
    return std::find(closed_.begin(), closed_.end(), after) != closed_.end();
  }

  /// What a closed boundary lacks of a rendezvous, in one of two readings of what is left of it:
  /// what is posted is right, and what stands amid a rendezvous belongs before it; or what is
  /// waited for, and behind it. Nothing if it lacks nothing, or cannot be told.
  [[nodiscard]] Edits mended(ir::SectionId after, bool first_reading) const {
    const auto releases = releases_of(after, first_reading);
    if (!releases) return {};
    return written(after, *releases, {}, !first_reading);
  }

  /// A whole rendezvous, with semaphores that are there as far as they can be used. Nothing, and an
  /// obstacle, if the target has no room for it.
  /// `one_of_two`: another one is closed with it.
  [[nodiscard]] Edits closing(ir::SectionId after, bool one_of_two = false) const {
    if (participants_.empty()) return {};
    Edits added;
    Rendezvous whole = *this;
    if (whole.arrival_ == kNone) {
      whole.root_ = participants_.front();
      const auto arrival = declared("arrival", site(whole.root_), participants_, added);
      if (!arrival) return {};
      whole.arrival_ = *arrival;
    }
    auto releases = whole.unused_colour(after);
    if (!releases)
      releases =
          fresh_releases(whole.root_, around() && neighbours(after).empty() && !one_of_two, added);
    if (!releases) return {};
    added.push_back(CloseBoundary{after});
    return whole.written(after, *releases, std::move(added));
  }

  /// The same rendezvous with releases of its own. Nothing if it shares none with its neighbours.
  [[nodiscard]] Edits recoloured(ir::SectionId after) const {
    const auto now = releases_of(after, true);
    if (!now || arrival_ == kNone) return {};
    std::set<std::uint32_t> beside;
    for (const ir::SectionId other : neighbours(after)) {
      if (const auto releases = releases_of(other, true)) {
        for (const auto& [p, r] : *releases) beside.insert(r);
      }
    }
    // Alone in a program that wraps around it is its own neighbour.
    const bool shares = (around() && closed_.size() == 1) ||
                        std::any_of(now->begin(), now->end(), [&](const auto& release) {
                          return beside.contains(release.second);
                        });
    if (!shares) return {};
    Edits added;
    const auto releases = fresh_releases(root_, around() && neighbours(after).empty(), added);
    return releases ? written(after, *releases, std::move(added)) : Edits{};
  }

 private:
  [[nodiscard]] bool around() const { return program_.execution == ir::Execution::persistent; }
  [[nodiscard]] const ir::Site& site(std::uint32_t p) const { return program_.programs[p].site; }
  [[nodiscard]] const ir::Site& place(std::uint32_t semaphore) const {
    return program_.semaphores[semaphore].site;
  }
  [[nodiscard]] const std::vector<ir::Op>& ops(std::uint32_t p, ir::SectionId after) const {
    static const std::vector<ir::Op> kNothing;
    const auto found = ops_.find({after.value(), p});
    return found == ops_.end() ? kNothing : found->second;
  }

  /// Who posts most.
  void find_root() {
    std::size_t most = 0;
    for (const std::uint32_t p : participants_) {
      std::size_t posts = 0;
      for (const ir::SectionId after : closed_) {
        for (const ir::Op& op : ops(p, after)) posts += op.code == OpCode::post ? 1 : 0;
      }
      if (posts > most) {
        most = posts;
        root_ = p;
      }
    }
  }
  /// What most engine programs post at the root.
  void find_arrival() {
    if (root_ == kNone) return;
    std::map<std::uint32_t, std::size_t> votes;
    for (const std::uint32_t p : participants_) {
      for (const ir::SectionId after : closed_) {
        std::set<std::uint32_t> posted;
        for (const ir::Op& op : ops(p, after)) {
          if (op.code == OpCode::post && place(op.object) == site(root_)) posted.insert(op.object);
        }
        for (const std::uint32_t s : posted) votes[s] += p == root_ ? 1 : 2;
      }
    }
    std::size_t most = 0;
    for (const auto& [s, count] : votes) {
      if (count > most) {
        most = count;
        arrival_ = s;
      }
    }
  }

  /// What everybody was meant to be released by.
  [[nodiscard]] std::optional<Releases> releases_of(ir::SectionId after, bool trust_posts) const {
    if (arrival_ == kNone) return std::nullopt;
    std::set<std::uint32_t> posted;
    for (const ir::Op& op : ops(root_, after)) {
      if (op.code == OpCode::post && op.object != arrival_) posted.insert(op.object);
    }
    Releases out;
    for (const std::uint32_t p : participants_) {
      std::map<std::uint32_t, std::size_t> votes;
      for (const std::uint32_t q : of_site_.at(site(p))) {
        for (const ir::Op& op : ops(q, after)) {
          if (op.code != OpCode::wait || op.object == arrival_) continue;
          votes[op.object] += 2;
          // What it waits for itself and what is posted: there is nothing wrong with that.
          if (p == q && posted.contains(op.object)) votes[op.object] += 1000;
        }
      }
      for (const std::uint32_t s : posted) {
        if (place(s) == site(p)) votes[s] += trust_posts ? 3 : 1;
      }
      std::size_t most = 0;
      for (const auto& [s, count] : votes) {
        if (count > most) {
          most = count;
          out[p] = s;
        }
      }
      if (most == 0) return std::nullopt;
    }
    return out;
  }

  /// Closed boundaries that come next before and after it.
  [[nodiscard]] std::vector<ir::SectionId> neighbours(ir::SectionId after) const {
    std::vector<ir::SectionId> before, behind;
    for (const ir::SectionId other : closed_) {
      if (other < after) before.push_back(other);
      if (after < other) behind.push_back(other);
    }
    std::vector<ir::SectionId> out;
    if (!before.empty()) out.push_back(before.back());
    if (!behind.empty()) out.push_back(behind.front());
    if (around() && before.empty() && !behind.empty()) out.push_back(behind.back());
    if (around() && behind.empty() && !before.empty()) out.push_back(before.front());
    return out;
  }

  /// Releases of another boundary that none of the neighbours uses.
  [[nodiscard]] std::optional<Releases> unused_colour(ir::SectionId after) const {
    std::set<std::uint32_t> taken;
    for (const ir::SectionId other : neighbours(after)) {
      const auto releases = releases_of(other, true);
      if (!releases) return std::nullopt;
      for (const auto& [p, r] : *releases) taken.insert(r);
    }
    for (const ir::SectionId other : closed_) {
      if (other == after) continue;
      const auto releases = releases_of(other, true);
      if (releases && std::none_of(releases->begin(), releases->end(), [&](const auto& release) {
            return taken.contains(release.second);
          }))
        return releases;
    }
    return std::nullopt;
  }

  /// One semaphore for every site; or, where no other rendezvous lies between this one and its next
  /// time, for every engine program, so that nobody can take a token of the one beside it.
  [[nodiscard]] std::optional<Releases> fresh_releases(std::uint32_t root, bool alone,
                                                       Edits& added) const {
    Releases out;
    std::map<ir::Site, std::uint32_t> of_site;
    for (const std::uint32_t p : participants_) {
      const auto known = of_site.find(site(p));
      if (!alone && known != of_site.end()) {
        out[p] = known->second;
        continue;
      }
      std::string name = fmt::format("release.{}.{}.{}", site(p).chip, site(p).x, site(p).y);
      if (alone) name += '.' + program_.target.engines[program_.programs[p].engine.value()];
      const auto release = declared(name, site(p), {root}, added);
      if (!release) return std::nullopt;
      out[p] = of_site[site(p)] = *release;
    }
    return out;
  }

  [[nodiscard]] std::optional<std::uint32_t> declared(const std::string& name, const ir::Site& at,
                                                      const std::vector<std::uint32_t>& posters,
                                                      Edits& added) const {
    ir::Semaphore semaphore;
    semaphore.site = at;
    semaphore.maximum = program_.target.semaphore_maximum;
    if (std::any_of(posters.begin(), posters.end(),
                    [&](std::uint32_t p) { return site(p).chip != at.chip; })) {
      const auto crossing = crossing_handoff(program_);
      if (!crossing) {
        out_.obstacle("the target has no hand-off that crosses chips");
        return std::nullopt;
      }
      semaphore.handoff = *crossing;
    }
    semaphore.name = unused_name(program_, added, "repair." + name);
    if (!has_room(program_, added, at, out_)) return std::nullopt;
    std::size_t before = 0;
    for (const Edit& edit : added) before += std::holds_alternative<AddSemaphore>(edit) ? 1 : 0;
    added.push_back(AddSemaphore{std::move(semaphore)});
    return static_cast<std::uint32_t>(program_.semaphores.size() + before);
  }

  /// Edits that make the ops of a boundary those of a rendezvous with these releases.
  /// Ops of others that stand amid them go behind them if that is said, and before them otherwise.
  [[nodiscard]] Edits written(ir::SectionId after, const Releases& releases, Edits edits,
                              bool others_behind = false) const {
    std::map<std::uint32_t, std::size_t> released;
    std::vector<std::uint32_t> order;  // of release posts: as the root has them, then the others
    for (const ir::Op& op : ops(root_, after)) {
      if (op.code == OpCode::post && op.object != arrival_) order.push_back(op.object);
    }
    for (const auto& [p, r] : releases) {
      ++released[r];
      order.push_back(r);
    }
    if (!can_count(arrival_, participants_.size(), edits)) return {};
    for (const auto& [r, count] : released) {
      if (!can_count(r, count, edits)) return {};
    }
    const std::size_t declarations = edits.size();
    for (const std::uint32_t p : participants_) {
      std::vector<ir::Op> whole{counting(OpCode::post, arrival_, 1)};
      if (p == root_) {
        whole.push_back(counting(OpCode::wait, arrival_, participants_.size()));
        std::set<std::uint32_t> done;
        for (const std::uint32_t r : order) {
          if (released.contains(r) && done.insert(r).second)
            whole.push_back(counting(OpCode::post, r, released.at(r)));
        }
      }
      whole.push_back(counting(OpCode::wait, releases.at(p), 1));
      const std::vector<ir::Op>& now = ops(p, after);
      if (std::equal(now.begin(), now.end(), whole.begin(), whole.end(), same)) continue;
      if (!foreign_moved(p, after, whole.size(), others_behind, edits)) return {};
      edits.push_back(BoundaryOps{after, ir::ProgramId(p), std::move(whole)});
    }
    strays_removed(edits);
    return edits.size() == declarations && declarations == 0 ? Edits{} : edits;
  }

  /// Lets the semaphore count so far: one that is there at least, a new one just that.
  [[nodiscard]] bool can_count(std::uint32_t semaphore, std::size_t count, Edits& edits) const {
    const auto needed = static_cast<std::int64_t>(count);
    if (needed > program_.target.semaphore_maximum) {
      out_.obstacle(fmt::format("{} take part in a rendezvous, and semaphores count to {}",
                                count_text(needed, "engine program"),
                                program_.target.semaphore_maximum));
      return false;
    }
    if (semaphore < program_.semaphores.size()) {
      if (program_.semaphores[semaphore].maximum < needed)
        edits.push_back(ChangeMaximum{ir::SemaphoreId(semaphore), needed});
      return true;
    }
    std::size_t number = program_.semaphores.size();
    for (Edit& edit : edits) {
      auto* const added = std::get_if<AddSemaphore>(&edit);
      if (added != nullptr && number++ == semaphore) added->semaphore.maximum = needed;
    }
    return true;
  }

  [[nodiscard]] bool is_own(const ir::Op& op) const {
    if (op.code != OpCode::post && op.code != OpCode::wait) return false;
    return own().contains(op.object);
  }
  /// Semaphores of rendezvous.
  [[nodiscard]] const std::set<std::uint32_t>& own() const {
    if (!own_) {
      own_.emplace();
      if (arrival_ != kNone) own_->insert(arrival_);
      for (const ir::SectionId after : closed_) {
        if (const auto releases = releases_of(after, true)) {
          for (const auto& [p, r] : *releases) own_->insert(r);
        }
      }
    }
    return *own_;
  }

  /// Ops that an engine program does at a boundary and that are no part of a rendezvous, of `whole`
  /// ops, go to the sections beside it.
  [[nodiscard]] bool foreign_moved(std::uint32_t p, ir::SectionId after, std::size_t whole,
                                   bool amid_behind, Edits& edits) const {
    const ir::EngineProgram& one = program_.programs[p];
    // One op of the rendezvous too few: one that uses a semaphore that it was not meant to use.
    const std::vector<ir::Op>& now = ops(p, after);
    const auto there =
        std::count_if(now.begin(), now.end(), [&](const ir::Op& o) { return is_own(o); });
    const bool misdirected = static_cast<std::size_t>(there) + strays(p) < whole;
    for (const ir::Span& span : one.spans) {
      if (!span.boundary.valid() || program_.boundaries[span.boundary.value()].after != after)
        continue;
      for (std::uint32_t i = span.begin; i < span.end; ++i) {
        const ir::Op& op = one.ops[i];
        if (op.code == OpCode::repeat || op.code == OpCode::run) return false;
        if (is_own(op)) continue;
        if (misdirected &&
            (op.code == OpCode::post || op.code == OpCode::wait || op.code == OpCode::await))
          continue;
        // Before the rendezvous, unless it stands behind all of it; as far as there is something.
        const bool first = span.begin == 0, last = span.end == one.ops.size();
        if (first && last) return false;
        const auto from = one.ops.begin();
        const auto own_op = [&](const ir::Op& o) { return is_own(o); };
        const bool amid = std::any_of(from + span.begin, from + i, own_op) && amid_behind;
        const bool behind = amid || std::none_of(from + i, from + span.end, own_op);
        const bool after_it = first || (behind && !last);
        std::uint32_t anchor = span.end;
        for (std::uint32_t j = 0; !after_it && j < span.begin; j += 1 + one.ops[j].body) anchor = j;
        edits.push_back(InsertOp{{{ir::ProgramId(p), anchor}, !after_it}, op});
      }
    }
    return true;
  }
  [[nodiscard]] std::size_t strays(std::uint32_t p) const {
    std::size_t count = 0;
    const ir::EngineProgram& one = program_.programs[p];
    for (const ir::Span& span : one.spans) {
      for (std::uint32_t i = span.begin; span.section.valid() && i < span.end; ++i)
        count += is_own(one.ops[i]) ? 1 : 0;
    }
    return count;
  }
  /// Sections do not use semaphores of rendezvous.
  void strays_removed(Edits& edits) const {
    for (std::uint32_t p = 0; p < program_.programs.size(); ++p) {
      const ir::EngineProgram& one = program_.programs[p];
      for (const ir::Span& span : one.spans) {
        for (std::uint32_t i = span.begin; span.section.valid() && i < span.end; ++i) {
          if (is_own(one.ops[i])) edits.push_back(RemoveOp{{ir::ProgramId(p), i}});
        }
      }
    }
  }

  const ir::Program& program_;
  Proposals& out_;
  std::vector<std::uint32_t> participants_;
  std::vector<ir::SectionId> closed_;
  std::map<ir::Site, std::vector<std::uint32_t>> of_site_;  ///< participants
  /// What they do at closed boundaries: by the section before it and the engine program.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<ir::Op>> ops_;
  std::uint32_t root_ = kNone;
  std::uint32_t arrival_ = kNone;
  mutable std::optional<std::set<std::uint32_t>> own_;
};

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
