// spatialcert generate
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "certify/command/command.hpp"
#include "compose/collectives/collectives.hpp"
#include "ir/bytes_file.hpp"

namespace spatialcert::command {
namespace {

struct GenerateOptions {
  std::string algorithm;
  std::string collective;
  std::string fault = "none";
  std::uint32_t ranks = 0;
  std::uint32_t ranks_per_node = 0;
  std::string protocol = "Simple";
  bool in_place = false;
  std::string output = "-";
};

std::string supported_text() {
  std::string text = "supported:\n";
  for (const compose::SupportedPair& pair : compose::supported_pairs()) {
    text += fmt::format("  --collective {} --op {}: ranks: {}", compose::to_string(pair.algorithm),
                        compose::to_string(pair.collective), pair.ranks);
    const char* separator = "; faults: ";
    for (const compose::Fault fault : pair.faults) {
      text += fmt::format("{}{}", std::exchange(separator, ", "), compose::to_string(fault));
    }
    text += '\n';
  }
  return text;
}

/// One of the names that `parse` knows; they are listed by the supported pairs.
template <typename Value>
Value named(const char* option, const std::string& name,
            std::optional<Value> (*parse)(std::string_view)) {
  const std::optional<Value> value = parse(name);
  if (!value)
    throw UsageError(fmt::format("{}: unknown name {}; {}", option, name, supported_text()));
  return *value;
}

int generate(const GenerateOptions& options) {
  compose::CollectiveOptions wanted;
  wanted.algorithm = named("--collective", options.algorithm, compose::parse_algorithm);
  wanted.collective = named("--op", options.collective, compose::parse_collective);
  wanted.fault = named("--fault", options.fault, compose::parse_fault);
  wanted.ranks = options.ranks;
  wanted.ranks_per_node = options.ranks_per_node != 0
                              ? options.ranks_per_node
                              : std::min(options.ranks, wanted.ranks_per_node);
  wanted.protocol = options.protocol;
  wanted.in_place = options.in_place;
  const auto xml = compose::generate_collective(wanted);
  if (!xml) throw UsageError(fmt::format("{}\n{}", xml.error().message(), supported_text()));
  if (options.output == "-") {
    print(*xml);
    return 0;
  }
  if (const ir::Status failed = ir::write_bytes(options.output, *xml)) {
    throw OutputError(failed->message());
  }
  return 0;
}

}  // namespace

Command declare_generate(CLI::App& parent) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* app = parent.add_subcommand("generate", "Write a collective algorithm as MSCCL XML");
  app->add_option("--collective", options->algorithm,
                  "ring, allpairs, recursive-doubling, tree or hierarchical")
      ->required();
  app->add_option("--op", options->collective, "allreduce, allgather, reduce-scatter or alltoall")
      ->required();
  app->add_option("--ranks", options->ranks, "Number of ranks")
      ->required()
      ->check(CLI::PositiveNumber);
  app->add_option("--ranks-per-node", options->ranks_per_node,
                  "Hierarchical only: ranks of a node, a divisor of the ranks (default: 8, or all)")
      ->check(CLI::PositiveNumber);
  app->add_option("--protocol", options->protocol, "Simple, LL or LL128 (default: Simple)")
      ->check(CLI::IsMember({"Simple", "LL", "LL128"}));
  app->add_flag("--in-place", options->in_place, "The output lies where the input does");
  app->add_option("--fault", options->fault, "Build in a known way to get it wrong")
      ->type_name("NAME");
  app->add_option("-o,--output", options->output, "FILE.xml or FILE.xml.zst; - for standard output")
      ->type_name("FILE");
  app->footer(
      fmt::format("\nExit status: 0; 64 for a combination that is not supported.\n\n{}\n"
                  "Example:\n  spatialcert generate --collective hierarchical --op allreduce "
                  "--ranks 64 --ranks-per-node 8 -o ar64.xml\n",
                  supported_text()));
  return {app, [options] { return generate(*options); }};
}

}  // namespace spatialcert::command
