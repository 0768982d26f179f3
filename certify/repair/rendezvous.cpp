// Boundaries: rendezvous that lack something, and open boundaries to be closed.
//
// The form is the composer's (docs/composition.md): everybody posts an arrival at the root, the
// root waits for all and posts the releases, everybody waits for its own. Which semaphores a
// rendezvous that is damaged was meant to use is read off what is left of it.
#include "certify/repair/rendezvous.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spatialcert::certify::repair {
namespace {

using ir::OpCode;

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

}  // namespace

Rendezvous::Rendezvous(const ir::Program& program, Proposals& out) : program_(program), out_(out) {
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

bool Rendezvous::is_closed(ir::SectionId after) const {
  return std::find(closed_.begin(), closed_.end(), after) != closed_.end();
}

Edits Rendezvous::mended(ir::SectionId after, bool first_reading) const {
  const auto releases = releases_of(after, first_reading);
  if (!releases) return {};
  return written(after, *releases, {}, !first_reading);
}

Edits Rendezvous::closing(ir::SectionId after, bool one_of_two) const {
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

Edits Rendezvous::recoloured(ir::SectionId after) const {
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

const ir::Site& Rendezvous::place(std::uint32_t semaphore) const {
  return program_.semaphores[semaphore].site;
}

const std::vector<ir::Op>& Rendezvous::ops(std::uint32_t p, ir::SectionId after) const {
  static const std::vector<ir::Op> kNothing;
  const auto found = ops_.find({after.value(), p});
  return found == ops_.end() ? kNothing : found->second;
}

void Rendezvous::find_root() {
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

void Rendezvous::find_arrival() {
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

std::optional<Releases> Rendezvous::releases_of(ir::SectionId after, bool trust_posts) const {
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

std::vector<ir::SectionId> Rendezvous::neighbours(ir::SectionId after) const {
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

std::optional<Releases> Rendezvous::unused_colour(ir::SectionId after) const {
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

std::optional<Releases> Rendezvous::fresh_releases(std::uint32_t root, bool alone,
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

std::optional<std::uint32_t> Rendezvous::declared(const std::string& name, const ir::Site& at,
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

Edits Rendezvous::written(ir::SectionId after, const Releases& releases, Edits edits,
                          bool others_behind) const {
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

bool Rendezvous::can_count(std::uint32_t semaphore, std::size_t count, Edits& edits) const {
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

bool Rendezvous::is_own(const ir::Op& op) const {
  if (op.code != OpCode::post && op.code != OpCode::wait) return false;
  return own().contains(op.object);
}

const std::set<std::uint32_t>& Rendezvous::own() const {
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

bool Rendezvous::foreign_moved(std::uint32_t p, ir::SectionId after, std::size_t whole,
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

std::size_t Rendezvous::strays(std::uint32_t p) const {
  std::size_t count = 0;
  const ir::EngineProgram& one = program_.programs[p];
  for (const ir::Span& span : one.spans) {
    for (std::uint32_t i = span.begin; span.section.valid() && i < span.end; ++i)
      count += is_own(one.ops[i]) ? 1 : 0;
  }
  return count;
}

void Rendezvous::strays_removed(Edits& edits) const {
  for (std::uint32_t p = 0; p < program_.programs.size(); ++p) {
    const ir::EngineProgram& one = program_.programs[p];
    for (const ir::Span& span : one.spans) {
      for (std::uint32_t i = span.begin; span.section.valid() && i < span.end; ++i) {
        if (is_own(one.ops[i])) edits.push_back(RemoveOp{{ir::ProgramId(p), i}});
      }
    }
  }
}

}  // namespace spatialcert::certify::repair
