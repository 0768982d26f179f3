#include "compose/models/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "compose/models/statements.hpp"
#include "compose/models/tiling.hpp"
#include "compose/parallel/allreduce.hpp"
#include "compose/parallel/slices.hpp"
#include "ir/require.hpp"

namespace spatialcert::compose::models {

using sections::Expression;

ModelWriter::ModelWriter(const Configuration& configuration, const ModelOptions& options)
    : configuration_(configuration),
      options_(options),
      target_(target_of(configuration, options.hardware)) {
  model_.name = configuration.name;
  model_.automatic_phases = options.automatic_phases;
  model_.manifest.chips = chips();
}

ir::DType ModelWriter::sum_type() const {
  if (integer()) return target_.widest_integer;
  return dtype() == ir::DType::f64 ? ir::DType::f64 : ir::DType::f32;
}

void ModelWriter::expect_divided(std::uint64_t size, const char* what) const {
  if (size % chips() == 0) return;
  throw ir::Refusal{"", 0, fmt::format("{}: chips", model_.name),
                    fmt::format("a number of chips that divides the {} {}", size, what),
                    fmt::format("{}", chips())};
}

// ---- names and tensors --------------------------------------------------------------------------

void ModelWriter::begin(const std::string& kind, const std::string& prefix,
                        std::map<std::string, std::string> outside) {
  kind_ = kind;
  prefix_ = prefix;
  outside_ = std::move(outside);
  tensors_.clear();
}

std::string ModelWriter::on(const std::string& name, Chip chip) const {
  return chip && chips() > 1 ? fmt::format("{}.{}", name, *chip) : name;
}

std::string ModelWriter::full_name(const std::string& name) const {
  const auto known = outside_.find(name);
  return known == outside_.end() ? prefix_ + name : known->second;
}

std::string ModelWriter::declare(SectionTensor tensor) {
  if (chips() == 1) tensor.owner.reset();
  if (tensor.owner) model_.manifest.owners.emplace(full_name(tensor.name), *tensor.owner);
  std::string name = tensor.name;
  tensors_.emplace(name, std::move(tensor));
  return name;
}

const SectionTensor& ModelWriter::declared(const std::string& name) const {
  const auto known = tensors_.find(name);
  SPATIALCERT_REQUIRE(known != tensors_.end(), "the tensors of a part are declared");
  return known->second;
}

std::string ModelWriter::activation(const std::string& name, Chip chip, std::uint64_t rows,
                                    std::uint64_t cols, std::optional<ir::DType> dtype) {
  return outside(name, chip, rows, cols, ir::TensorRole::activation, dtype);
}

std::string ModelWriter::outside(const std::string& name, Chip chip, std::uint64_t rows,
                                 std::uint64_t cols, ir::TensorRole role,
                                 std::optional<ir::DType> dtype) {
  return declare(
      {on(name, chip), rows, cols, dtype.value_or(configuration_.dtype), role, chip, {}, 0});
}

std::string ModelWriter::view(const std::string& name, Chip chip, const std::string& base,
                              std::uint64_t rows, std::uint64_t cols, std::uint64_t offset) {
  const SectionTensor& of = declared(base);
  const std::string& root = of.view_of.empty() ? base : of.view_of;
  return declare({on(name, chip), rows, cols, of.dtype, ir::TensorRole::activation, chip, root,
                  of.view_offset + offset});
}

std::string ModelWriter::part(const std::string& name, std::uint32_t chip, std::uint64_t rows,
                              std::uint64_t cols, const Cut& cut,
                              std::vector<ir::IndexRange> ranges, ir::TensorRole role,
                              std::optional<ir::DType> dtype) {
  const bool by_rows = cut.axis == ir::Axis::rows;
  const std::uint64_t length = parallel::length(ranges);
  std::string own =
      outside(name, chip, by_rows ? length : rows, by_rows ? cols : length, role, dtype);
  if (chips() == 1) {
    SPATIALCERT_REQUIRE(length == (by_rows ? rows : cols), "one chip has all of a tensor");
    return own;
  }
  const auto [known, fresh] = full_.emplace(full_name(name), model_.manifest.full.size());
  if (fresh) {
    model_.manifest.full.push_back(
        {full_name(name), rows, cols, cut.axis, cut.dimension, cut.stacked, cut.copies, {}});
  }
  model_.manifest.full[known->second].parts.push_back({full_name(own), std::move(ranges)});
  return own;
}

void ModelWriter::below(const std::string& name, std::uint64_t end) {
  tensors_.at(name).values = ir::ValueRange{0, static_cast<std::int64_t>(end) - 1};
}

void ModelWriter::carry(const std::string& name) { model_.carried.push_back(full_name(name)); }

// ---- sections -----------------------------------------------------------------------------------

std::vector<ir::Site> ModelWriter::sites(Chip chip) const {
  std::vector<ir::Site> out;
  for (std::uint32_t x = 0; x < options_.hardware.mesh_width; ++x) {
    for (std::uint32_t y = 0; y < options_.hardware.mesh_height; ++y) {
      out.push_back({chip.value_or(parallel::kRootChip), x, y});
    }
  }
  return out;
}

void ModelWriter::use(const std::string& name, const std::function<ir::Program()>& build) {
  const std::string kind = fmt::format("{}.{}", kind_, name);
  const auto [known, fresh] =
      sections_.emplace(kind, static_cast<std::uint32_t>(model_.sections.size()));
  if (fresh) {
    model_.sections.push_back(build());
    model_.files.push_back(kind);
  }
  SectionUse use{known->second, prefix_ + name, {}};
  for (const ir::Tensor& tensor : model_.sections[known->second].tensors) {
    std::string full = full_name(tensor.name);
    if (full != tensor.name) use.tensors.emplace_back(tensor.name, std::move(full));
  }
  model_.uses.push_back(std::move(use));
}

void ModelWriter::section(const std::string& name, Chip chip, const sections::Work& work) {
  const std::string own = on(name, chip);
  use(own, [&] {
    SectionDescription about;
    about.name = own;
    about.target = target_;
    about.sites = sites(chip);
    for (const std::string& tensor : names_of(work)) {
      const SectionTensor& t = declared(tensor);
      if (!t.view_of.empty()) about.tensors.push_back(declared(t.view_of));
      about.tensors.push_back(t);
    }
    const auto by_name = [](const SectionTensor& a, const SectionTensor& b) {
      return a.name == b.name;
    };
    for (auto at = about.tensors.begin(); at != about.tensors.end();) {
      const bool again = std::any_of(about.tensors.begin(), at,
                                     [&](const SectionTensor& t) { return by_name(t, *at); });
      at = again ? about.tensors.erase(at) : at + 1;
    }
    about.work = work;
    const Tiling tiling = tiling_of(
        work, [&](const std::string& t) -> const SectionTensor& { return declared(t); },
        options_.hardware);
    about.tile = tiling.tile;
    about.split = tiling.split;
    about.depth = options_.hardware.depth;
    ir::Result<ir::Program> built = build_section(about);
    if (!built) throw ir::Refusal(built.error());
    return std::move(built).value();
  });
  add_statement(chip, work);
}

void ModelWriter::add_statement(Chip chip, const sections::Work& work) {
  parallel::SourceOp op =
      statements_of(work, [&](const std::string& name) { return full_name(name); });
  // What is inside of a fused op belongs to whom its result does.
  if (chip && chips() > 1) {
    for (const parallel::Statement& member : op.members) {
      model_.manifest.owners.emplace(member.name, *chip);
    }
  }
  model_.manifest.statements.push_back(std::move(op));
}

void ModelWriter::allreduce(const std::string& name, std::uint64_t cols) {
  if (chips() == 1) return;
  const std::string out = activation(name, {}, 1, cols, sum_type());
  const auto collective = [&](const auto& called) {
    parallel::Collective result{called(name), {}, {called(name)}};
    for (std::uint32_t c = 0; c < chips(); ++c) {
      result.partials.push_back(called(on(partial(name), c)));
    }
    return result;
  };
  use(name, [&] {
    const parallel::Collective own = collective([](const std::string& local) { return local; });
    parallel::Manifest owners;
    owners.chips = chips();
    for (std::uint32_t c = 0; c < chips(); ++c) owners.owners.emplace(own.partials[c], c);
    parallel::AllreduceDescription about;
    about.name = name;
    // Sums are added up as they were accumulated, not as the datapath computes otherwise.
    about.target = target_;
    if (!integer()) about.target.float_type = sum_type();
    about.rows = 1;
    about.cols = cols;
    about.dtype = sum_type();
    about.sites = sites({});
    const Tiling tiling = tiling_of(1, cols, ir::size_of(sum_type()), options_.hardware);
    about.tile = tiling.tile;
    about.split = tiling.split;
    about.depth = options_.hardware.depth;
    auto built = parallel::allreduce_section(own, about, parallel::Sharding(owners));
    if (auto* refused = std::get_if<parallel::Refused>(&built)) {
      throw ir::Refusal{"", 0, fmt::format("section {}", name), refused->remedy, refused->what};
    }
    ir::Program program = std::get<ir::Program>(std::move(built));
    program.target = target_;
    return program;
  });
  parallel::Collective whole =
      collective([&](const std::string& local) { return full_name(local); });
  model_.manifest.statements.push_back({{{whole.out, ir::OpKind::add, whole.partials}}});
  model_.manifest.collectives.push_back(std::move(whole));
}

// ---- functions ----------------------------------------------------------------------------------

void ModelWriter::rms_norm(const std::string& name, Chip chip, const std::string& x,
                           const std::string& weight, const std::string& result) {
  if (!integer()) return section(name, chip, sections::RmsNorm{x, weight, result});
  section(
      name, chip,
      sections::Elementwise{sections::mul(sections::tensor(x), sections::tensor(weight)), result});
}

void ModelWriter::softmax(const std::string& name, Chip chip, const std::string& x,
                          const std::string& result) {
  if (!integer()) return section(name, chip, sections::Softmax{x, result});
  section(name, chip, sections::Elementwise{sections::scale(sections::tensor(x), 1), result});
}

Expression ModelWriter::silu(Expression x) const {
  return integer() ? sections::scale(std::move(x), 1) : sections::silu(std::move(x));
}

Expression ModelWriter::sigmoid(Expression x) const {
  return integer() ? sections::scale(std::move(x), 1) : sections::sigmoid(std::move(x));
}

Expression ModelWriter::rounded(const std::string& sum) const {
  return sum_type() == dtype() ? sections::tensor(sum) : sections::cast(sum);
}

Expression ModelWriter::scaled(const std::string& x, double factor) const {
  return sections::scale(sections::tensor(x), integer() ? 1 : factor);
}

Model ModelWriter::finish() { return std::move(model_); }

}  // namespace spatialcert::compose::models
