#include "compose/composition/composer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compose/composition/assembly.hpp"
#include "compose/composition/checks.hpp"
#include "compose/composition/instance.hpp"

namespace spatialcert::compose {
namespace {

void check_phases(const PhaseOrder& phases, std::size_t sections) {
  std::vector<bool> seen(sections, false);
  bool good = phases.order.size() == sections && phases.barrier_after.size() == sections;
  for (const std::uint32_t s : phases.order) {
    good = good && s < sections && !seen[s];
    if (good) seen[s] = true;
  }
  if (good) return;
  throw Refused{RefusalReason::bad_barriers,
                fmt::format("there are {} sections, an order of {} and {} boundaries", sections,
                            phases.order.size(), phases.barrier_after.size()),
                "name every section once, and one boundary after each"};
}

// A release that is given again before all have taken it is the fault that colours prevent; where
// one rendezvous is its own neighbour, around the wrap, two rounds make two of it.
bool meets_itself(const PhaseOrder& phases, const ComposeOptions& options) {
  return options.execution == ir::Execution::persistent &&
         std::count(phases.barrier_after.begin(), phases.barrier_after.end(), true) == 1;
}

void double_rounds(std::vector<ir::Program>& sections, PhaseOrder& phases) {
  const std::size_t once = sections.size();
  sections.reserve(2 * once);
  for (std::size_t s = 0; s < once; ++s) {
    sections.push_back(sections[s]);
    rename_section(sections.back(), sections[s].sections.front().name + " (round 2)");
    sections[s].postconditions.clear();  // what finally holds, the second round leaves
  }
  for (std::size_t i = 0; i < once; ++i) {
    phases.order.push_back(phases.order[i] + static_cast<std::uint32_t>(once));
    phases.barrier_after.push_back(phases.barrier_after[i]);
  }
}

PhaseOrder in_source_order(std::size_t sections, std::vector<bool> barrier_after) {
  PhaseOrder phases{{}, std::move(barrier_after)};
  for (std::uint32_t s = 0; s < sections; ++s) phases.order.push_back(s);
  return phases;
}

}  // namespace

Outcome<Composed> compose(const std::vector<ir::Program>& sections, const Placement& placement,
                          const ComposeOptions& options) {
  std::vector<bool> barrier_after(sections.size(), true);
  if (!sections.empty()) barrier_after.back() = options.execution == ir::Execution::persistent;
  return compose_phased(sections, barrier_after, placement, options);
}

Outcome<Composed> compose_phased(const std::vector<ir::Program>& sections,
                                 const std::vector<bool>& barrier_after, const Placement& placement,
                                 const ComposeOptions& options) {
  return compose_ordered(sections, in_source_order(sections.size(), barrier_after), placement,
                         options);
}

Outcome<Composed> compose_ordered(const std::vector<ir::Program>& sections,
                                  const PhaseOrder& phases, const Placement& placement,
                                  const ComposeOptions& options) {
  try {
    check_sections(sections, options);
    check_phases(phases, sections.size());
    std::vector<Offset> offsets = take(place_sections(sections, placement));
    if (!meets_itself(phases, options)) return assemble(sections, phases, offsets, options);
    std::vector<ir::Program> rounds = sections;
    PhaseOrder both = phases;
    double_rounds(rounds, both);
    check_section_names(rounds);
    offsets.insert(offsets.end(), offsets.begin(),
                   offsets.begin() + static_cast<std::ptrdiff_t>(sections.size()));
    return assemble(rounds, both, offsets, options);
  } catch (Refused& refused) {
    return std::move(refused);
  }
}

PhaseOrder phases_of(const std::vector<ir::Program>& sections) {
  TouchNames names;
  std::vector<Touches> touches;
  for (const ir::Program& section : sections) touches.push_back(touches_of(section, names));
  return phase_order(touches);
}

}  // namespace spatialcert::compose
