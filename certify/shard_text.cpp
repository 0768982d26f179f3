// A chip's own data on the spine: op by op how they got there, and which chips were left out.
#include <fmt/format.h>

#include "certify/narrative.hpp"

namespace spatialcert::certify {
namespace {

using proofs::AccessRef;
using proofs::Counterexample;
using proofs::Kind;

constexpr std::size_t kMostChipsNamed = 8;

std::string region_of(const OpNames& names, const AccessRef& ref) {
  return region_text(names.program(), names.program().accesses[ref.access].region);
}

/// `chip 1`, whose tensor is touched; `nobody` if the access is of none, which no replay confirms.
std::string owner_of(const OpNames& names, const AccessRef& ref) {
  const ir::Program& program = names.program();
  const ir::Region& region = program.accesses[ref.access].region;
  if (region.kind != ir::RegionKind::tensor || !program.tensors[region.object].owner)
    return "nobody";
  return fmt::format("chip {}", *program.tensors[region.object].owner);
}

std::string access_line(const OpNames& names, const AccessRef& ref) {
  const bool write = names.program().accesses[ref.access].write;
  return fmt::format("  {}, {}, {} {}", names.engine(ref.transition),
                     names.placed_op(ref.transition), write ? "writes" : "reads",
                     region_of(names, ref));
}

/// Without a schedule: accesses that stand on the wrong chip.
void misplaced_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  if (c.accesses.size() == 1) {
    out.push_back(fmt::format("leak: {} belongs to {}, but another chip touches it",
                              region_of(names, c.accesses[0]), owner_of(names, c.accesses[0])));
  } else {
    out.push_back(
        fmt::format("leak: two chips touch {}, but no hand-off of the target crosses chips",
                    region_of(names, c.accesses[0])));
  }
  for (const AccessRef& ref : c.accesses) out.push_back(access_line(names, ref));
  if (c.accesses.size() == 1) {
    out.push_back(
        "remedy: hand the data over through a FIFO, or with a copy stage on a target with a "
        "hand-off that crosses chips");
  }
}

void path_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  std::vector<WayStep> way;
  for (std::size_t i = 0; i + 1 < c.accesses.size(); i += 2) {
    const AccessRef& read = c.accesses[i];
    way.push_back({read.transition, fmt::format("reads {}{}, writes {}", region_of(names, read),
                                                i == 0 ? ", that chip's own data" : "",
                                                region_of(names, c.accesses[i + 1]))});
  }
  way_lines(names, way, out);
}

/// The chips whose data are in the content `times` times; nothing if there are none.
std::string chips(const Counterexample& c, std::int64_t times) {
  std::string out;
  std::size_t count = 0;
  for (const proofs::TermDifference& term : c.terms) {
    if (term.found != times) continue;
    if (count++ < kMostChipsNamed) out += (out.empty() ? "" : ", ") + term.source;
  }
  if (count > kMostChipsNamed) out += fmt::format(" and {} more", count - kMostChipsNamed);
  return out;
}

}  // namespace

void shard_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  if (c.accesses.empty()) return;
  if (c.schedules.empty()) return misplaced_lines(names, c, out);
  const std::string once = chips(c, 1), twice = chips(c, 2), never = chips(c, 0);
  switch (c.kind) {
    case Kind::missing_chip:
      out.push_back(
          "missing chip: data of some chips reach the spine through an all-reduce that left others "
          "out");
      break;
    case Kind::double_contribution:
      out.push_back("double contribution: an all-reduce takes a chip's data twice");
      break;
    default:
      out.push_back(
          "leak: a chip's own data reach the spine without an all-reduce over every chip");
      break;
  }
  path_lines(names, c, out);
  if (c.range)
    out.push_back("  on the spine: " +
                  ir::describe(names.program(), c.range->storage, c.range->low, c.range->high));
  if (!once.empty()) out.push_back("  it derives from the data of " + once);
  if (!twice.empty()) out.push_back("  it contains twice the data of " + twice);
  if (!never.empty()) out.push_back("  never joined: " + never);
  out.push_back("  seen " + after_steps(c.schedules[0]));
}

}  // namespace spatialcert::certify
