// The split as it is declared, what is refused, and whole models in moderate size.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "certify/pipeline.hpp"
#include "compose/parallel/fusion.hpp"
#include "compose/parallel/relocate.hpp"
#include "compose/parallel/slices.hpp"
#include "ir/program_file.hpp"
#include "tests/models/fixture.hpp"

namespace spatialcert::tests {
namespace {

namespace parallel = compose::parallel;

const parallel::FullTensor& full_tensor(const models::Model& model, const std::string& name) {
  const auto at = std::find_if(model.manifest.full.begin(), model.manifest.full.end(),
                               [&](const auto& full) { return full.name == name; });
  REQUIRE_MESSAGE(at != model.manifest.full.end(), name);
  return *at;
}

TEST_CASE("the manifest of a split is good, and its parts tile their full tensors") {
  for (const std::uint32_t chips : {2U, 4U, 8U}) {
    for (const std::uint64_t panel : {0U, 2U}) {
      CAPTURE(chips);
      models::ModelOptions options = small_options(chips);
      options.hardware.panel_columns = panel;
      const models::Model model = generated(hybrid_model(DType::f32), options);
      const ir::Status bad = parallel::validate(model.manifest);
      CHECK_MESSAGE(!bad, bad->message());
      CHECK_FALSE(parallel::check_fusions(model.manifest));
      for (const parallel::FullTensor& full : model.manifest.full) {
        CAPTURE(full.name);
        CHECK(full.parts.size() == chips);
        const std::uint64_t size = full.axis == ir::Axis::rows ? full.rows : full.cols;
        std::vector<std::uint32_t> held(size, 0);
        for (const parallel::Part& part : full.parts) {
          for (const ir::IndexRange& r : part.ranges) {
            for (std::uint64_t i = r.begin; i < r.end; ++i) ++held[i];
          }
        }
        CHECK(std::all_of(held.begin(), held.end(), [&](auto n) { return n == full.copies; }));
      }
      const ir::Program program = program_of(model);
      CHECK(program.sliced.size() == model.manifest.full.size());
      for (const ir::Tensor& t : program.tensors) {
        const auto owner = model.manifest.owners.find(t.name);
        CHECK((owner == model.manifest.owners.end() ? !t.owner : t.owner == owner->second));
      }
    }
  }
}

TEST_CASE("a chip's value heads are several ranges, and key and value heads have copies") {
  const models::Model model = generated(hybrid_model(), small_options(4));
  // Chip 1 has key heads 4 to 7 of 16, so value heads 4 to 7 and 20 to 23 of 32.
  CHECK(full_tensor(model, "L0.wdt").parts[1].ranges ==
        std::vector<ir::IndexRange>{{4, 8}, {20, 24}});
  CHECK(full_tensor(model, "L0.state").parts[1].ranges ==
        std::vector<ir::IndexRange>{{8, 16}, {40, 48}});
  CHECK(full_tensor(model, "L0.state").stacked);
  const parallel::FullTensor& keys = full_tensor(model, "L1.keys");
  CHECK(keys.copies == 2);
  CHECK(keys.parts[0].ranges == keys.parts[1].ranges);
  CHECK(keys.parts[1].ranges != keys.parts[2].ranges);
  CHECK_FALSE(full_tensor(model, "L1.wo").stacked);
  CHECK(full_tensor(model, "L1.wo").axis == ir::Axis::rows);
  CHECK(full_tensor(model, "L1.wq").axis == ir::Axis::columns);
}

TEST_CASE("what indices may be is declared") {
  const ir::Program program = program_of(generated(hybrid_model(), small_options(4)));
  std::size_t declared = 0;
  for (const ir::Tensor& t : program.tensors) {
    if (!t.values) continue;
    ++declared;
    CHECK(t.values->least == 0);
    // Two experts to a chip, and one of zeros; a vocabulary of 16.
    CHECK(t.values->largest == (t.name == "token" ? 15 : 2));
  }
  CHECK(declared == 1 + 2 * 4);
}

TEST_CASE("quantised weights are cut as their scales are, and compute the same on several chips") {
  for (const std::uint64_t panel : {0U, 2U}) {
    models::Configuration about = dense_model(DType::f64);
    about.quantised = models::Quantisation{2, 2};
    World whole(about), split(about);
    models::ModelOptions options = small_options(1);
    options.hardware.panel_columns = panel;
    const Ran one = run(about, options, whole, 0);
    options.hardware.chips = 4;
    const Ran many = run(about, options, split, 1);
    CHECK(certify::certify(*many.program).verdict == certify::Verdict::certified);
    CHECK(many.model.manifest.quantised.size() == 4 * 8);
    const Matrix a = one.tensor("logits"), b = many.tensor("logits");
    for (std::size_t i = 0; i < a.reals.size(); ++i) {
      CHECK(std::abs(a.reals[i] - b.reals[i]) <= 1e-11 * std::max(1.0, std::abs(a.reals[i])));
    }
  }
}

TEST_CASE("the section of a chip is that of the first one, moved") {
  const models::Model model = generated(dense_model(), small_options(2));
  // As the sections name things: parts of chip c by `.c`.
  parallel::Manifest owners;
  owners.chips = 2;
  std::size_t moved = 0;
  for (std::size_t s = 0; s < model.files.size(); ++s) {
    const std::string& file = model.files[s];
    if (file.substr(file.size() - 2) != ".0") continue;
    const auto twin =
        std::find(model.files.begin(), model.files.end(), file.substr(0, file.size() - 1) + "1");
    REQUIRE(twin != model.files.end());
    ir::Program section = model.sections[s];
    std::string binder;
    for (ir::Tensor& t : section.tensors) {
      if (t.owner) t.name.back() = '1';
      if (t.owner) owners.owners.emplace(t.name, 1);
      if (t.role == ir::TensorRole::output || t.role == ir::TensorRole::state) binder = t.name;
      t.owner.reset();
    }
    const auto there = parallel::relocate(section, binder, parallel::Sharding(owners));
    REQUIRE_MESSAGE(std::holds_alternative<ir::Program>(there), file);
    const auto& wanted = model.sections[static_cast<std::size_t>(twin - model.files.begin())];
    const auto& found = std::get<ir::Program>(there);
    REQUIRE(found.tensors.size() == wanted.tensors.size());
    for (std::size_t t = 0; t < wanted.tensors.size(); ++t) {
      CHECK(found.tensors[t].name == wanted.tensors[t].name);
      CHECK(found.tensors[t].owner == wanted.tensors[t].owner);
    }
    REQUIRE(found.programs.size() == wanted.programs.size());
    for (std::size_t p = 0; p < wanted.programs.size(); ++p) {
      CHECK(found.programs[p].site == wanted.programs[p].site);
      CHECK(found.programs[p].ops.size() == wanted.programs[p].ops.size());
    }
    ++moved;
  }
  CHECK(moved >= 19);
}

void check_refused(const models::Configuration& about, const models::ModelOptions& options,
                   const std::string& path, const std::string& expected) {
  const auto model = models::generate_model(about, options);
  REQUIRE_FALSE(model.has_value());
  INFO(model.error().message());
  CHECK(model.error().path == path);
  CHECK(model.error().expected.find(expected) != std::string::npos);
}

TEST_CASE("refused: chips that do not divide a model, and options that it does not have") {
  const models::Configuration dense = dense_model(), hybrid = hybrid_model();
  check_refused(dense, small_options(3), "dense: chips", "divides the 8 heads of attention");
  models::Configuration odd = dense;
  odd.attention = {12, 3, 4, false, false};
  check_refused(odd, small_options(2), "dense: chips", "divides the 3 key and value heads");
  odd = dense;
  odd.ffn = 18;
  check_refused(odd, small_options(4), "dense: chips", "divides the 18 columns");
  odd = dense;
  odd.vocabulary = 18;
  check_refused(odd, small_options(4), "dense: chips", "divides the 18 entries");
  odd = hybrid;
  odd.linear_attention->key_heads = 2;
  odd.linear_attention->value_heads = 4;
  check_refused(odd, small_options(4), "hybrid: chips", "divides the 2 key heads");
  odd = hybrid;
  odd.experts->count = 6;
  check_refused(odd, small_options(4), "hybrid: chips", "divides the 6 experts");
  odd = dense_model(DType::f32);
  odd.quantised = models::Quantisation{8, 8};
  check_refused(odd, small_options(8), "dense: quantised", "blocks that divide every part of wq");
  check_refused(dense, small_options(0), "dense: chips", "at least 1");
  check_refused(dense, small_options(1, 5), "dense: position", "below the context of 5");
  models::ModelOptions options = small_options(1);
  options.layers = 2;
  check_refused(dense, options, "dense: layers", "1 to 1 layers");
  options = small_options(1);
  options.hardware.mesh_height = 0;
  check_refused(dense, options, "dense: mesh", "at least one site");
  options = small_options(1);
  options.hardware.sram_bytes = 64;
  const auto model = models::generate_model(dense, options);
  REQUIRE_FALSE(model.has_value());
  CHECK(model.error().expected.find("at most the 64 bytes of \"sram\"") != std::string::npos);
}

TEST_CASE("both ways to the phases certify, and compute the same") {
  const models::Configuration about = dense_model();
  World first(about), second(about);
  models::ModelOptions options = small_options(2);
  const Ran automatic = run(about, options, first, 0);
  options.automatic_phases = false;
  const Ran all = run(about, options, second, 0);
  CHECK(certify::certify(*all.program).verdict == certify::Verdict::certified);
  CHECK_FALSE(ir::machine::difference(automatic.tensor("logits"), all.tensor("logits")));
  const auto closed = [](const ir::Program& p) {
    return std::count_if(p.boundaries.begin(), p.boundaries.end(),
                         [](const ir::Boundary& b) { return b.closed; });
  };
  CHECK(closed(*automatic.program) < closed(*all.program));
  CHECK(closed(*all.program) + 1 == static_cast<std::ptrdiff_t>(all.program->sections.size()));
}

// Sections are built once for all layers, and texts of products do not grow with their sizes.
TEST_CASE("a model in its full size is a moderate number of ops") {
  models::ModelOptions options;
  options.hardware.chips = 4;
  options.hardware.mesh_width = options.hardware.mesh_height = 2;
  const auto about = models::known_model("qwen3-8b");
  REQUIRE(about.has_value());
  const models::Model model = generated(*about, options);
  CHECK(model.sections.size() < 100);
  CHECK(model.uses.size() == 2 + 4 + 36 * 78);
  const ir::Program program = program_of(model);
  CHECK(ir::op_count(program) < 300'000);
  for (const ir::Tensor& t : program.tensors) {
    if (t.name == "logits.3") CHECK(t.role == ir::TensorRole::output);
  }
}

}  // namespace
}  // namespace spatialcert::tests
