#include "certify/command/suggestion.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "certify/command/command.hpp"
#include "certify/command/view_options.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::command {
namespace {

/// Of the JSON of reports and explanations: a member of a program's element.
constexpr std::size_t kLevel = 3;

}  // namespace

void add_suggestion_options(CLI::App& app, bool& suggest, std::string& folder) {
  app.add_flag("--suggest", suggest,
               "Look for a repair of what is refuted, and certify the repaired program");
  app.add_option("--suggest-to", folder,
                 "The same, and write it to DIR/PROGRAM.repaired.json, or DIR/PROGRAM.partial.json "
                 "if something is left")
      ->type_name("DIR");
}

SuggestionTexts suggestion_texts(const certify::repair::Suggestion& suggestion,
                                 const std::string& folder, const std::string& name) {
  std::string path;
  if (!folder.empty() && suggestion.program) {
    const bool certified = suggestion.outcome == certify::repair::Outcome::certified;
    path =
        (std::filesystem::path(folder) / (name + (certified ? ".repaired.json" : ".partial.json")))
            .string();
    write_file(path, ir::serialise(*suggestion.program));
  }
  return {certify::repair::suggestion_text(suggestion, path),
          certify::repair::suggestion_json(suggestion, kLevel, path)};
}

}  // namespace spatialcert::command
