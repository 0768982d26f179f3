// A model that is split over chips computes what it does on one.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "certify/pipeline.hpp"
#include "compose/parallel/fusion.hpp"
#include "tests/counts.hpp"
#include "tests/models/fixture.hpp"

namespace spatialcert::tests {
namespace {

/// Tensors of the spine, and the logits.
std::vector<std::string> compared(const models::Configuration& about) {
  std::vector<std::string> out{"logits", "final"};
  for (std::uint64_t layer = 0; layer < about.layers; ++layer) {
    for (const char* const name : {"x", "mid", "attended"}) {
      out.push_back(fmt::format("L{}.{}", layer, name));
    }
  }
  return out;
}

void check_certified(const ir::Program& program) {
  const certify::ProgramReport report = certify::certify(program);
  for (const certify::RuleReport& rule : report.rules) {
    INFO(proofs::to_string(rule.rule));
    INFO(rule.detail);
    CHECK(rule.verdict != certify::Verdict::refuted);
    CHECK(rule.verdict != certify::Verdict::undecided);
  }
  CHECK_MESSAGE(report.verdict == certify::Verdict::certified, report.reason);
}

/// Contents that are not all zero: they would be equal whatever was done.
bool is_alive(const Matrix& m) {
  return std::any_of(m.integers.begin(), m.integers.end(), [](auto v) { return v != 0; }) ||
         std::any_of(m.reals.begin(), m.reals.end(), [](double v) { return v != 0; });
}

/// Several tokens, on one chip and on `chips`; states go from token to token on either side.
void check_split(const models::Configuration& about, models::ModelOptions options,
                 std::uint32_t chips, double tolerance, std::uint64_t tokens = 3) {
  CAPTURE(chips);
  World whole(about), split(about);
  for (std::uint64_t token = 0; token < tokens; ++token) {
    CAPTURE(token);
    options.position = token;
    options.hardware.chips = 1;
    const Ran one = run(about, options, whole, 0);
    options.hardware.chips = chips;
    World before = split;
    const Ran many = run(about, options, split, 0);
    if (token + 1 == tokens) check_certified(*many.program);
    for (const std::string& name : compared(about)) {
      const Matrix a = one.tensor(name), b = many.tensor(name);
      REQUIRE(a.size() == b.size());
      CHECK_MESSAGE(is_alive(a), name);
      if (tolerance == 0) CHECK_MESSAGE(!ir::machine::difference(a, b), name);
      for (std::uint64_t i = 0; i < a.reals.size(); ++i) {
        CHECK(std::abs(a.reals[i] - b.reals[i]) <= tolerance * std::max(1.0, std::abs(a.reals[i])));
      }
    }
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      World again = before;
      const Ran other = run(about, options, again, seed);
      const auto text = ir::machine::difference(*many.machine, *other.machine);
      CHECK_MESSAGE(!text, *text);
    }
    count("split tokens compared", 1);
  }
}

TEST_CASE("integers: a split dense model equals the whole one, bit by bit") {
  for (const std::uint64_t panel : {0U, 2U}) {
    for (const std::uint32_t chips : {2U, 4U, 8U}) {
      models::Configuration about = dense_model();
      models::ModelOptions options = small_options(chips);
      options.hardware.panel_columns = panel;
      CAPTURE(panel);
      check_split(about, options, chips, 0);
    }
  }
}

// One layer at a time: integers that nothing normalises grow too fast for two.
TEST_CASE("integers: split linear attention and experts equal the whole, bit by bit") {
  models::Configuration about = hybrid_model();
  about.layers = 1;
  for (const std::uint64_t panel : {0U, 2U}) {
    for (const std::uint32_t chips : {2U, 4U, 8U}) {
      models::ModelOptions options = small_options(chips);
      options.hardware.panel_columns = panel;
      CAPTURE(panel);
      check_split(about, options, chips, 0, 2);
    }
  }
}

TEST_CASE("integers: split gated attention and experts equal the whole, bit by bit") {
  models::Configuration about = hybrid_model();
  about.layers = 1;
  about.linear_attention.reset();
  for (const std::uint32_t chips : {2U, 4U, 8U}) {
    check_split(about, small_options(chips), chips, 0);
  }
}

// So the comparisons above would notice.
TEST_CASE("a split with the parts of any one tensor exchanged computes something else") {
  for (const models::Configuration& about : {dense_model(DType::f64), hybrid_model(DType::f64)}) {
    const World world(about);
    const models::Model model = generated(about, small_options(4, 2));
    const ir::Program program = program_of(model);
    const auto logits = [&](const models::Model& as) {
      auto machine = Machine::make(program, world.inputs(as, program));
      REQUIRE(machine.has_value());
      REQUIRE(machine->run().ending == ir::machine::Ending::finished);
      std::vector<double> out;
      for (std::uint32_t c = 0; c < 4; ++c) {
        const Matrix part = *machine->tensor(fmt::format("logits.{}", c));
        out.insert(out.end(), part.reals.begin(), part.reals.end());
      }
      return out;
    };
    const std::vector<double> right = logits(model);
    CHECK(right == logits(model));
    for (std::size_t f = 0; f < model.manifest.full.size(); ++f) {
      models::Model wrong = model;
      auto& parts = wrong.manifest.full[f].parts;
      const auto first = parts.front().ranges;
      for (std::size_t c = 0; c + 1 < parts.size(); ++c) parts[c].ranges = parts[c + 1].ranges;
      parts.back().ranges = first;
      CHECK_MESSAGE(right != logits(wrong), model.manifest.full[f].name);
      count("exchanges noticed", 1);
    }
  }
}

TEST_CASE("reals: the split differs by the order of sums only") {
  for (const DType type : {DType::f64, DType::f32}) {
    const double tolerance = type == DType::f64 ? 1e-12 : 1e-4;
    check_split(dense_model(type), small_options(4), 4, tolerance);
    check_split(hybrid_model(type), small_options(4), 4, tolerance);
  }
}

}  // namespace
}  // namespace spatialcert::tests
