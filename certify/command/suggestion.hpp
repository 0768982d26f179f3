// Suggested repairs on the command line: their options, and the files of repaired programs.
#pragma once

#include <string>

#include "certify/repair/repair.hpp"

namespace CLI {
class App;
}

namespace spatialcert::command {

/// Adds --suggest and --suggest-to.
void add_suggestion_options(CLI::App& app, bool& suggest, std::string& folder);

/// A suggestion in the forms of reports (certify::Provenance).
struct SuggestionTexts {
  std::string text;
  std::string json;
};
/// Writes the program with all edits to FOLDER/NAME.repaired.json, or NAME.partial.json if it is
/// not certified, where a folder is given. Throws OutputError.
[[nodiscard]] SuggestionTexts suggestion_texts(const certify::repair::Suggestion& suggestion,
                                               const std::string& folder, const std::string& name);

}  // namespace spatialcert::command
