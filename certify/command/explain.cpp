// spatialcert explain PROGRAM CEX.json
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "certify/command/command.hpp"
#include "certify/command/counterexample_file.hpp"
#include "certify/command/suggestion.hpp"
#include "certify/command/view_options.hpp"
#include "certify/report.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::command {
namespace {

struct ExplainOptions {
  std::string path;
  std::string counterexample;
  std::string format = "text";
  bool suggest = false;
  std::string suggestion_folder;
  std::string smt2_folder;
  ViewFiles views;
  ImportOptions import;
};

SuggestionTexts suggestion_for(const ExplainOptions& options, const CounterexampleFile& file) {
  certify::ProgramReport nothing_known;
  nothing_known.partial = true;
  const auto suggestion =
      certify::repair::suggest(file.loaded.program, nothing_known, {}, &file.counterexample);
  return suggestion_texts(suggestion, options.suggestion_folder,
                          file_name_of(file.loaded.program.name));
}

/// A run that found this counterexample, and of which nothing else is known.
certify::views::Run run_of(CounterexampleFile file, certify::Provenance provenance) {
  certify::ProgramReport report;
  report.name = file.loaded.program.name;
  report.digest = ir::to_hex(ir::digest(file.loaded.program));
  report.verdict = certify::Verdict::refuted;
  report.ops = ir::op_count(file.loaded.program);
  report.partial = true;
  certify::RuleReport& rule = report.rules.emplace_back();
  rule.rule = certify::rule_of(file.counterexample);
  rule.verdict = certify::Verdict::refuted;
  rule.detail = fmt::format("{}, replayed", proofs::to_string(file.counterexample.kind));
  rule.counterexample = std::move(file.counterexample);
  certify::views::Run run;
  run.entries.push_back(
      {std::move(provenance),
       certify::views::Judged{std::move(file.loaded.program), std::move(report)}});
  return run;
}

/// Asks the rule again, to write what it asks Z3.
std::vector<std::string> write_queries(const std::string& folder, const ir::Program& program,
                                       proofs::Rule rule) {
  std::vector<std::string> failures;
  certify::Options options;
  options.rules = {rule};
  options.on_query = [&](std::string_view name, std::uint64_t number, const std::string& smt2) {
    const std::string file =
        fmt::format("{}/{}-{:03}.smt2", file_name_of(program.name), name, number);
    try {
      write_file((std::filesystem::path(folder) / file).string(), smt2);
    } catch (const std::exception& e) {  // the pipeline owes nothing to exceptions of others
      failures.push_back(fmt::format("--smt2: {}", e.what()));
    }
  };
  (void)certify::certify(program, options);
  return failures;
}

int explain(const ExplainOptions& options) {
  const bool json = options.format == "json";
  check_views(options.views, json);
  auto file = load_counterexample(options.path, options.counterexample, options.import);
  if (!file) {
    complain(file.error().message() + '\n');
    return kRefused;
  }
  const ir::Program& program = file->loaded.program;
  const proofs::ReplayResult result = proofs::replay(program, file->counterexample);
  if (const auto* failed = std::get_if<proofs::NotReproduced>(&result)) {
    complain(fmt::format("{}: not reproduced: {}: {}\n", program.name,
                         proofs::to_string(file->counterexample.kind), failed->why));
    return kNotReproduced;
  }
  certify::Provenance provenance{options.path, file->loaded.variant};
  if (options.suggest || !options.suggestion_folder.empty()) {
    SuggestionTexts suggestion = suggestion_for(options, *file);
    provenance.suggestion_text = std::move(suggestion.text);
    provenance.suggestion_json = std::move(suggestion.json);
  }
  if (json) {
    print(certify::views::explanation_json(program, file->counterexample, provenance));
  } else if (!options.views.to_stdout()) {
    print(certify::counterexample_text(program, file->counterexample));
    print(provenance.suggestion_text);
  }
  std::vector<std::string> failures;
  if (!options.smt2_folder.empty()) {
    failures = write_queries(options.smt2_folder, program, certify::rule_of(file->counterexample));
  }
  const auto others = write_views(options.views, run_of(*std::move(file), std::move(provenance)));
  failures.insert(failures.end(), others.begin(), others.end());
  for (const std::string& failure : failures) complain(fmt::format("spatialcert: {}\n", failure));
  return failures.empty() ? 0 : kFault;
}

}  // namespace

Command declare_explain(CLI::App& parent) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* app = parent.add_subcommand(
      "explain", "Replay a counterexample and write it as text, JSON or for other tools");
  app->add_option("PROGRAM", options->path, "The program, or the foreign file, it was found in")
      ->required();
  app->add_option("CEX", options->counterexample, "A counterexample that `certify --cex` wrote")
      ->required();
  app->add_option("--format", options->format, "text (default) or json")
      ->check(CLI::IsMember({"text", "json"}));
  add_suggestion_options(*app, options->suggest, options->suggestion_folder);
  add_view_options(*app, options->views);
  app->add_option("--smt2", options->smt2_folder,
                  "Certify by the refuted rule again, and write every query to "
                  "DIR/PROGRAM/RULE-nnn.smt2")
      ->type_name("DIR");
  add_import_options(*app, options->import);
  app->footer(
      "\nThe text is printed unless a view goes to standard output (FILE is -).\n\n"
      "Exit status: 0 reproduced and written, 1 not reproduced, 3 if a file was refused or the\n"
      "counterexample belongs to another program, 70 if a view could not be written.\n\n"
      "Examples:\n  spatialcert certify --cex found model.json\n"
      "  spatialcert explain model.json found/model.ordering.json --html ordering.html\n"
      "  spatialcert explain model.json found/model.ordering.json --dot - | dot -Tsvg -o "
      "net.svg\n");
  return {app, [options] { return explain(*options); }};
}

}  // namespace spatialcert::command
