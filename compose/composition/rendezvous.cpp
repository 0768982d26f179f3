#include "compose/composition/rendezvous.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "compose/composition/text.hpp"
#include "ir/require.hpp"

namespace spatialcert::compose {
namespace {

ir::HandoffId crossing_handoff(const ir::Target& target) {
  for (std::uint32_t h = 0; h < target.handoffs.size(); ++h) {
    if (target.handoffs[h].crosses_chips) return ir::HandoffId(h);
  }
  return {};
}

class Declaration {
 public:
  Declaration(ir::Program& program, std::vector<std::uint32_t> participants, std::uint32_t colours)
      : program_(program), colours_(colours) {
    result_.participants = std::move(participants);
    for (const ir::Semaphore& semaphore : program.semaphores) ++on_site_[semaphore.site];
  }

  Rendezvous run() {
    for (const std::uint32_t p : result_.participants) {
      const ir::Site site = program_.programs[p].site;
      if (result_.sites.empty() || result_.sites.back().site != site)
        result_.sites.push_back({site, 0, {}});
      ++result_.sites.back().programs;
    }
    check();
    const ir::Site root = result_.sites.front().site;
    const bool from_afar = result_.sites.back().site.chip != root.chip;  // sites are in order
    result_.arrival = declare("rendezvous.arrival", root, result_.participants.size(), from_afar);
    for (std::uint32_t colour = 0; colour < colours_; ++colour) {
      for (Rendezvous::At& at : result_.sites) {
        at.releases.push_back(
            declare(fmt::format("rendezvous.release.{}.{}", colour, text_of(at.site)), at.site,
                    at.programs, at.site.chip != root.chip));
      }
    }
    return std::move(result_);
  }

 private:
  void check() const {
    const ir::Target& target = program_.target;
    const std::size_t arrivals = result_.participants.size();
    const auto most =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, target.semaphore_maximum));
    const ir::Site root = result_.sites.front().site;
    for (const Rendezvous::At& at : result_.sites) {
      if (most < at.programs) {
        throw Refused{
            RefusalReason::release_maximum,
            fmt::format("{} engine programs of {} are released at once, where a semaphore "
                        "of \"{}\" counts to {}",
                        at.programs, text_of(at.site), target.name, target.semaphore_maximum),
            "use fewer engine programs on the site, or close no boundary"};
      }
    }
    if (most < arrivals) {
      throw Refused{
          RefusalReason::arrival_maximum,
          fmt::format("{} engine programs arrive at {}, where a semaphore of \"{}\" counts "
                      "to {}",
                      arrivals, text_of(root), target.name, target.semaphore_maximum),
          "use fewer engine programs, or close no boundary"};
    }
    for (const Rendezvous::At& at : result_.sites)
      check_room(at.site, colours_ + (at.site == root ? 1 : 0));
    const auto afar = std::find_if(result_.sites.begin(), result_.sites.end(),
                                   [&](const auto& at) { return at.site.chip != root.chip; });
    if (afar != result_.sites.end() && !crossing_handoff(target).valid()) {
      throw Refused{RefusalReason::no_crossing_handoff,
                    fmt::format("{} and {} take part in a rendezvous and no hand-off of \"{}\" "
                                "crosses chips",
                                text_of(root), text_of(afar->site), target.name),
                    "declare a hand-off that crosses chips, or compose the chips separately"};
    }
  }

  void check_room(const ir::Site& site, std::uint32_t needed) const {
    const auto found = on_site_.find(site);
    const std::uint64_t there = found == on_site_.end() ? 0 : found->second;
    const std::uint32_t per_site = program_.target.semaphores_per_site;
    if (there + needed <= per_site) return;
    throw Refused{
        RefusalReason::semaphores_exhausted,
        fmt::format("{} has {} semaphores, of which the sections use {} and a rendezvous "
                    "needs {}",
                    text_of(site), per_site, there, needed),
        "free semaphores of the site, or close fewer boundaries (an even number needs one "
        "less)"};
  }

  ir::SemaphoreId declare(std::string name, const ir::Site& site, std::size_t maximum, bool afar) {
    ir::Semaphore& semaphore = program_.semaphores.emplace_back();
    semaphore.name = std::move(name);
    semaphore.site = site;
    semaphore.maximum = static_cast<std::int64_t>(maximum);
    if (afar) semaphore.handoff = crossing_handoff(program_.target);
    return ir::SemaphoreId(program_.semaphores.size() - 1);
  }

  ir::Program& program_;
  std::uint32_t colours_;
  Rendezvous result_;
  std::map<ir::Site, std::uint64_t> on_site_;
};

ir::Op counting(ir::OpCode code, ir::SemaphoreId semaphore, std::size_t count) {
  ir::Op op;
  op.code = code;
  op.object = semaphore.value();
  op.count = static_cast<std::int64_t>(count);
  return op;
}

void check_names(const ir::Program& program, std::size_t first_new) {
  std::unordered_set<std::string_view> fresh;
  for (std::size_t s = first_new; s < program.semaphores.size(); ++s)
    fresh.insert(program.semaphores[s].name);
  for (std::size_t s = 0; s < first_new; ++s) {
    if (fresh.count(program.semaphores[s].name) == 0) continue;
    throw Refused{RefusalReason::name_clash,
                  fmt::format("semaphore \"{}\" has the name of a semaphore of a rendezvous",
                              program.semaphores[s].name),
                  "rename it: names that begin with \"rendezvous.\" are the composer's"};
  }
}

}  // namespace

std::uint32_t colours_for(std::uint32_t boundaries) {
  if (boundaries <= 1) return boundaries;
  return boundaries % 2 == 0 ? 2 : 3;
}

std::uint32_t colour_of(std::uint32_t boundary, std::uint32_t boundaries) {
  const bool odd_one_out = boundaries > 1 && boundaries % 2 == 1 && boundary + 1 == boundaries;
  return odd_one_out ? 2 : boundary % 2;
}

Outcome<Rendezvous> declare_rendezvous(ir::Program& program,
                                       std::vector<std::uint32_t> participants,
                                       std::uint32_t colours) {
  SPATIALCERT_REQUIRE(!participants.empty(), "a rendezvous has participants");
  SPATIALCERT_REQUIRE(std::is_sorted(participants.begin(), participants.end()),
                      "participants are in order");
  const std::size_t before = program.semaphores.size();
  try {
    Rendezvous result = Declaration(program, std::move(participants), colours).run();
    check_names(program, before);
    return result;
  } catch (Refused& refused) {
    program.semaphores.resize(before);
    return std::move(refused);
  }
}

void append_rendezvous(ir::Program& program, const Rendezvous& rendezvous, ir::BoundaryId boundary,
                       std::uint32_t colour) {
  std::size_t site = 0;
  for (std::size_t i = 0; i < rendezvous.participants.size(); ++i) {
    ir::EngineProgram& one = program.programs[rendezvous.participants[i]];
    while (rendezvous.sites[site].site != one.site) ++site;
    const auto begin = static_cast<std::uint32_t>(one.ops.size());
    one.ops.push_back(counting(ir::OpCode::post, rendezvous.arrival, 1));
    if (i == 0) {
      one.ops.push_back(
          counting(ir::OpCode::wait, rendezvous.arrival, rendezvous.participants.size()));
      for (const Rendezvous::At& at : rendezvous.sites)
        one.ops.push_back(counting(ir::OpCode::post, at.releases.at(colour), at.programs));
    }
    one.ops.push_back(counting(ir::OpCode::wait, rendezvous.sites[site].releases.at(colour), 1));
    one.spans.push_back(
        {ir::SectionId(), boundary, begin, static_cast<std::uint32_t>(one.ops.size())});
  }
}

}  // namespace spatialcert::compose
