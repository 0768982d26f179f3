#include "compose/composition/checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <unordered_map>

#include "compose/composition/initial_contents.hpp"
#include "compose/composition/text.hpp"
#include "ir/validate.hpp"

namespace spatialcert::compose {
namespace {

std::string pair_text(std::uint64_t a, std::uint64_t b) { return fmt::format("[{}, {}]", a, b); }

std::string list_text(const std::vector<std::string>& names) {
  return fmt::format("[{}]", fmt::join(names, ", "));
}

/// `member: ... against ...` of the first member that differs, in the order of program files.
class Difference {
 public:
  void compare(const char* member, const std::string& a, const std::string& b) {
    if (text_.empty() && a != b) text_ = fmt::format("{}: {} against {}", member, a, b);
  }
  void compare(const char* member, std::uint64_t a, std::uint64_t b) {
    compare(member, fmt::format("{}", a), fmt::format("{}", b));
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string spaces_text(const ir::Target& target) {
  std::string text;
  for (const ir::MemorySpace& space : target.spaces)
    text +=
        fmt::format("\"{}\" of {} bytes, alignment {}; ", space.name, space.bytes, space.alignment);
  return text;
}

std::string handoffs_text(const ir::Target& target) {
  std::string text;
  for (const ir::Handoff& handoff : target.handoffs)
    text += fmt::format("\"{}\"{}; ", handoff.name, handoff.crosses_chips ? " across chips" : "");
  return text;
}

std::string difference(const ir::Target& a, const ir::Target& b) {
  Difference d;
  d.compare("name", a.name, b.name);
  d.compare("chips", a.chips, b.chips);
  d.compare("mesh", pair_text(a.mesh_width, a.mesh_height), pair_text(b.mesh_width, b.mesh_height));
  d.compare("engines", list_text(a.engines), list_text(b.engines));
  d.compare("spaces", spaces_text(a), spaces_text(b));
  d.compare("semaphores.per_site", a.semaphores_per_site, b.semaphores_per_site);
  d.compare("semaphores.maximum", fmt::format("{}", a.semaphore_maximum),
            fmt::format("{}", b.semaphore_maximum));
  d.compare("handoffs", handoffs_text(a), handoffs_text(b));
  d.compare("tile", pair_text(a.tile_rows, a.tile_cols), pair_text(b.tile_rows, b.tile_cols));
  d.compare("float_type", std::string(to_string(a.float_type)),
            std::string(to_string(b.float_type)));
  d.compare("widest_integer", std::string(to_string(a.widest_integer)),
            std::string(to_string(b.widest_integer)));
  return d.text();
}

bool inside(const ir::Site& site, const ir::Target& target) {
  return site.chip < target.chips && site.x < target.mesh_width && site.y < target.mesh_height;
}

void check_site(const ir::Program& program, const std::string& name, const ir::Site& site,
                const std::string& whose) {
  if (inside(site, program.target)) return;
  throw Refused{RefusalReason::site_outside_mesh,
                fmt::format("section \"{}\" has {} on {}, and \"{}\" has {} chips of {} x {} sites",
                            name, whose, text_of(site), program.target.name, program.target.chips,
                            program.target.mesh_width, program.target.mesh_height),
                "place it on a site of the target"};
}

void check_places(const ir::Program& program, const std::string& name) {
  for (const ir::EngineProgram& one : program.programs) {
    check_site(program, name, one.site, "an engine program");
    if (one.engine.value() < program.target.engines.size()) continue;
    throw Refused{
        RefusalReason::unknown_engine,
        fmt::format("section \"{}\" has an engine program on {} for engine number {}, and "
                    "\"{}\" has the engines {}",
                    name, text_of(one.site), one.engine.value(), program.target.name,
                    list_text(program.target.engines)),
        "use an engine of the target"};
  }
  for (const ir::Buffer& buffer : program.buffers)
    check_site(program, name, buffer.site, fmt::format("buffer \"{}\"", buffer.name));
  for (const ir::Semaphore& semaphore : program.semaphores)
    check_site(program, name, semaphore.site, fmt::format("semaphore \"{}\"", semaphore.name));
}

// Memory of a section is another section's before and after it, so contents cannot wait in it.
void check_initial_contents(const ir::Program& program, const std::string& name) {
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const ir::Buffer& buffer = program.buffers[b];
    const ir::Buffer& storage = program.buffers[root_of(program.buffers, b)];
    if (buffer.init == ir::Init::undefined || storage.lifetime == ir::Lifetime::resident) continue;
    throw Refused{
        RefusalReason::init_lost,
        fmt::format("buffer \"{}\" of section \"{}\" begins with contents ({}) and lives for "
                    "the section only",
                    buffer.name, name, to_string(buffer.init)),
        "let it be resident, or let the section write it first"};
  }
}

void check_one(const ir::Program& program, const ComposeOptions& options) {
  if (program.sections.size() != 1) {
    std::vector<std::string> names;
    for (const ir::Section& section : program.sections) names.push_back(section.name);
    throw Refused{RefusalReason::not_one_section,
                  fmt::format("program \"{}\" has {} sections: {}", program.name, names.size(),
                              list_text(names)),
                  "give one program per section"};
  }
  const std::string& name = program.sections.front().name;
  check_places(program, name);
  if (const ir::Status refused = ir::validate(program)) {
    throw Refused{RefusalReason::malformed_section,
                  fmt::format("section \"{}\": {}", name, refused->message()),
                  "write the section as docs/format.md says"};
  }
  if (!program.boundaries.empty()) {
    throw Refused{RefusalReason::section_has_seam,
                  fmt::format("section \"{}\" brings a boundary of its own", name),
                  "leave boundaries to the composition"};
  }
  if (program.stages.empty()) {
    throw Refused{RefusalReason::no_stages, fmt::format("section \"{}\" has no stages", name),
                  "leave it out, or give it a stage"};
  }
  if (ir::op_count(program) == 0) {
    throw Refused{RefusalReason::no_ops, fmt::format("section \"{}\" has no ops", name),
                  "leave it out, or give it ops"};
  }
  if (program.execution == ir::Execution::persistent && options.execution == ir::Execution::once) {
    throw Refused{
        RefusalReason::execution_mismatch,
        fmt::format("section \"{}\" is persistent, and the program is performed once", name),
        "compose a persistent program, or let the section be performed once"};
  }
}

}  // namespace

void check_section_names(const std::vector<ir::Program>& sections) {
  std::unordered_map<std::string_view, std::size_t> names;
  for (std::size_t s = 0; s < sections.size(); ++s) {
    const std::string& name = sections[s].sections.front().name;
    const auto [first, is_new] = names.emplace(name, s);
    if (is_new) continue;
    throw Refused{
        RefusalReason::duplicate_section,
        fmt::format("sections {} and {} are both called \"{}\"", first->second + 1, s + 1, name),
        "give every section a name of its own"};
  }
}

void check_sections(const std::vector<ir::Program>& sections, const ComposeOptions& options) {
  if (sections.empty()) {
    throw Refused{RefusalReason::no_sections, "there are no sections", "name at least one"};
  }
  for (const ir::Program& section : sections) {
    check_one(section, options);
    const std::string& name = section.sections.front().name;
    if (sections.size() > 1) check_initial_contents(section, name);
    const std::string different = difference(sections.front().target, section.target);
    if (different.empty()) continue;
    throw Refused{RefusalReason::target_mismatch,
                  fmt::format("sections \"{}\" and \"{}\" are for different targets ({})",
                              sections.front().sections.front().name, name, different),
                  "build all sections for one target"};
  }
  check_section_names(sections);
  if (!options.section_fault) return;
  for (const ir::Program& section : sections) {
    if (const auto fault = options.section_fault(section)) {
      throw Refused{
          RefusalReason::faulty_section,
          fmt::format("section \"{}\" fails on its own: {}", section.sections.front().name, *fault),
          "repair the section"};
    }
  }
}

}  // namespace spatialcert::compose
