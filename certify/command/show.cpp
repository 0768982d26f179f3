// spatialcert show PROGRAM
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "certify/command/command.hpp"
#include "certify/command/import_options.hpp"
#include "certify/report.hpp"

namespace spatialcert::command {
namespace {

struct ShowOptions {
  std::string path;
  ImportOptions import;
};

int show(const ShowOptions& options) {
  const auto file = load(options.path, options.import.msccl());
  if (!file) {
    complain(file.error().message() + '\n');
    return kRefused;
  }
  bool first = true;
  for (const LoadedProgram& loaded : file->programs) {
    if (!std::exchange(first, false)) print("\n");
    print(certify::show_text(loaded.program));
  }
  return 0;
}

}  // namespace

Command declare_show(CLI::App& parent) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* app = parent.add_subcommand("show", "Print a program readably");
  app->add_option("PROGRAM", options->path, "A program, or a foreign file")->required();
  add_import_options(*app, options->import);
  app->footer(
      "\nExit status: 0; 3 if the file was refused.\n\n"
      "Example:\n  spatialcert show model.json.zst\n");
  return {app, [options] { return show(*options); }};
}

}  // namespace spatialcert::command
