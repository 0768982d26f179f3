// spatialcert import msccl FILE -o PROGRAM
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "certify/command/command.hpp"
#include "certify/command/import_options.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::command {
namespace {

struct ImportCommand {
  std::string path;
  std::string output;
  ImportOptions import;
};

void write(const LoadedProgram& loaded, const std::string& path) {
  if (path == "-") {
    print(ir::serialise(loaded.program));
    return;
  }
  if (const ir::Status failed = ir::write_program(loaded.program, path)) {
    throw OutputError(failed->message());
  }
  print(fmt::format("{}: {}\n", path, loaded.variant));
}

std::string options_of(const LoadedProgram& loaded) {
  std::string options =
      loaded.placement == ir::MscclPlacement::in_place ? "--placement in" : "--placement out";
  switch (loaded.transfers.mode) {
    case ir::MscclTransfers::Mode::one_per_step:
      return options + " --transfers per-step";
    case ir::MscclTransfers::Mode::one_per_chunk:
      return options + " --transfers per-chunk";
    case ir::MscclTransfers::Mode::for_bytes:
      break;
  }
  return options + fmt::format(" --bytes {}", loaded.transfers.bytes);
}

int run_import(const ImportCommand& command) {
  const auto file = load(command.path, command.import.msccl());
  if (!file) {
    complain(file.error().message() + '\n');
    return kRefused;
  }
  if (!file->foreign) {
    complain(
        ir::Refusal{command.path, 1, "", "an MSCCL algorithm (XML)", "something else"}.message() +
        '\n');
    return kRefused;
  }
  if (is_folder(command.output)) {
    std::filesystem::create_directories(command.output);
    for (const LoadedProgram& loaded : file->programs) {
      const std::filesystem::path name = file_name_of(loaded.program.name) + ".json";
      write(loaded, std::filesystem::path(command.output) / name);
    }
    return 0;
  }
  if (file->programs.size() != 1) {
    std::string text =
        fmt::format("{} holds {} programs; name one of them, or a folder (-o DIR/):", command.path,
                    file->programs.size());
    for (const LoadedProgram& loaded : file->programs) {
      text += fmt::format("\n  {}  ({})", options_of(loaded), loaded.variant);
    }
    text += "\n--bytes SIZE names one by its message size";
    throw UsageError(text);
  }
  write(file->programs.front(), command.output);
  return 0;
}

}  // namespace

Command declare_import(CLI::App& parent) {
  auto options = std::make_shared<ImportCommand>();
  CLI::App* app = parent.add_subcommand("import", "Translate a foreign file into a program");
  app->require_subcommand(1);
  CLI::App* msccl = app->add_subcommand("msccl", "An MSCCL algorithm (XML, optionally zstd)");
  msccl->add_option("FILE", options->path, "FILE.xml or FILE.xml.zst")->required();
  msccl
      ->add_option("-o,--output", options->output,
                   "PROGRAM.json or PROGRAM.json.zst; - for standard output; a folder takes every "
                   "variant as NAME.json")
      ->required()
      ->type_name("PROGRAM");
  add_import_options(*msccl, options->import);
  constexpr const char* kFooter =
      "\nA file that allows several placements, or whose steps may be one transfer or several, is "
      "several\n"
      "programs: choose one, or give a folder.\n\n"
      "Exit status: 0; 3 if the file was refused; 64 if it holds several programs and -o is no "
      "folder.\n\n"
      "Example:\n  spatialcert import msccl ring.xml --placement out --bytes 1MiB -o ring.json\n";
  app->footer(kFooter);
  msccl->footer(kFooter);
  return {app, [options] { return run_import(*options); }};
}

}  // namespace spatialcert::command
