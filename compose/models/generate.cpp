// The parts of a model in their order, and the program that they make.
#include <fmt/format.h>

#include <optional>
#include <utility>
#include <variant>

#include "compose/models/parts.hpp"
#include "ir/require.hpp"

namespace spatialcert::compose::models {
namespace {

std::uint64_t layers_of(const Configuration& configuration, const ModelOptions& options) {
  const std::uint64_t layers = options.layers.value_or(configuration.layers);
  const auto refuse = [&](const char* what, std::string expected, std::uint64_t found) {
    throw ir::Refusal{"", 0, fmt::format("{}: {}", configuration.name, what), std::move(expected),
                      fmt::format("{}", found)};
  };
  if (layers == 0 || layers > configuration.layers) {
    refuse("layers", fmt::format("1 to {} layers", configuration.layers), layers);
  }
  if (options.position >= options.context) {
    refuse("position", fmt::format("a position below the context of {}", options.context),
           options.position);
  }
  const Hardware& on = options.hardware;
  if (on.chips == 0) refuse("chips", "at least 1", 0);
  if (on.mesh_width == 0 || on.mesh_height == 0) refuse("mesh", "at least one site", 0);
  return layers;
}

/// A section under the name of its use. What an instance file of a composition says.
ir::Program instance(const Model& model, const SectionUse& use) {
  ir::Program section = model.sections[use.section];
  rename_section(section, use.name);
  const auto refused = rebind_tensors(section, use.tensors);
  SPATIALCERT_REQUIRE(!refused, "the tensors of a section are those that its use names");
  return section;
}

}  // namespace

ir::Result<Model> generate_model(const Configuration& configuration, const ModelOptions& options) {
  try {
    const std::uint64_t layers = layers_of(configuration, options);
    ModelWriter writer(configuration, options);
    const auto x = [](std::uint64_t layer) { return fmt::format("L{}.x", layer); };
    write_embedding(writer, x(0));
    for (std::uint64_t layer = 0; layer < layers; ++layer) {
      const std::string prefix = fmt::format("L{}.", layer);
      const auto attention =
          is_linear(configuration, layer) ? write_linear_attention : write_attention;
      attention(writer, prefix);
      const auto forward = configuration.experts ? write_experts : write_feed_forward;
      forward(writer, prefix, x(layer + 1));
    }
    write_head(writer, x(layers));
    return writer.finish();
  } catch (ir::Refusal& refusal) {
    return std::move(refusal);
  }
}

ir::Result<ir::Program> composed(const Model& model) {
  std::vector<ir::Program> sections;
  sections.reserve(model.uses.size());
  for (const SectionUse& use : model.uses) sections.push_back(instance(model, use));
  Manifest manifest;
  manifest.options.name = model.name;
  manifest.options.carried = model.carried;
  manifest.phases.kind =
      model.automatic_phases ? WantedPhases::Kind::automatic : WantedPhases::Kind::all;
  manifest.separate_memory = model.automatic_phases;
  std::optional<parallel::Manifest> split;
  if (model.manifest.chips > 1) split = model.manifest;
  auto outcome = compose_manifest(manifest, sections, split);
  if (const auto* refused = std::get_if<Refused>(&outcome)) {
    return ir::Refusal{"", 0, model.name, refused->remedy, refused->message()};
  }
  return std::get<Composed>(std::move(outcome)).program;
}

}  // namespace spatialcert::compose::models
