// spatialcert generate
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "certify/command/command.hpp"
#include "certify/command/generate_model.hpp"
#include "compose/collectives/collectives.hpp"
#include "compose/models/configuration.hpp"
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
  GenerateModel model;
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
  if (options.model.wanted()) {
    if (!options.algorithm.empty() || !options.collective.empty() || options.ranks != 0) {
      throw UsageError("generate: either a collective or a model");
    }
    GenerateModel model = options.model;
    if (options.fault != "none") model.fault = options.fault;
    return generate_model(model, options.output);
  }
  if (options.algorithm.empty() || options.collective.empty() || options.ranks == 0) {
    throw UsageError("generate: --collective, --op and --ranks, or --model or --config");
  }
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
  CLI::App* app = parent.add_subcommand(
      "generate", "Write a collective algorithm as MSCCL XML, or a model as a program");
  app->add_option("--collective", options->algorithm,
                  "ring, allpairs, recursive-doubling, tree or hierarchical");
  app->add_option("--op", options->collective, "allreduce, allgather, reduce-scatter or alltoall");
  app->add_option("--ranks", options->ranks, "Number of ranks")->check(CLI::PositiveNumber);
  app->add_option("--ranks-per-node", options->ranks_per_node,
                  "Hierarchical only: ranks of a node, a divisor of the ranks (default: 8, or all)")
      ->check(CLI::PositiveNumber);
  app->add_option("--protocol", options->protocol, "Simple, LL or LL128 (default: Simple)")
      ->check(CLI::IsMember({"Simple", "LL", "LL128"}));
  app->add_flag("--in-place", options->in_place, "The output lies where the input does");
  app->add_option("--fault", options->fault,
                  "Build in a known way to get it wrong (of models: docs/models.md)")
      ->type_name("NAME");
  app->add_option("-o,--output", options->output,
                  "FILE.xml or FILE.xml.zst, of a model FILE.json or FILE.json.zst; - for standard "
                  "output")
      ->type_name("FILE");
  declare_model_options(*app, options->model);
  app->footer(fmt::format(
      "\nExit status: 0; 3 if a model cannot be split or placed as asked; 64 for a "
      "combination that is not supported.\n\n{}  --model: {}; faults: {}\n\n"
      "Examples:\n  spatialcert generate --collective hierarchical --op allreduce "
      "--ranks 64 --ranks-per-node 8 -o ar64.xml\n"
      "  spatialcert generate --model qwen3-8b --chips 4 --mesh 4x4 -o qwen.json.zst && "
      "spatialcert certify qwen.json.zst\n"
      "  spatialcert generate --model llama-3.1-8b --chips 2 --layers 2 --sections llama "
      "&& spatialcert compose llama/composition.json -o llama.json\n",
      supported_text(), fmt::join(compose::models::known_models(), ", "), model_faults_text()));
  return {app, [options] { return generate(*options); }};
}

}  // namespace spatialcert::command
