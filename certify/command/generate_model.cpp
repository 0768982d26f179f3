#include "certify/command/generate_model.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "certify/command/command.hpp"
#include "compose/models/configuration.hpp"
#include "compose/models/faults.hpp"
#include "compose/models/model.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::command {
namespace {

namespace models = compose::models;

/// `WxH`.
void read_mesh(const std::string& text, models::Hardware& hardware) {
  const char* const end = text.data() + text.size();
  const auto width = std::from_chars(text.data(), end, hardware.mesh_width);
  bool good = width.ec == std::errc{} && width.ptr != end && *width.ptr == 'x';
  if (good) {
    const auto height = std::from_chars(width.ptr + 1, end, hardware.mesh_height);
    good = height.ec == std::errc{} && height.ptr == end;
  }
  if (!good || hardware.mesh_width == 0 || hardware.mesh_height == 0) {
    throw UsageError(fmt::format("--mesh: expected WIDTHxHEIGHT, found {}", text));
  }
}

models::ModelOptions model_options(const GenerateModel& options) {
  models::ModelOptions out;
  out.hardware.chips = options.chips;
  read_mesh(options.mesh, out.hardware);
  if (options.layers != 0) out.layers = options.layers;
  out.context = options.context;
  out.position = options.position;
  out.automatic_phases = options.phases == "auto";
  return out;
}

ir::Result<models::Configuration> configuration_of(const GenerateModel& options) {
  if (options.configuration.empty()) {
    auto known = models::known_model(options.name);
    if (!known) throw UsageError(fmt::format("--model: {}", known.error().message()));
    return known;
  }
  return models::read_configuration(options.configuration);
}

int refuse(const ir::Refusal& refusal) {
  complain(refusal.message() + '\n');
  return kRefused;
}

}  // namespace

std::string model_faults_text() {
  std::string text;
  for (const models::ModelFault fault : models::model_faults())
    text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(fault));
  return text;
}

void declare_model_options(CLI::App& app, GenerateModel& options) {
  app.add_option("--model", options.name, "A model, by name: a decoding step of one token")
      ->type_name("NAME");
  app.add_option("--config", options.configuration, "The same for a configuration file")
      ->type_name("FILE")
      ->excludes("--model");
  app.add_option("--chips", options.chips, "Models: chips that share it (default: 1)")
      ->check(CLI::PositiveNumber);
  app.add_option("--mesh", options.mesh, "Models: sites of a chip (default: 4x4)")
      ->type_name("WxH");
  app.add_option("--layers", options.layers, "Models: only the first layers (default: all)")
      ->check(CLI::PositiveNumber);
  app.add_option("--position", options.position,
                 "Models: position of the token; it attends to all before it (default: 0)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--context", options.context,
                 "Models: positions that caches have room for (default: 4096)")
      ->check(CLI::PositiveNumber);
  app.add_option("--phases", options.phases,
                 "Models: auto, or all: every boundary closed (default: auto)")
      ->check(CLI::IsMember({"auto", "all"}));
  app.add_option("--sections", options.sections,
                 "Models: folder for the sections, composition.json and parallelism.json")
      ->type_name("DIR");
}

int generate_model(const GenerateModel& options, const std::string& output) {
  std::optional<models::ModelFault> fault;
  if (!options.fault.empty()) {
    fault = models::parse_model_fault(options.fault);
    if (!fault)
      throw UsageError(fmt::format("--fault: unknown name {}; of models: {}", options.fault,
                                   model_faults_text()));
  }
  const auto configuration = configuration_of(options);
  if (!configuration) return refuse(configuration.error());
  const auto model = models::generate_model(*configuration, model_options(options));
  if (!model) return refuse(model.error());
  if (!options.sections.empty()) {
    if (const ir::Status failed = models::write_sections(*model, options.sections)) {
      throw OutputError(failed->message());
    }
    if (output == "-") return 0;
  }
  auto program = models::composed(*model);
  if (!program) return refuse(program.error());
  if (fault) program = models::with_fault(*program, *fault);
  if (!program) return refuse(program.error());
  if (output == "-") {
    print(ir::serialise(*program));
    return 0;
  }
  if (const ir::Status failed = ir::write_program(*program, output)) {
    throw OutputError(failed->message());
  }
  return 0;
}

}  // namespace spatialcert::command
