// spatialcert certify PROGRAM...
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <thread>

#include "certify/command/certification.hpp"
#include "certify/command/command.hpp"
#include "certify/command/suggestion.hpp"
#include "certify/command/view_options.hpp"

namespace spatialcert::command {
namespace {

struct Arguments {
  CertifyOptions options;
  std::string format = "text";
  std::vector<std::string> rules;
};

std::vector<std::string> rule_names() {
  std::vector<std::string> names;
  for (const proofs::Rule rule : proofs::all_rules()) names.emplace_back(proofs::to_string(rule));
  return names;
}

int run_certify(Arguments& arguments) {
  CertifyOptions& options = arguments.options;
  options.json = arguments.format == "json";
  if (!options.suggestion_folder.empty()) options.suggest = true;
  for (const std::string& name : arguments.rules) {
    const proofs::Rule rule = *proofs::parse_rule(name);
    if (std::find(options.rules.begin(), options.rules.end(), rule) == options.rules.end()) {
      options.rules.push_back(rule);
    }
  }
  return Certification(options).run();
}

constexpr const char* kFooter = R"(
PROGRAM is a program (.json, .json.zst) or an MSCCL algorithm (.xml, .xml.zst), told apart by
content. An algorithm is several programs if it allows several placements or its steps may be one
transfer or several: all are certified and reported. Where it deadlocks only above a message size,
the report names the size.

A certificate is written only if the program is certified; with --rule, a partial one if all those
rules hold. Otherwise a file that was there is not touched, and the report says so.

Views (--html and those below it) are written when all programs are done; FILE may be - for
standard output, which then has nothing else. --html, --sarif and --junit are one file for the run.
--dot, --pnml and --perfetto are one per counterexample: FILE if there is one, and
FILE/PROGRAM.RULE.EXTENSION if there are several or FILE names a folder. Where nothing was refuted
they are not written, and what was there is not touched.

Exit status: 70 fault of spatialcert's own or unwritable output; else 1 something was refuted; else
3 a file was refused; else 2 something is undecided; else 0. 64 wrong usage. With --rule never 0.

Examples:
  spatialcert certify model.json.zst
  spatialcert certify model.json -o model.cert
  spatialcert certify --format json -j 8 algorithms/*.xml
  spatialcert certify --rule ordering --smt2 queries --cex found model.json
  spatialcert certify --suggest-to repaired model.json
  spatialcert certify --sarif run.sarif --junit run.xml --dot nets/ models/*.json
  spatialcert certify --bytes 64MiB --placement in ring.xml
)";

}  // namespace

Command declare_certify(CLI::App& parent) {
  auto arguments = std::make_shared<Arguments>();
  CertifyOptions& options = arguments->options;
  options.jobs = std::max(1U, std::thread::hardware_concurrency());
  CLI::App* app = parent.add_subcommand("certify", "Certify or refute programs");
  app->add_option("PROGRAM", options.paths, "Programs or foreign files")->required();
  app->add_option("--format", arguments->format, "text (default) or json")
      ->check(CLI::IsMember({"text", "json"}));
  app->add_option("--rule", arguments->rules, "Only this rule; may be repeated")
      ->check(CLI::IsMember(rule_names()))
      ->allow_extra_args(false);
  app->add_option("--rlimit", options.rlimit,
                  fmt::format("Z3 resource units per query (default: {})", options.rlimit))
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{0xffffffffU}));
  app->add_flag("--monolithic", options.monolithic,
                "Ask Z3 about the whole program at once: slow, and the same verdict");
  app->add_flag("--unroll", options.unroll,
                "Unroll loops even where a few of their trips would stand for all of them");
  app->add_flag("--whole", options.whole,
                "Certify composed programs as a whole, even where sections that are alike could be "
                "certified once");
  app->add_option(
         "-j,--jobs", options.jobs,
         "Threads: for several programs, and for the parts of one where there are more threads "
         "than programs; the output does not depend on it (default: number of cores)")
      ->check(CLI::Range(1U, 1024U));
  app->add_option("--smt2", options.smt2_folder, "Write every query to DIR/PROGRAM/RULE-nnn.smt2")
      ->type_name("DIR");
  app->add_option("--cex", options.counterexample_folder,
                  "Write every counterexample to DIR/PROGRAM.RULE.json, for `replay`")
      ->type_name("DIR");
  app->add_option("-o,--output", options.output,
                  "Write the certificate of a certified program to FILE, or those of several to "
                  "DIR/PROGRAM.cert")
      ->type_name("FILE")
      ->check([](const std::string& path) {
        return path.empty() ? std::string("a name is needed") : std::string();
      });
  add_suggestion_options(*app, options.suggest, options.suggestion_folder);
  add_view_options(*app, options.views);
  app->add_flag("--quiet", options.quiet, "One line per program, and no progress");
  add_import_options(*app, options.import);
  app->footer(kFooter);
  return {app, [arguments] { return run_certify(*arguments); }};
}

}  // namespace spatialcert::command
