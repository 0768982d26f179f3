// spatialcert gate --baseline DIR --candidate DIR
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "certify/command/command.hpp"
#include "certify/command/gating.hpp"
#include "certify/command/view_options.hpp"
#include "certify/gate/report.hpp"

namespace spatialcert::command {
namespace {

namespace gate = certify::gate;

struct Arguments {
  GateOptions options;
  std::string policy;
  std::string format = "text";
  std::string markdown, sarif, junit;
};

/// A report that goes to a file, or, as `-`, to standard output.
struct ReportFile {
  const char* flag;
  std::string path;
  std::function<std::string(const gate::Comparison&)> text;
};

/// Writes what was asked for; what could not be written becomes a fault of the comparison.
void write_reports(const std::vector<ReportFile>& files, gate::Comparison& comparison) {
  for (const ReportFile& file : files) {
    if (file.path.empty()) continue;
    try {
      const std::string text = file.text(comparison);
      if (file.path == "-") {
        print(text);
      } else {
        write_file(file.path, text);
      }
    } catch (const std::exception& e) {
      comparison.faults.push_back(fmt::format("{}: {}", file.flag, e.what()));
      gate::conclude(comparison);
      complain(fmt::format("spatialcert: {}: {}\n", file.flag, e.what()));
    }
  }
}

/// The rules that the policy excuses. Nothing excuses a program without ops.
std::vector<certify::views::Excuse> excuses_of(const gate::Comparison& comparison,
                                               const gate::Entry& entry) {
  std::vector<certify::views::Excuse> excuses;
  const auto& candidate = comparison.pairs[entry.pair].candidate;
  if (!candidate || !candidate->costs || candidate->costs->ops == 0) return excuses;
  for (const gate::OpenRule& open : entry.open) {
    if (!open.exception) continue;
    const gate::Exception& exception = comparison.policy.exceptions[*open.exception];
    excuses.push_back({candidate->rules[open.state].rule,
                       fmt::format("{} (until {})", exception.reason, exception.until)});
  }
  return excuses;
}

/// The comparison as a run of certifications, for the views of such a run. What is wrong otherwise
/// than by a verdict is something that was refused.
certify::views::Run run_of(const gate::Comparison& comparison,
                           std::vector<std::optional<certify::views::Entry>> entries,
                           const Arguments& arguments) {
  certify::views::Run run{{}, comparison.exit_status, !arguments.policy.empty()};
  for (const gate::Entry& entry : comparison.entries) {
    if (auto& view = entries[entry.pair]) view->excuses = excuses_of(comparison, entry);
  }
  for (auto& entry : entries) {
    if (entry) run.entries.push_back(*std::move(entry));
  }
  const auto refuse = [&](const std::string& file, std::string expected, std::string found) {
    run.entries.push_back(
        {{file, {}, {}, {}}, ir::Refusal{file, 0, "", std::move(expected), std::move(found)}});
  };
  for (const gate::Entry& entry : comparison.entries) {
    if (entry.change != gate::Change::lost || entry.excused) continue;
    const gate::Pair& pair = comparison.pairs[entry.pair];
    refuse(pair.baseline->file, "a program of this name in the candidate too", "none: it is lost");
  }
  for (const gate::Violation& violation : comparison.violations) {
    refuse(arguments.policy, "a policy that holds",
           fmt::format("{}: {}", gate::to_string(violation.kind), violation.text));
  }
  for (const ir::Refusal& refusal : comparison.refusals)
    run.entries.push_back({{refusal.file, {}, {}, {}}, refusal});
  return run;
}

void complain_of_faults(const gate::Comparison& comparison) {
  for (const gate::Entry& entry : comparison.entries) {
    if (entry.change != gate::Change::fault) continue;
    const gate::Pair& pair = comparison.pairs[entry.pair];
    const auto& side = pair.candidate ? pair.candidate : pair.baseline;
    complain(fmt::format("spatialcert: {}: {}\n", pair.name, side->detail));
  }
}

int run_gate(Arguments& arguments) {
  GateOptions& options = arguments.options;
  const bool json = arguments.format == "json";
  const gate::Folders folders{options.baseline, options.candidate};
  certify::views::Run run;
  std::vector<ReportFile> files{
      {"--sarif", arguments.sarif,
       [&](const gate::Comparison&) { return certify::views::sarif_view(run, {}); }},
      {"--junit", arguments.junit,
       [&](const gate::Comparison&) { return certify::views::junit_view(run, {}); }},
      // Last, so that it can say if the others could not be written.
      {"--markdown", arguments.markdown,
       [&](const gate::Comparison& comparison) { return gate_markdown(comparison, folders); }}};
  options.views = !arguments.sarif.empty() || !arguments.junit.empty();
  const auto to_stdout = std::count_if(files.begin(), files.end(),
                                       [](const ReportFile& file) { return file.path == "-"; });
  if (to_stdout + (json ? 1 : 0) > 1) throw UsageError("only one report can go to standard output");
  if (!options.today.empty() && !gate::is_date(options.today))
    throw UsageError(fmt::format("--today: expected a day of the calendar as YYYY-MM-DD, found {}",
                                 options.today));
  gate::Policy policy;
  if (!arguments.policy.empty()) {
    auto read = gate::read_policy(arguments.policy);
    if (!read) {
      complain(fmt::format("spatialcert: policy refused: {}\n", read.error().message()));
      return kRefused;
    }
    policy = *std::move(read);
  }
  for (const std::string* folder : {&options.baseline, &options.candidate}) {
    std::error_code error;
    if (std::filesystem::is_directory(*folder, error)) continue;
    complain(fmt::format("spatialcert: {}: expected a folder of programs, found {}\n", *folder,
                         error ? error.message() : "something else"));
    return kRefused;
  }
  Gating gating(options, std::move(policy));
  gate::Comparison comparison = gating.run();
  if (comparison.exit_status == kUsage) {
    throw UsageError(fmt::format(
        "{}; programs are files *.json and *.json.zst. Where there is no baseline yet, `certify` "
        "judges the candidate alone",
        gate::headline(comparison)));
  }
  complain_of_faults(comparison);
  if (options.views) run = run_of(comparison, gating.take_entries(), arguments);
  write_reports(files, comparison);
  if (json) {
    print(gate_json(comparison, folders));
  } else if (to_stdout == 0) {
    print(gate_text(comparison, folders));
  }
  return comparison.exit_status;
}

constexpr const char* kFooter = R"(
Programs are all files *.json and *.json.zst below the folders, and are paired by their path there without
that extension: their NAME. The certificate of a program is NAME.cert, beside it or below the folder that
--certificates or --baseline-certificates names. A certificate counts only after a full recheck; a program
without a valid one is judged anew, in the baseline too.

Every program of the candidate has to be certified, and none of the baseline may be missing. Exceptions
stand in the policy (docs/gate.md), with a reason and a last day.

Exit status: 70 fault of spatialcert's own or unwritable output; else 1 something is refuted or lost, or the
policy is violated; else 3 a file was refused; else 2 something is undecided; else 0. 64 wrong usage, and
no programs in one of the folders.

Examples:
  spatialcert gate --baseline main/programs --candidate build/programs
  spatialcert gate --baseline main --candidate build --policy gate.json --markdown summary.md
  spatialcert gate --baseline main --candidate build --write-certificates build --format json
)";

std::string needs_name(const std::string& path) {
  return path.empty() ? std::string("a name is needed") : std::string();
}

}  // namespace

Command declare_gate(CLI::App& parent) {
  auto arguments = std::make_shared<Arguments>();
  GateOptions& options = arguments->options;
  options.jobs = std::max(1U, std::thread::hardware_concurrency());
  CLI::App* app =
      parent.add_subcommand("gate", "Compare a compiler's programs before and after a change");
  const auto add = [&](const char* flag, std::string& to, const char* help, const char* type) {
    return app->add_option(flag, to, help)->type_name(type)->check(needs_name);
  };
  add("--baseline", options.baseline, "Programs before the change", "DIR")->required();
  add("--candidate", options.candidate, "Programs after it", "DIR")->required();
  add("--policy", arguments->policy, "Required rules, exceptions, budgets (docs/gate.md)", "FILE");
  add("--baseline-certificates", options.baseline_certificates,
      "Certificates of the baseline (default: beside the programs)", "DIR");
  add("--certificates", options.certificates,
      "Certificates of the candidate (default: beside the programs)", "DIR");
  add("--write-certificates", options.write_certificates,
      "Write the certificates of the candidate to DIR/NAME.cert: the next baseline's", "DIR");
  app->add_option("--format", arguments->format, "text (default) or json")
      ->check(CLI::IsMember({"text", "json"}));
  add("--markdown", arguments->markdown, "A summary for a pull request", "FILE");
  add("--sarif", arguments->sarif, "Verdicts on the candidate as SARIF 2.1.0", "FILE");
  add("--junit", arguments->junit, "Verdicts on the candidate as JUnit XML", "FILE");
  add("--today", options.today, "The day that exceptions are held against (default: today, UTC)",
      "YYYY-MM-DD");
  app->add_option("--rlimit", options.rlimit,
                  fmt::format("Z3 resource units per query (default: {})", options.rlimit))
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{0xffffffffU}));
  app->add_option("-j,--jobs", options.jobs,
                  "Threads; the output does not depend on it (default: number of cores)")
      ->check(CLI::Range(1U, 1024U));
  app->add_flag("--quiet", options.quiet, "No progress");
  app->footer(kFooter);
  return {app, [arguments] { return run_gate(*arguments); }};
}

}  // namespace spatialcert::command
