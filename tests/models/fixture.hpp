// Small models, and what they hold: full tensors, of which every program gets its parts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compose/models/model.hpp"
#include "ir/machine/machine.hpp"

namespace spatialcert::tests {

namespace models = compose::models;
using ir::DType;
using ir::machine::Inputs;
using ir::machine::Machine;
using ir::machine::Matrix;

/// Sizes that 8 chips divide. `real`: of that type; otherwise integers.
[[nodiscard]] models::Configuration dense_model(DType type = DType::i64);
/// The first layer has linear attention, the second one attention; mixtures of experts.
[[nodiscard]] models::Configuration hybrid_model(DType type = DType::i64);

/// A few small sites and tiles of a few elements, so that everything is cut.
[[nodiscard]] models::ModelOptions small_options(std::uint32_t chips, std::uint64_t position = 0);

/// Contents by the names of full tensors (of one chip, or of what the chips' parts are cut from).
class World {
 public:
  explicit World(const models::Configuration& configuration, std::uint64_t seed = 1)
      : configuration_(configuration), seed_(seed) {}

  /// What the external tensors of the program hold: drawn from the names of full tensors, or as
  /// set.
  [[nodiscard]] Inputs inputs(const models::Model& model, const ir::Program& program) const;
  /// Takes the states after a run, and those of all chips together.
  void keep_states(const models::Model& model, const Machine& machine);
  void set(const std::string& name, Matrix contents) { set_[name] = std::move(contents); }
  /// Sets the position that angles belong to.
  void turn(std::uint64_t position) { position_ = position; }

  [[nodiscard]] Matrix full(const std::string& name, DType type, std::uint64_t rows,
                            std::uint64_t cols, std::uint32_t chips) const;

 private:
  const models::Configuration& configuration_;
  std::uint64_t seed_;
  std::uint64_t position_ = 0;
  std::map<std::string, Matrix> set_;
};

/// Generates, composes, and runs it from the world's contents, whose states it updates. Certifies
/// it if `certified`.
struct Ran {
  models::Model model;
  std::unique_ptr<ir::Program> program;
  std::optional<Machine> machine;

  /// A tensor; that of several chips joined from its parts, of `name.chip`.
  [[nodiscard]] Matrix tensor(const std::string& name) const;
};
[[nodiscard]] Ran run(const models::Configuration& configuration,
                      const models::ModelOptions& options, World& world, std::uint64_t schedule);

[[nodiscard]] models::Model generated(const models::Configuration& configuration,
                                      const models::ModelOptions& options);
[[nodiscard]] ir::Program program_of(const models::Model& model);

}  // namespace spatialcert::tests
