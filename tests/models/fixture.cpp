#include "tests/models/fixture.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "compose/parallel/slices.hpp"

namespace spatialcert::tests {
namespace {

using compose::parallel::FullTensor;
using compose::parallel::Part;
using compose::parallel::PartOfTensor;
using ir::machine::Ending;
using ir::machine::Schedule;

/// splitmix64 [Steele, Lea, Flood 2014].
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_real(DType type) { return type > DType::i64; }

void assign(Matrix& to, std::uint64_t i, const Matrix& from, std::uint64_t j) {
  if (is_real(to.dtype)) {
    to.reals[i] = from.reals[j];
  } else {
    to.integers[i] = from.integers[j];
  }
}

Matrix part_of(const Matrix& full, const FullTensor& about, const Part& part) {
  const PartOfTensor of(about, part);
  Matrix out(full.dtype, of.rows(), of.cols());
  for (std::uint64_t r = 0; r < of.rows(); ++r) {
    for (std::uint64_t c = 0; c < of.cols(); ++c) {
      assign(out, r * of.cols() + c, full, of.flat(r, c));
    }
  }
  return out;
}

}  // namespace

models::Configuration dense_model(DType type) {
  models::Configuration out;
  out.name = "dense";
  out.layers = 1;
  out.hidden = 8;
  out.vocabulary = 16;
  out.attention = {8, 2, 4, true, false};
  out.ffn = 16;
  out.arithmetic = is_real(type) ? models::Arithmetic::real : models::Arithmetic::integer;
  out.dtype = type;
  return out;
}

models::Configuration hybrid_model(DType type) {
  models::Configuration out = dense_model(type);
  out.name = "hybrid";
  out.layers = 2;
  out.attention = {8, 2, 4, true, true};
  out.linear_attention = models::LinearAttention{16, 32, 2, 3, 4, 2};
  out.ffn = 0;
  out.experts = models::Experts{8, 2, 3, 16};
  return out;
}

models::ModelOptions small_options(std::uint32_t chips, std::uint64_t position) {
  models::ModelOptions out;
  out.hardware.chips = chips;
  out.hardware.mesh_width = 2;
  out.hardware.mesh_height = 1;
  out.hardware.sram_bytes = 16384;
  out.hardware.page_bytes = 64;
  out.hardware.least_elements = 2;
  out.hardware.panel_columns = 0;
  out.context = 5;
  out.position = position;
  return out;
}

models::Model generated(const models::Configuration& configuration,
                        const models::ModelOptions& options) {
  auto model = models::generate_model(configuration, options);
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  return std::move(model).value();
}

ir::Program program_of(const models::Model& model) {
  auto program = models::composed(model);
  REQUIRE_MESSAGE(program.has_value(), program.error().message());
  return std::move(program).value();
}

Matrix World::full(const std::string& name, DType type, std::uint64_t rows, std::uint64_t cols,
                   std::uint32_t chips) const {
  if (const auto known = set_.find(name); known != set_.end()) return known->second;
  Matrix out(type, rows, cols);
  const bool angles = name == "cos" || name == "sin";
  const std::uint64_t experts = configuration_.experts ? configuration_.experts->count : 0;
  const bool table = name.find(".wexpert.") != std::string::npos;
  std::uint64_t state = seed_ * 1000003U;
  for (const char c : name) state = state * 31U + static_cast<unsigned char>(c);
  if (angles) state += position_ * 7919U;
  for (std::uint64_t i = 0; i < out.size(); ++i) {
    const std::uint64_t row = i / cols, col = i % cols;
    const std::uint64_t drawn = next(state);
    if (ends_with(name, ".map")) {
      // The number of the expert in its chip's table, or that of the zeros at its end.
      const std::uint64_t own = experts / chips;
      out.integers[i] = static_cast<std::int64_t>(row / own == col ? row % own : own);
    } else if (name == "token") {
      out.integers[i] = static_cast<std::int64_t>((position_ * 5 + 3) % configuration_.vocabulary);
    } else if (table && row >= experts) {
      continue;
    } else if (is_real(type)) {
      out.reals[i] = angles ? (name == "cos" ? std::cos(0.3 * static_cast<double>(position_ + col))
                                             : std::sin(0.3 * static_cast<double>(position_ + col)))
                            : (static_cast<double>(drawn % 129) - 64) / 64;
    } else {
      out.integers[i] = drawn % 5 == 0 ? 0 : drawn % 2 == 0 ? 1 : -1;
    }
  }
  return out;
}

Inputs World::inputs(const models::Model& model, const ir::Program& program) const {
  std::map<std::string, std::pair<const FullTensor*, const Part*>> parts;
  for (const FullTensor& full : model.manifest.full) {
    for (const Part& part : full.parts) parts[part.tensor] = {&full, &part};
  }
  Inputs out;
  for (const ir::Tensor& t : program.tensors) {
    if (t.init != ir::Init::external) continue;
    const auto known = parts.find(t.name);
    if (known == parts.end()) {
      // Nothing that comes from outside may be a chip's own without being a slice.
      CHECK_MESSAGE(!t.owner, t.name);
      out.tensors[t.name] = full(t.name, t.dtype, t.rows, t.cols, model.manifest.chips);
      continue;
    }
    const auto& [of, part] = known->second;
    const Matrix whole = full(of->name, t.dtype, of->rows, of->cols, model.manifest.chips);
    out.tensors[t.name] = part_of(whole, *of, *part);
  }
  return out;
}

void World::keep_states(const models::Model& model, const Machine& machine) {
  for (const std::string& name : model.carried) {
    if (model.manifest.chips == 1) set_[name] = *machine.tensor(name);
  }
  for (const FullTensor& full : model.manifest.full) {
    if (std::find(model.carried.begin(), model.carried.end(), full.parts.front().tensor) ==
        model.carried.end()) {
      continue;
    }
    Matrix whole(machine.tensor(full.parts.front().tensor)->dtype, full.rows, full.cols);
    for (const Part& part : full.parts) {
      const Matrix own = *machine.tensor(part.tensor);
      const PartOfTensor of(full, part);
      for (std::uint64_t i = 0; i < own.size(); ++i) {
        assign(whole, of.flat(i / own.cols, i % own.cols), own, i);
      }
    }
    set_[full.name] = std::move(whole);
  }
}

Matrix Ran::tensor(const std::string& name) const {
  if (auto own = machine->tensor(name)) return *own;
  Matrix out;
  for (std::uint32_t c = 0; c < model.manifest.chips; ++c) {
    const auto part = machine->tensor(fmt::format("{}.{}", name, c));
    REQUIRE_MESSAGE(part, name);
    if (c == 0) out = Matrix(part->dtype, 1, 0);
    out.cols += part->cols;
    out.integers.insert(out.integers.end(), part->integers.begin(), part->integers.end());
    out.reals.insert(out.reals.end(), part->reals.begin(), part->reals.end());
  }
  return out;
}

Ran run(const models::Configuration& configuration, const models::ModelOptions& options,
        World& world, std::uint64_t schedule) {
  Ran out{generated(configuration, options), nullptr, std::nullopt};
  out.program = std::make_unique<ir::Program>(program_of(out.model));
  world.turn(options.position);
  auto made = Machine::make(*out.program, world.inputs(out.model, *out.program));
  REQUIRE_MESSAGE(made.has_value(), made.error().message());
  out.machine.emplace(std::move(made).value());
  const auto outcome =
      out.machine->run(schedule == 0 ? Schedule::any() : Schedule::random(schedule));
  REQUIRE_MESSAGE(outcome.ending == Ending::finished, outcome.text);
  world.keep_states(out.model, *out.machine);
  return out;
}

}  // namespace spatialcert::tests
