// Options of every command that writes views (certify/views/view.hpp), and where views go.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "certify/views/view.hpp"

namespace CLI {
class App;
}

namespace spatialcert::command {

/// Where each view was asked for: a file, `-` for standard output, or nothing. Views of a
/// counterexample may name a folder.
struct ViewFiles {
  std::string html;
  std::string sarif;
  std::string junit;
  std::string dot;
  std::string pnml;
  std::string perfetto;
  certify::views::Options options;

  [[nodiscard]] bool any() const;
  /// Standard output belongs to a view, and nothing else may be printed there.
  [[nodiscard]] bool to_stdout() const;
};
/// Adds --html, --sarif, --junit, --dot, --pnml, --perfetto and their limits.
void add_view_options(CLI::App& app, ViewFiles& files);
/// Throws UsageError if standard output would have to hold two things.
void check_views(const ViewFiles& files, bool json);

/// Writes all that was asked for of `run`, be it that one of them cannot be written. Returns what
/// went wrong, a sentence each. Files of counterexamples in a folder are called
/// PROGRAM.RULE.EXTENSION, as those of `--cex`.
[[nodiscard]] std::vector<std::string> write_views(const ViewFiles& files,
                                                   const certify::views::Run& run);

/// Writes `bytes` to `path`, whose folder is made where it is missing. Throws OutputError.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace spatialcert::command
