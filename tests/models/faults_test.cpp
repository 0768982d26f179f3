// Every known way to get a split model wrong is refuted by the rule that owns it, which names what
// is wrong.
#include "compose/models/faults.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "certify/judgement.hpp"
#include "certify/pipeline.hpp"
#include "certify/report.hpp"
#include "compose/composition/composer.hpp"
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
