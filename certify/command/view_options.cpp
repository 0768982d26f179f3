#include "certify/command/view_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>

#include "certify/command/command.hpp"
#include "certify/command/import_options.hpp"
#include "ir/bytes_file.hpp"

namespace spatialcert::command {
namespace {

namespace views = certify::views;
using proofs::Counterexample;

struct RunView {
  const char* flag;
  std::string ViewFiles::*file;
  std::string (*view)(const views::Run&, const views::Options&);
  const char* help;
};
constexpr RunView kRunViews[] = {
    {"--html", &ViewFiles::html, views::html_view, "Write one HTML page for the run"},
    {"--sarif", &ViewFiles::sarif, views::sarif_view, "Write SARIF 2.1.0 for the run"},
    {"--junit", &ViewFiles::junit, views::junit_view, "Write JUnit XML for the run"},
};

struct CounterexampleView {
  const char* flag;
  std::string ViewFiles::*file;
  std::string (*view)(const ir::Program&, const Counterexample&, const views::Options&);
  const char* extension;
  const char* help;
};
constexpr CounterexampleView kCounterexampleViews[] = {
    {"--dot", &ViewFiles::dot, views::dot_view, ".dot",
     "Write the net around each counterexample for Graphviz"},
    {"--pnml", &ViewFiles::pnml, views::pnml_view, ".pnml",
     "Write the net around each counterexample as PNML"},
    {"--perfetto", &ViewFiles::perfetto, views::perfetto_view, ".trace.json",
     "Write the schedules of each counterexample as a trace for ui.perfetto.dev"},
};

struct Found {
  const ir::Program* program;
  const Counterexample* counterexample;
  std::string name;  ///< of its file, without the extension
};

/// Programs of one name get numbers, as the files of `--cex` do.
std::vector<Found> counterexamples_of(const views::Run& run) {
  std::vector<Found> all;
  std::map<std::string, int> used;
  for (const views::Entry& entry : run.entries) {
    const auto* judged = std::get_if<views::Judged>(&entry.outcome);
    if (judged == nullptr) continue;
    const std::string name = unused_name(used, file_name_of(judged->program.name));
    for (const certify::RuleReport& rule : judged->report.rules) {
      if (!rule.counterexample) continue;
      all.push_back({&judged->program, &*rule.counterexample,
                     fmt::format("{}.{}", name, proofs::to_string(rule.rule))});
    }
  }
  return all;
}

void write(const std::string& path, std::string_view text) {
  if (path == "-") {
    print(text);
  } else {
    write_file(path, text);
  }
}

void write_all(const CounterexampleView& view, const std::string& path,
               const std::vector<Found>& found, const views::Options& options) {
  const bool folder = path != "-" && (is_folder(path) || found.size() > 1);
  if (path == "-" && found.size() > 1) {
    throw OutputError(fmt::format("{} counterexamples do not fit in one {} -: name a folder",
                                  found.size(), view.flag));
  }
  for (const Found& one : found) {
    std::filesystem::path file = path;
    if (folder) file /= one.name + view.extension;
    write(file.string(), view.view(*one.program, *one.counterexample, options));
  }
}

std::vector<const std::string*> files_of(const ViewFiles& files) {
  return {&files.html, &files.sarif, &files.junit, &files.dot, &files.pnml, &files.perfetto};
}

std::string needs_name(const std::string& path) {
  return path.empty() ? std::string("a name is needed") : std::string();
}

}  // namespace

void write_file(const std::string& path, std::string_view bytes) {
  // One at a time: creating files looks at the process's umask by changing it.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);
  if (const ir::Status failed = ir::write_bytes(path, bytes)) throw OutputError(failed->message());
}

bool ViewFiles::any() const {
  for (const std::string* file : files_of(*this)) {
    if (!file->empty()) return true;
  }
  return false;
}

bool ViewFiles::to_stdout() const {
  for (const std::string* file : files_of(*this)) {
    if (*file == "-") return true;
  }
  return false;
}

void add_view_options(CLI::App& app, ViewFiles& files) {
  for (const RunView& view : kRunViews) {
    app.add_option(view.flag, files.*view.file, view.help)->type_name("FILE")->check(needs_name);
  }
  for (const CounterexampleView& view : kCounterexampleViews) {
    app.add_option(view.flag, files.*view.file, view.help)->type_name("FILE")->check(needs_name);
  }
  app.add_flag("--whole-net", files.options.whole_net,
               "DOT and PNML: all op instances, not only those around the counterexample");
  app.add_option("--most-ops", files.options.most_transitions,
                 fmt::format("DOT and PNML: op instances at most (default: {})",
                             files.options.most_transitions))
      ->check(CLI::Range(1U, 10'000'000U));
  app.add_option("--most-steps", files.options.most_steps,
                 fmt::format("Perfetto: steps of a schedule at most, the last ones (default: {})",
                             files.options.most_steps))
      ->check(CLI::Range(1U, 10'000'000U));
}

void check_views(const ViewFiles& files, bool json) {
  int to_stdout = json ? 1 : 0;
  for (const std::string* file : files_of(files)) to_stdout += *file == "-" ? 1 : 0;
  if (files.to_stdout() && to_stdout > 1) {
    throw UsageError("only one view, or --format json, can go to standard output");
  }
}

std::vector<std::string> write_views(const ViewFiles& files, const views::Run& run) {
  std::vector<std::string> failures;
  const auto attempt = [&](const char* flag, const std::function<void()>& action) {
    try {
      action();
    } catch (const std::exception& e) {
      failures.push_back(fmt::format("{}: {}", flag, e.what()));
    }
  };
  for (const RunView& view : kRunViews) {
    const std::string& path = files.*view.file;
    if (path.empty()) continue;
    attempt(view.flag, [&] { write(path, view.view(run, files.options)); });
  }
  const std::vector<Found> found = counterexamples_of(run);
  for (const CounterexampleView& view : kCounterexampleViews) {
    const std::string& path = files.*view.file;
    if (path.empty()) continue;
    attempt(view.flag, [&] { write_all(view, path, found, files.options); });
  }
  return failures;
}

}  // namespace spatialcert::command
