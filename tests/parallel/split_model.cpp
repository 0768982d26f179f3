#include "tests/parallel/split_model.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

#include "compose/composition/composer.hpp"
#include "compose/parallel/attach.hpp"
#include "compose/parallel/relocate.hpp"
#include "compose/parallel/slices.hpp"
#include "tests/composition/section_maker.hpp"

namespace spatialcert::tests {
namespace {

using namespace compose::sections;  // NOLINT: the words of descriptions
using ir::DType;
using ir::machine::Matrix;

struct Shape {
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  DType dtype = DType::i32;
};

ir::Program section(const ir::Target& target, const std::string& name, Work work,
                    std::vector<std::pair<std::string, Shape>> tensors) {
  compose::SectionDescription d;
  d.name = name;
  d.target = target;
  d.sites = {{0, 0, 0}};
  for (auto& [tensor, shape] : tensors)
    d.tensors.push_back({tensor, shape.rows, shape.cols, shape.dtype, ir::TensorRole::activation});
  d.work = std::move(work);
  d.tile = {2, 2, 2};
  auto built = compose::build_section(d);
  if (!built) FAIL(built.error().message());
  return std::move(built).value();
}

ir::Program mlp(const ir::Target& target, const std::string& suffix, bool up, std::uint64_t inner,
                DType partial = DType::i32) {
  const Shape tokens{kTokens, kModel}, middle{kTokens, inner};
  if (up) {
    return section(
        target, "up" + suffix, Matmul{"normed", "up" + suffix, "mid" + suffix, {}},
        {{"normed", tokens}, {"up" + suffix, {kModel, inner}}, {"mid" + suffix, middle}});
  }
  return section(target, "down" + suffix, Matmul{"mid" + suffix, "down" + suffix, "p" + suffix, {}},
                 {{"mid" + suffix, middle},
                  {"down" + suffix, {inner, kModel}},
                  {"p" + suffix, {kTokens, kModel, partial}}});
}

ir::Program norm(const ir::Target& target) {
  return section(target, "norm", Elementwise{scale(tensor("x"), 3), "normed"},
                 {{"x", {kTokens, kModel}}, {"normed", {kTokens, kModel}}});
}

ir::Program residual(const ir::Target& target, const std::string& sum) {
  return section(target, "residual", Elementwise{add(tensor(sum), tensor("x")), "y"},
                 {{sum, {kTokens, kModel}}, {"x", {kTokens, kModel}}, {"y", {kTokens, kModel}}});
}

parallel::Manifest manifest_of(std::uint32_t chips, std::uint64_t inner) {
  parallel::Manifest m;
  m.chips = chips;
  parallel::FullTensor up{"up", kModel, inner, ir::Axis::columns, "ffn", false, 1, {}};
  parallel::FullTensor down{"down", inner, kModel, ir::Axis::rows, "ffn", false, 1, {}};
  parallel::Collective sum{"h", {}, {}};
  m.statements.push_back({{{"normed", ir::OpKind::scale, {"x"}}}});
  for (std::uint32_t c = 0; c < chips; ++c) {
    const auto named = [&](const char* name) { return fmt::format("{}.{}", name, c); };
    for (const char* name : {"up", "down", "mid", "p"}) m.owners[named(name)] = c;
    const std::uint64_t half = inner / 2;
    const std::vector<ir::IndexRange> ranges = {{2 * c, 2 * c + 2},
                                                {half + 2 * c, half + 2 * c + 2}};
    up.parts.push_back({named("up"), ranges});
    down.parts.push_back({named("down"), ranges});
    m.statements.push_back({{{named("mid"), ir::OpKind::matmul, {"normed", named("up")}}}});
    m.statements.push_back({{{named("p"), ir::OpKind::matmul, {named("mid"), named("down")}}}});
    sum.partials.push_back(named("p"));
  }
  sum.folds = {"h"};
  m.statements.push_back({{{"h", ir::OpKind::add, sum.partials}}});
  m.statements.push_back({{{"y", ir::OpKind::add, {"h", "x"}}}});
  m.full = {std::move(up), std::move(down)};
  m.collectives = {std::move(sum)};
  return m;
}

}  // namespace

SplitModel split_model(std::uint32_t count, bool crossing, DType partial) {
  SplitModel out;
  out.inner = 4 * std::uint64_t{count};
  out.manifest = manifest_of(count, out.inner);
  if (const auto wrong = parallel::validate(out.manifest)) FAIL(wrong->message());
  out.target = chips(count, crossing);
  out.before.push_back({"normed", norm(out.target)});
  for (std::uint32_t c = 0; c < count; ++c) {
    const std::string suffix = fmt::format(".{}", c);
    out.before.push_back({"mid" + suffix, mlp(out.target, suffix, true, 4)});
    out.before.push_back({"p" + suffix, mlp(out.target, suffix, false, 4, partial)});
  }
  out.sum = sum_of(count, kTokens, kModel, partial);
  out.sum.target = out.target;
  if (partial == DType::i32) out.sum.values = ir::ValueRange{-1'000'000, 1'000'000};
  out.after.push_back({"y", residual(out.target, "h")});
  return out;
}

ir::Program composed_model(const SplitModel& model) {
  const parallel::Sharding sharding(model.manifest);
  std::vector<ir::Program> sections;
  for (const ModelSection& one : model.before)
    sections.push_back(accepted(parallel::relocate(one.section, one.binder, sharding)));
  sections.push_back(accepted(
      parallel::allreduce_section(model.manifest.collectives.front(), model.sum, sharding)));
  for (const ModelSection& one : model.after)
    sections.push_back(accepted(parallel::relocate(one.section, one.binder, sharding)));
  auto outcome = compose::compose_ordered(sections, compose::phases_of(sections));
  ir::Program program = composed(outcome).program;
  if (const auto refused = parallel::attach(program, model.manifest)) FAIL(refused->message());
  return program;
}

ir::Program whole_model(const SplitModel& model) {
  const std::vector<ir::Program> sections = {
      norm(model.target), mlp(model.target, "", true, model.inner),
      mlp(model.target, "", false, model.inner), residual(model.target, "p")};
  return composed(compose::compose(sections)).program;
}

ir::machine::Inputs model_inputs(const SplitModel& model, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto drawn = [&](std::uint64_t rows, std::uint64_t cols) {
    std::vector<std::int64_t> values(rows * cols);
    for (std::int64_t& value : values) value = static_cast<std::int64_t>(random() % 17) - 8;
    return Matrix::of(DType::i32, rows, cols, std::move(values));
  };
  ir::machine::Inputs inputs;
  inputs.tensors["x"] = drawn(kTokens, kModel);
  for (const parallel::FullTensor& full : model.manifest.full) {
    Matrix whole = drawn(full.rows, full.cols);
    for (const parallel::Part& part : full.parts) {
      const parallel::PartOfTensor at(full, part);
      std::vector<std::int64_t> values;
      for (std::uint64_t r = 0; r < at.rows(); ++r) {
        for (std::uint64_t c = 0; c < at.cols(); ++c)
          values.push_back(whole.integers[at.flat(r, c)]);
      }
      inputs.tensors[part.tensor] = Matrix::of(DType::i32, at.rows(), at.cols(), std::move(values));
    }
    inputs.tensors[full.name] = std::move(whole);
  }
  return inputs;
}

ir::machine::Inputs inputs_of(const ir::Program& program, const ir::machine::Inputs& all) {
  ir::machine::Inputs out;
  for (const ir::Tensor& tensor : program.tensors) {
    const auto found = all.tensors.find(tensor.name);
    if (found != all.tensors.end() && tensor.init == ir::Init::external) out.tensors.insert(*found);
  }
  return out;
}

}  // namespace spatialcert::tests
