// Single faults, built into programs that are right: which of them are repaired, and how.
#include "compose/models/faults.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "certify/pipeline.hpp"
#include "certify/repair/repair.hpp"
#include "ir/program_file.hpp"
#include "ir/validate.hpp"
#include "tests/composed/compositions.hpp"
#include "tests/composition/edits.hpp"
#include "tests/models/fixture.hpp"

namespace spatialcert::tests {
namespace {

namespace repair = certify::repair;
using certify::Verdict;
using models::ModelFault;
using repair::Outcome;

/// By a run of its own, on what a file of it holds.
bool is_certified(const repair::Suggestion& suggestion) {
  if (!suggestion.program) return false;
  const auto back = ir::parse_program(ir::serialise(*suggestion.program), "repaired");
  return back.has_value() && certify::certify(*back).verdict == Verdict::certified;
}

struct Expected {
  ModelFault fault;
  Outcome outcome;
  std::vector<std::string> ideas;  ///< of the steps
  repair::Cost cost;
};

TEST_CASE("the known ways to get a split model wrong: ten of twelve are repaired") {
  constexpr repair::Cost kNothing{};
  const std::string removed = "an operand that is taken twice removed";
  const std::string added = "the operand of a chip that was left out";
  const std::string whole = "a rendezvous made whole";
  const std::vector<Expected> all{
      {ModelFault::skip_chip, Outcome::certified, {added}, {0, 0, 0, 0, 2}},
      {ModelFault::chip_twice, Outcome::certified, {removed, added}, kNothing},
      {ModelFault::plain_sum, Outcome::certified, {"a sum that is an all-reduce"}, {0, 0, 0, 0, 4}},
      // Another computation would be needed.
      {ModelFault::nonlinear_before, Outcome::none, {}, kNothing},
      {ModelFault::reduce_again, Outcome::none, {}, kNothing},
      {ModelFault::slice_gap, Outcome::certified, {"the ranges that L0.out.row has"}, kNothing},
      {ModelFault::slice_overlap, Outcome::certified, {"the ranges that L0.out.row has"}, kNothing},
      {ModelFault::swapped_parts,
       Outcome::certified,
       {"the ranges that L0.wffn.gate has"},
       kNothing},
      {ModelFault::weight_elsewhere,
       Outcome::certified,
       {"the tensor on the chip that uses it"},
       kNothing},
      {ModelFault::drop_arrival, Outcome::certified, {whole}, {0, 0, 0, 1, 0}},
      {ModelFault::drop_release, Outcome::certified, {whole}, {0, 0, 0, 1, 0}},
      {ModelFault::move_buffer, Outcome::certified, {"a buffer at another address"}, kNothing}};
  REQUIRE(all.size() == models::model_faults().size());
  models::Configuration one_layer = dense_model(DType::f32);
  one_layer.layers = 1;
  const ir::Program good = program_of(generated(one_layer, small_options(2)));
  for (const Expected& expected : all) {
    CAPTURE(models::to_string(expected.fault));
    const auto program = models::with_fault(good, expected.fault);
    REQUIRE(program.has_value());
    const auto suggestion = repair::suggest(*program, certify::certify(*program), {});
    CAPTURE(repair::suggestion_text(suggestion));
    CHECK(suggestion.outcome == expected.outcome);
    std::vector<std::string> ideas;
    for (const repair::Step& step : suggestion.steps) ideas.push_back(step.idea);
    CHECK(ideas == expected.ideas);
    CHECK(suggestion.cost == expected.cost);
    if (expected.fault == ModelFault::drop_arrival) CHECK(is_certified(suggestion));
    if (suggestion.outcome == Outcome::none) CHECK_FALSE(suggestion.obstacles.empty());
  }
}

// Its neighbours have the same release semaphores, now that they are neighbours.
TEST_CASE("a boundary of a model that was left open is closed by a rendezvous of 2 P + S + 1 ops") {
  models::Configuration one_layer = dense_model(DType::f32);
  one_layer.layers = 1;
  ir::Program program = program_of(generated(one_layer, small_options(2)));
  std::vector<std::uint32_t> closed;
  for (std::uint32_t b = 0; b < program.boundaries.size(); ++b) {
    if (program.boundaries[b].closed) closed.push_back(b);
  }
  REQUIRE(closed.size() > 5);
  const std::uint32_t open = closed[closed.size() / 2];
  std::int64_t removed = 0;
  std::set<ir::Site> sites;
  for (ir::EngineProgram& one : program.programs) {
    sites.insert(one.site);
    for (std::uint32_t i = static_cast<std::uint32_t>(one.ops.size()); i-- > 0;) {
      const auto span = std::find_if(one.spans.begin(), one.spans.end(),
                                     [&](const ir::Span& s) { return s.begin <= i && i < s.end; });
      if (span->boundary != ir::BoundaryId(open)) continue;
      erase_op(one, i);
      ++removed;
    }
  }
  program.boundaries[open].closed = false;
  REQUIRE_FALSE(ir::validate(program));
  const auto rendezvous = static_cast<std::int64_t>(2 * program.programs.size() + sites.size() + 1);
  CHECK(removed == rendezvous);
  const auto report = certify::certify(program);
  REQUIRE(report.verdict == Verdict::refuted);
  const auto suggestion = repair::suggest(program, report, {});
  const std::string text = repair::suggestion_text(suggestion);
  CAPTURE(text);
  REQUIRE(suggestion.outcome == Outcome::certified);
  CHECK(is_certified(suggestion));
  REQUIRE(suggestion.steps.size() == 1);
  CHECK(suggestion.steps.front().idea == "a boundary closed");
  CHECK(suggestion.cost ==
        repair::Cost{.bytes = 0, .semaphores = 0, .pages = 0, .ops = rendezvous});
  const std::vector<repair::EditReport>& edits = suggestion.steps.front().edits;
  CHECK(edits.size() == program.programs.size() + 1);
  CHECK(std::count_if(edits.begin(), edits.end(), [](const auto& e) {
          return e.kind == "boundary-ops" && !e.engine.empty();
        }) == static_cast<std::ptrdiff_t>(program.programs.size()));
}

struct Tally {
  int certified = 0, partial = 0, none = 0;
  friend bool operator==(const Tally&, const Tally&) = default;
};
std::ostream& operator<<(std::ostream& out, const Tally& t) {
  return out << t.certified << " certified, " << t.partial << " partial, " << t.none << " none";
}

bool same_source(const ir::Program& a, const ir::Program& b) {
  return std::equal(
      a.sections.begin(), a.sections.end(), b.sections.begin(), b.sections.end(),
      [](const ir::Section& x, const ir::Section& y) { return x.source_index == y.source_index; });
}

// Where a run or the write of one is gone, or has the wrong tensor, a repair that keeps all runs
// and what they touch need not exist; nor where the source was said to be in another order, against
// what its sections read of each other. Everything else is repaired.
TEST_CASE("one fault in a composed program: whatever leaves the runs and the source is repaired") {
  constexpr std::uint64_t kSeeds = 150;
  const std::map<std::string, Tally> expected{{"another semaphore", {1, 0, 0}},
                                              {"change count", {9, 0, 0}},
                                              {"contents instead of a write", {0, 1, 1}},
                                              {"double op", {4, 0, 0}},
                                              {"drop init", {5, 0, 0}},
                                              {"drop op", {17, 0, 0}},
                                              {"move address", {7, 0, 0}},
                                              {"move op out of its span", {1, 0, 0}},
                                              {"program without part in a rendezvous", {2, 0, 0}},
                                              {"reopen boundary", {5, 0, 0}},
                                              {"shorten lifetime", {1, 0, 0}},
                                              {"swap ops", {7, 0, 0}},
                                              {"swap source indices", {1, 2, 2}}};
  std::map<std::string, Tally> all;
  const bool thorough = std::getenv("SPATIALCERT_LONG") != nullptr;
  for (std::uint64_t seed = 1; seed <= (thorough ? 1200U : kSeeds); ++seed) {
    const CompositionSample sample = random_composition(seed);
    if (sample.fault == "none") continue;
    const auto report = certify::certify(sample.program);
    if (report.verdict != Verdict::refuted ||
        certify::certify(sample.undamaged).verdict != Verdict::certified)
      continue;
    CAPTURE(seed);
    CAPTURE(sample.fault);
    const auto suggestion = repair::suggest(sample.program, report, {});
    CAPTURE(repair::suggestion_text(suggestion));
    if (seed % 4 == 0)
      CHECK(is_certified(suggestion) == (suggestion.outcome == Outcome::certified));
    if (repair::same_runs(sample.undamaged, sample.program, {}) &&
        same_source(sample.undamaged, sample.program))
      CHECK(suggestion.outcome == Outcome::certified);
    if (seed > kSeeds) continue;
    Tally& tally = all[sample.fault];
    ++(suggestion.outcome == Outcome::certified ? tally.certified
       : suggestion.outcome == Outcome::partial ? tally.partial
                                                : tally.none);
  }
  for (const auto& [fault, tally] : all) {
    CAPTURE(fault);
    REQUIRE(expected.contains(fault));
    CHECK(tally == expected.at(fault));
  }
  CHECK(all.size() == expected.size());
}

}  // namespace
}  // namespace spatialcert::tests
