// spatialcert replay PROGRAM CEX.json
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "certify/command/command.hpp"
#include "certify/command/counterexample_file.hpp"
#include "certify/report.hpp"

namespace spatialcert::command {
namespace {

struct ReplayOptions {
  std::string path;
  std::string counterexample;
  ImportOptions import;
};

int replay(const ReplayOptions& options) {
  const auto file = load_counterexample(options.path, options.counterexample, options.import);
  if (!file) {
    complain(file.error().message() + '\n');
    return kRefused;
  }
  const ir::Program& program = file->loaded.program;
  const proofs::Counterexample& counterexample = file->counterexample;

  const proofs::ReplayResult result = proofs::replay(program, counterexample);
  const std::string_view kind = proofs::to_string(counterexample.kind);
  if (const auto* failed = std::get_if<proofs::NotReproduced>(&result)) {
    print(fmt::format("{}: not reproduced: {}: {}\n", program.name, kind, failed->why));
    return kNotReproduced;
  }
  print(fmt::format("{}: reproduced: {}\n", program.name, kind));
  print(certify::counterexample_text(program, counterexample));
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
