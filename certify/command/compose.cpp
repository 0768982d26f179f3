// spatialcert compose MANIFEST -o PROGRAM
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <optional>
#include <variant>

#include "certify/command/command.hpp"
#include "certify/pipeline.hpp"
#include "certify/report.hpp"
#include "compose/composition/explain.hpp"
#include "compose/composition/instance.hpp"
#include "compose/composition/manifest.hpp"
#include "compose/parallel/attach.hpp"
#include "compose/parallel/sharding.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::command {
namespace {

struct ComposeCommand {
  std::string manifest;
  std::string output;
  bool explain = false;
  bool unchecked = false;
};

/// The digest of a section without the names that distinguish copies of it.
ir::Digest digest_but_names(ir::Program section) {
  section.name = "section";
  for (ir::Section& one : section.sections) one.name = "section";
  return ir::digest(section);
}

/// Certifies sections on their own; those that differ in their names only, once.
class SectionCheck {
 public:
  /// What is known of a section, by its name in the composition.
  void add(const std::string& name, const ir::Program& section) {
    digest_[name] = digest_but_names(section);
  }

  /// On the section that was refuted last; empty if none was.
  [[nodiscard]] const std::string& report() const { return report_; }

  /// What refutes the section, if anything does. A section with links cannot run alone.
  std::optional<std::string> operator()(const ir::Program& section) {
    if (!section.links.empty()) return std::nullopt;
    const auto [known, is_new] = fault_.try_emplace(digest_.at(section.sections.front().name));
    if (is_new) known->second = fault_of(section);
    return known->second;
  }

 private:
  std::optional<std::string> fault_of(const ir::Program& section) {
    const certify::ProgramReport report = certify::certify(section);
    if (report.verdict != certify::Verdict::refuted) return std::nullopt;
    report_ = certify::report_text(section, report, false);
    return certify::verdict_line(report);
  }

  std::map<std::string, ir::Digest> digest_;
  std::map<ir::Digest, std::optional<std::string>> fault_;
  std::string report_;
};

int refuse(const std::string& message) {
  complain(message + '\n');
  return kRefused;
}

/// The sections that a manifest lists, named, bound and owned as it says; what is known of them
/// goes to `check`.
struct Sections {
  std::vector<ir::Program> programs;
  std::string refused;  ///< why there are none

  bool add(const ComposeCommand& command, const compose::SectionFile& file,
           const std::optional<compose::parallel::Sharding>& sharding, SectionCheck& check) {
    auto section = ir::read_program(compose::path_of(command.manifest, file.file));
    if (!section) return refuse_with(section.error().message());
    programs.push_back(*std::move(section));
    ir::Program& added = programs.back();
    if (added.sections.size() != 1) return true;  // which the composer refuses
    ir::Program unnamed = added;
    if (!file.name.empty()) compose::rename_section(added, file.name);
    if (const auto clash = compose::rebind_tensors(added, file.tensors))
      return refuse_with(fmt::format("{}: {}", command.manifest, clash->message()));
    if (sharding) {
      if (const auto clash = compose::parallel::assign_owners(added, *sharding))
        return refuse_with(fmt::format("{}: {}", command.manifest, clash->message()));
    }
    for (std::size_t t = 0; t < unnamed.tensors.size(); ++t)
      unnamed.tensors[t].owner = added.tensors[t].owner;
    if (!command.unchecked) check.add(added.sections.front().name, unnamed);
    return true;
  }

 private:
  bool refuse_with(std::string why) {
    refused = std::move(why);
    return false;
  }
};

int run_compose(const ComposeCommand& command) {
  const bool to_stdout = command.output == "-";
  if (to_stdout && command.explain)
    throw UsageError("compose: only one of -o - and --explain can have standard output");
  auto manifest = compose::read_manifest(command.manifest);
  if (!manifest) return refuse(manifest.error().message());
  std::optional<compose::parallel::Manifest> parallelism;
  std::optional<compose::parallel::Sharding> sharding;
  if (!manifest->parallelism.empty()) {
    auto read =
        compose::parallel::read_manifest(compose::path_of(command.manifest, manifest->parallelism));
    if (!read) return refuse(read.error().message());
    parallelism = *std::move(read);
    sharding.emplace(*parallelism);
  }
  Sections sections;
  SectionCheck check;
  for (const compose::SectionFile& file : manifest->sections) {
    if (!sections.add(command, file, sharding, check)) return refuse(sections.refused);
  }
  if (!command.unchecked) {
    manifest->options.section_fault = [&](const ir::Program& section) { return check(section); };
  }
  const auto outcome = compose::compose_manifest(*manifest, sections.programs, parallelism);
  if (const auto* refused = std::get_if<compose::Refused>(&outcome)) {
    complain(check.report());
    return refuse(fmt::format("{}: {}", command.manifest, refused->message()));
  }
  const auto& composed = std::get<compose::Composed>(outcome);
  if (to_stdout) {
    print(ir::serialise(composed.program));
  } else if (const ir::Status failed = ir::write_program(composed.program, command.output)) {
    throw OutputError(failed->message());
  }
  for (const std::string& note : composed.notes)
    complain(fmt::format("{}: note: {}\n", command.manifest, note));
  if (command.explain) print(compose::explain(composed));
  return 0;
}

constexpr const char* kFooter = R"(
MANIFEST is a JSON object of format spatialcert-composition (docs/compose.md): it lists section
files, which are programs with one section each, in source order. The program that is written has
passed the checks of form, and no proof: certify it.

Every section is certified on its own first; one that is refuted is refused. One that is undecided
is composed, and so is one with links, which cannot run alone.

Exit status: 0; 3 if the manifest, a section or the composition was refused; 64 wrong usage; 70
output that could not be written.

Examples:
  spatialcert compose layers.json -o model.json
  spatialcert compose layers.json -o model.json.zst --explain && spatialcert certify model.json.zst
)";

}  // namespace

Command declare_compose(CLI::App& parent) {
  auto options = std::make_shared<ComposeCommand>();
  CLI::App* app = parent.add_subcommand("compose", "Join sections into one program");
  app->add_option("MANIFEST", options->manifest, "MANIFEST.json, optionally zstd")->required();
  app->add_option("-o,--output", options->output,
                  "PROGRAM.json or PROGRAM.json.zst; - for standard output")
      ->required()
      ->type_name("PROGRAM");
  app->add_flag("--explain", options->explain,
                "Print phases and their sections, the size of rendezvous, and memory in use");
  app->add_flag("--no-section-check", options->unchecked,
                "Do not certify sections on their own first");
  app->footer(kFooter);
  return {app, [options] { return run_compose(*options); }};
}

}  // namespace spatialcert::command
