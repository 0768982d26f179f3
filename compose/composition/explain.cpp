#include "compose/composition/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <vector>

#include "compose/composition/phase_memory.hpp"
#include "compose/composition/text.hpp"
#include "ir/sections.hpp"

namespace spatialcert::compose {
namespace {

std::string counted(std::uint64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::vector<std::set<std::uint32_t>> chips_of_sections(const ir::Program& program) {
  std::vector<std::set<std::uint32_t>> chips(program.sections.size());
  for (const ir::EngineProgram& one : program.programs) {
    for (const ir::Span& span : one.spans) {
      if (span.section.valid()) chips[span.section.value()].insert(one.site.chip);
    }
  }
  return chips;
}

std::string phases_text(const ir::Program& program) {
  const ir::Phases phases = ir::phases_of(program);
  const auto& in_order = phases.in_order;
  const auto chips = chips_of_sections(program);
  std::string text;
  for (std::uint32_t s = 0; s < program.sections.size(); ++s) {
    const std::uint32_t phase = in_order[s];
    if (s == 0 || phase != in_order[s - 1]) {
      const bool wraps = phases.of[s] != phase;
      text += fmt::format("  phase {}{}:\n", phase + 1,
                          wraps ? " (with phase 1, around the open wrap)" : "");
    }
    const ir::Section& section = program.sections[s];
    text += fmt::format("    section \"{}\", number {} in the source, chip{} {}\n", section.name,
                        section.source_index + 1, chips[s].size() == 1 ? "" : "s",
                        fmt::join(chips[s], ", "));
  }
  return text;
}

std::string rendezvous_text(const Composed& composed) {
  if (!composed.rendezvous) return "  no rendezvous\n";
  const Rendezvous& rendezvous = *composed.rendezvous;
  const std::uint64_t each = rendezvous.ops();
  return fmt::format(
      "  {} rendezvous of P = {} engine programs on S = {} sites: 2 P + S + 1 = {} ops each, {} "
      "together; "
      "{} of release semaphores\n",
      composed.rendezvous_count, rendezvous.participants.size(), rendezvous.sites.size(), each,
      each * composed.rendezvous_count,
      counted(rendezvous.sites.front().releases.size(), "colour"));
}

/// Sites that use the same are one line.
std::string memory_text(const ir::Program& program) {
  std::map<std::pair<ir::SpaceId, std::uint64_t>, std::vector<ir::Site>> classes;
  for (const MemoryUse& use : memory_use(program))
    classes[{use.space, use.bytes}].push_back(use.site);
  std::string text;
  for (const auto& [use, sites] : classes) {
    const ir::MemorySpace& space = program.target.spaces[use.first.value()];
    text += fmt::format(
        "  {}: {} of {} bytes on {}{}\n", space.name, use.second, space.bytes,
        text_of(sites.front()),
        sites.size() == 1 ? "" : fmt::format(" and {}", counted(sites.size() - 1, "other site")));
  }
  return text;
}

}  // namespace

std::string explain(const Composed& composed) {
  const ir::Program& program = composed.program;
  std::string text = fmt::format(
      "{}: {} in {}, {} on {}, {}\n", program.name, counted(program.sections.size(), "section"),
      counted(ir::phases_of(program).in_order.back() + std::uint64_t{1}, "phase"),
      counted(program.programs.size(), "engine program"), program.target.name,
      counted(ir::op_count(program), "op"));
  text += phases_text(program) + rendezvous_text(composed) + memory_text(program);
  for (const std::string& note : composed.notes) text += fmt::format("  note: {}\n", note);
  return text;
}

}  // namespace spatialcert::compose
