// Every known way to get a split model wrong is refuted by the rule that owns it, which names what
// is wrong.
#include "compose/models/faults.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "certify/judgement.hpp"
#include "certify/pipeline.hpp"
#include "certify/report.hpp"
#include "compose/composition/composer.hpp"
#include "compose/composition/instance.hpp"
#include "compose/parallel/attach.hpp"
#include "compose/parallel/sharding.hpp"
#include "tests/models/fixture.hpp"

namespace spatialcert::tests {
namespace {

using models::ModelFault;

models::Configuration two_layers() {
  models::Configuration out = dense_model(DType::f32);
  out.layers = 2;
  return out;
}

const ir::Program& good() {
  static const ir::Program program = program_of(generated(two_layers(), small_options(4)));
  return program;
}

struct Expected {
  ModelFault fault;
  proofs::Rule rule;
  proofs::Kind kind;
  const char* names;  ///< what the report must name
};

const certify::RuleReport& of_rule(const certify::ProgramReport& report, proofs::Rule rule) {
  const auto at = std::find_if(report.rules.begin(), report.rules.end(),
                               [&](const certify::RuleReport& r) { return r.rule == rule; });
  REQUIRE(at != report.rules.end());
  return *at;
}

TEST_CASE("the model without a fault is certified") {
  const certify::ProgramReport report = certify::certify(good());
  CHECK_MESSAGE(report.verdict == certify::Verdict::certified, certify::first_open(report));
}

TEST_CASE("every fault of a model is refuted by the rule that owns it, with the culprit's name") {
  using proofs::Kind;
  using proofs::Rule;
  const std::vector<Expected> all{
      {ModelFault::skip_chip, Rule::shard, Kind::missing_chip, "never joined: chip 3"},
      {ModelFault::chip_twice, Rule::shard, Kind::double_contribution, "twice the data of chip 0"},
      {ModelFault::plain_sum, Rule::shard, Kind::leak, "L0.attended"},
      {ModelFault::nonlinear_before, Rule::reduction, Kind::nonlinear,
       "silu of a partial sum over part 3 of heads"},
      {ModelFault::reduce_again, Rule::reduction, Kind::double_contribution, "replicated"},
      {ModelFault::slice_gap, Rule::slices, Kind::gap, "index 0 of L0.w"},
      {ModelFault::slice_overlap, Rule::slices, Kind::overlap, "of chip 1"},
      {ModelFault::swapped_parts, Rule::slices, Kind::mismatch, "part 0 of"},
      {ModelFault::weight_elsewhere, Rule::shard, Kind::leak, "belongs to chip 1"},
      {ModelFault::drop_arrival, Rule::liveness, Kind::cycle, "boundary after"},
      {ModelFault::drop_release, Rule::liveness, Kind::cycle, "boundary after"},
      {ModelFault::move_buffer, Rule::memory, Kind::overlap, "share"}};
  CHECK(all.size() == models::model_faults().size());
  for (const Expected& expected : all) {
    CAPTURE(models::to_string(expected.fault));
    const auto program = models::with_fault(good(), expected.fault);
    REQUIRE_MESSAGE(program.has_value(), (program ? "" : program.error().message()));
    const certify::ProgramReport report = certify::certify(*program);
    CHECK(report.verdict == certify::Verdict::refuted);
    const certify::RuleReport& rule = of_rule(report, expected.rule);
    REQUIRE_MESSAGE(rule.counterexample.has_value(), rule.detail);
    CHECK(rule.counterexample->kind == expected.kind);
    const std::string text = certify::counterexample_text(*program, *rule.counterexample);
    CHECK_MESSAGE(text.find(expected.names) != std::string::npos, text);
  }
}

// The cache is written after it has been read: this token's keys are those of the last token.
TEST_CASE("a cache that is read before it is written is refuted, against the order of the source") {
  const models::Model model = generated(two_layers(), small_options(2));
  std::vector<ir::Program> sections;
  for (const models::SectionUse& use : model.uses) {
    sections.push_back(model.sections[use.section]);
    compose::rename_section(sections.back(), use.name);
    REQUIRE_FALSE(compose::rebind_tensors(sections.back(), use.tensors));
    REQUIRE_FALSE(compose::parallel::assign_owners(sections.back(),
                                                   compose::parallel::Sharding(model.manifest)));
  }
  const auto composed_in = [&](const std::vector<std::uint32_t>& order) {
    compose::PhaseOrder phases{order, std::vector<bool>(order.size(), true)};
    phases.barrier_after.back() = false;
    compose::ComposeOptions options;
    options.carried = model.carried;
    auto made = compose::compose_ordered(sections, phases, {}, options);
    REQUIRE(std::holds_alternative<compose::Composed>(made));
    ir::Program program = std::get<compose::Composed>(made).program;
    REQUIRE_FALSE(compose::parallel::attach(program, model.manifest));
    return program;
  };
  std::vector<std::uint32_t> order(sections.size());
  std::iota(order.begin(), order.end(), 0U);
  CHECK(certify::certify(composed_in(order)).verdict == certify::Verdict::certified);
  const auto numbered = [&](const std::string& name) {
    const auto at = std::find_if(model.uses.begin(), model.uses.end(),
                                 [&](const auto& use) { return use.name == name; });
    REQUIRE_MESSAGE(at != model.uses.end(), name);
    return static_cast<std::uint32_t>(at - model.uses.begin());
  };
  const std::uint32_t keys = numbered("L0.keys.0"), scores = numbered("L0.scores.0");
  REQUIRE(keys < scores);
  std::rotate(order.begin() + keys, order.begin() + keys + 1, order.begin() + scores + 1);
  const ir::Program late = composed_in(order);
  const certify::ProgramReport report = certify::certify(late);
  CHECK(report.verdict == certify::Verdict::refuted);
  const certify::RuleReport& rule = of_rule(report, proofs::Rule::ordering);
  REQUIRE_MESSAGE(rule.counterexample.has_value(), rule.detail);
  CHECK(rule.counterexample->kind == proofs::Kind::wrong_order);
  const std::string text = certify::counterexample_text(late, *rule.counterexample);
  CHECK_MESSAGE(text.find("L0.keys.0") != std::string::npos, text);
}

TEST_CASE("a fault that a program has no place for is refused") {
  const ir::Program one = program_of(generated(two_layers(), small_options(1)));
  for (const ModelFault fault :
       {ModelFault::skip_chip, ModelFault::reduce_again, ModelFault::slice_gap,
        ModelFault::swapped_parts, ModelFault::weight_elsewhere}) {
    CAPTURE(models::to_string(fault));
    CHECK_FALSE(models::with_fault(one, fault).has_value());
  }
  for (const ModelFault fault : models::model_faults())
    CHECK(models::parse_model_fault(models::to_string(fault)) == fault);
  CHECK_FALSE(models::parse_model_fault("skip"));
}

}  // namespace
}  // namespace spatialcert::tests
