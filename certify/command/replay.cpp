// spatialcert replay PROGRAM CEX.json
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "certify/command/command.hpp"
#include "certify/command/import_options.hpp"
#include "certify/report.hpp"
#include "ir/bytes_file.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::command {
namespace {

struct ReplayOptions {
  std::string path;
  std::string counterexample;
  ImportOptions import;
};

/// The program of the file that the counterexample was made for; the first if it is none of
/// several, so that reading refuses by digest.
const ir::Program& program_for(const LoadedFile& file, const std::string& digest) {
  for (const LoadedProgram& loaded : file.programs) {
    if (ir::to_hex(ir::digest(loaded.program)) == digest) return loaded.program;
  }
  return file.programs.front().program;
}

int refuse(const ir::Refusal& refusal) {
  complain(refusal.message() + '\n');
  return kRefused;
}

ir::Result<std::uint64_t> look(std::string_view beginning, const std::string& path) {
  if (ir::Status refused = ir::look_at_json(beginning, path, "a counterexample (a JSON object)")) {
    return *std::move(refused);
  }
  return ir::kMaximumInputBytes;
}

int replay(const ReplayOptions& options) {
  const auto file = load(options.path, options.import.msccl());
  if (!file) return refuse(file.error());
  const auto text = ir::read_bytes(options.counterexample, ir::kMaximumInputBytes, look);
  if (!text) return refuse(text.error());
  const auto digest = certify::counterexample_digest(*text, options.counterexample);
  if (!digest) return refuse(digest.error());
  const ir::Program& program = program_for(*file, *digest);
  const auto counterexample = certify::parse_counterexample(*text, options.counterexample, program);
  if (!counterexample) return refuse(counterexample.error());

  const proofs::ReplayResult result = proofs::replay(program, *counterexample);
  const std::string_view kind = proofs::to_string(counterexample->kind);
  if (const auto* failed = std::get_if<proofs::NotReproduced>(&result)) {
    print(fmt::format("{}: not reproduced: {}: {}\n", program.name, kind, failed->why));
    return kNotReproduced;
  }
  print(fmt::format("{}: reproduced: {}\n", program.name, kind));
  print(certify::counterexample_text(program, *counterexample));
  return 0;
}

}  // namespace

Command declare_replay(CLI::App& parent) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* app = parent.add_subcommand("replay", "Play a counterexample on the token game");
  app->add_option("PROGRAM", options->path, "The program, or the foreign file, it was found in")
      ->required();
  app->add_option("CEX", options->counterexample, "A counterexample that `certify --cex` wrote")
      ->required();
  add_import_options(*app, options->import);
  app->footer(
      "\nExit status: 0 reproduced, 1 not reproduced, 3 if a file was refused or the "
      "counterexample\n"
      "belongs to another program.\n\n"
      "Example:\n  spatialcert certify --cex found model.json\n"
      "  spatialcert replay model.json found/model.ordering.json\n");
  return {app, [options] { return replay(*options); }};
}

}  // namespace spatialcert::command
