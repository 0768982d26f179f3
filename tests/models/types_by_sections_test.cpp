// The types of `reduction` from section to section: never more is said of them than of the whole
// program.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>

#include "certify/pipeline.hpp"
#include "compose/models/faults.hpp"
#include "ir/validate.hpp"
#include "proofs/composition/find.hpp"
#include "proofs/composition/types.hpp"
#include "proofs/find_subject.hpp"
#include "proofs/recheck/recheck.hpp"
#include "proofs/reduction/typing.hpp"
#include "tests/counts.hpp"
#include "tests/models/fixture.hpp"
#include "tests/oracle/generator.hpp"

namespace spatialcert::tests {
namespace {

using certify::Verdict;
using proofs::reduction::Typing;

certify::ProgramReport by_sections(const ir::Program& program) {
  certify::Options options;
  options.divide_from = 0;
  options.divide_percent = 100;
  options.keep_witnesses = true;
  return certify::certify(program, options);
}

models::Configuration layers(models::Configuration configuration, std::uint32_t count) {
  configuration.layers = count;
  return configuration;
}

TEST_CASE("split models are certified section by section, as they are as a whole") {
  for (const std::uint32_t chips : {2U, 4U, 8U}) {
    for (const bool hybrid : {false, true}) {
      CAPTURE(chips);
      CAPTURE(hybrid);
      const models::Configuration configuration =
          hybrid ? hybrid_model(DType::f32) : layers(dense_model(DType::f32), 2);
      const ir::Program program = program_of(generated(configuration, small_options(chips, 2)));
      const certify::ProgramReport report = by_sections(program);
      CHECK(report.verdict == Verdict::certified);
      // Of small heads the text does not tell that all of a tiled key is filled.
      CHECK((report.divided.has_value() || hybrid));
      if (!report.divided) continue;
      CHECK(report.divided->classes < report.divided->sections);
      REQUIRE(report.certificate);
      REQUIRE(report.certificate->reduction);
      const auto read = proofs::decode(proofs::encode(*report.certificate));
      REQUIRE(std::holds_alternative<proofs::Certificate>(read));
      const auto outcome = proofs::recheck(program, std::get<proofs::Certificate>(read));
      CHECK_MESSAGE(!outcome.denial, outcome.detail);
    }
  }
}

TEST_CASE("no fault of a model is certified section by section") {
  const ir::Program good =
      program_of(generated(layers(dense_model(DType::f32), 2), small_options(4)));
  for (const models::ModelFault fault : models::model_faults()) {
    CAPTURE(models::to_string(fault));
    const auto program = models::with_fault(good, fault);
    REQUIRE(program.has_value());
    CHECK(by_sections(*program).verdict == Verdict::refuted);
  }
}

/// Rounds after which the types recur, if no run is at fault. Of the whole program.
std::optional<Typing> typed_as_a_whole(const proofs::Subject& subject) {
  for (std::uint32_t rounds = 1; rounds <= 4; ++rounds) {
    const Typing typing{rounds - 1, rounds};
    const auto answer = proofs::reduction::check_types(subject, typing);
    if (std::holds_alternative<proofs::Accepted>(answer)) return typing;
  }
  return std::nullopt;
}

/// The same section by section; nothing too if the program cannot be divided.
struct Sections {
  bool divided = false;
  bool typed = false;
};
Sections typed_by_sections(const ir::Program& program) {
  const auto found = proofs::composition::find(program, 100);
  const auto* division = std::get_if<proofs::composition::Division>(&found);
  if (division == nullptr) return {};
  std::vector<ir::Program> programs;
  std::vector<proofs::Subject> subjects;
  programs.reserve(division->classes.size());
  for (const auto& one : division->classes) {
    programs.push_back(proofs::composition::program_of(program, one));
    auto made = proofs::find_subject(programs.back());
    if (!std::holds_alternative<proofs::Subject>(made)) return {};
    subjects.push_back(std::move(std::get<proofs::Subject>(made)));
  }
  for (std::uint32_t rounds = 1; rounds <= 4; ++rounds) {
    const auto answer =
        proofs::composition::check_types(program, *division, subjects, Typing{rounds - 1, rounds});
    if (std::holds_alternative<std::uint64_t>(answer)) return {true, true};
  }
  return {true, false};
}

/// One thing changed that types depend on. What the change is, or nothing.
std::string alter(ir::Program& program, Random& random) {
  const auto some = [&](const auto& list) {
    return random.below(static_cast<std::uint32_t>(list.size()));
  };
  switch (random.below(9)) {
    case 0: {
      const ir::OpKind kinds[] = {ir::OpKind::add, ir::OpKind::mul,  ir::OpKind::sub,
                                  ir::OpKind::sum, ir::OpKind::silu, ir::OpKind::copy,
                                  ir::OpKind::max, ir::OpKind::neg,  ir::OpKind::matmul};
      program.stages[some(program.stages)].op = kinds[random.below(9)];
      return "another op";
    }
    case 1: {
      ir::Stage& stage = program.stages[some(program.stages)];
      const bool reduces = stage.kind == ir::StageKind::allreduce;
      stage.kind = reduces ? ir::StageKind::compute : ir::StageKind::allreduce;
      return "an all-reduce that is none, or a stage that is one";
    }
    case 2: {
      ir::SlicedTensor& sliced = program.sliced[some(program.sliced)];
      std::swap(sliced.slices[some(sliced.slices)].tensor,
                sliced.slices[some(sliced.slices)].tensor);
      return "parts of a full tensor exchanged";
    }
    case 3:
      program.sliced.erase(program.sliced.begin() + some(program.sliced));
      return "a full tensor not declared";
    case 4: {
      ir::SlicedTensor& sliced = program.sliced[some(program.sliced)];
      sliced.stacked = !sliced.stacked;
      return "stacked or not";
    }
    case 5: {
      ir::SlicedTensor& sliced = program.sliced[some(program.sliced)];
      sliced.axis = sliced.axis == ir::Axis::rows ? ir::Axis::columns : ir::Axis::rows;
      return "cut along the other axis";
    }
    case 6: {
      program.sliced[some(program.sliced)].dimension =
          program.sliced[some(program.sliced)].dimension;
      return "cut along another dimension";
    }
    case 7: {
      ir::Access& access = program.accesses[some(program.accesses)];
      const ir::Access& other = program.accesses[some(program.accesses)];
      if (access.region.kind != ir::RegionKind::tensor ||
          other.region.kind != ir::RegionKind::tensor)
        return "";
      const ir::Tensor& a = program.tensors[access.region.object];
      const ir::Tensor& b = program.tensors[other.region.object];
      if (a.rows != b.rows || a.cols != b.cols) return "";
      access.region.object = other.region.object;
      return "another tensor of the same shape";
    }
    default: {
      ir::Tensor& tensor = program.tensors[some(program.tensors)];
      if (tensor.init != ir::Init::external) return "";
      tensor.init = ir::Init::zero;
      return "zeros at the start";
    }
  }
}

// What is typed section by section is typed as a whole; most of what is typed as a whole is typed
// section by section.
TEST_CASE("types from section to section say no more than those of the whole program") {
  const char* const wanted = std::getenv("SPATIALCERT_LONG");
  const std::uint64_t each = wanted == nullptr ? 60 : 3'000;
  std::uint64_t compared = 0, both = 0, neither = 0, only_whole = 0;
  Random random(41);
  for (const std::uint32_t chips : {2U, 4U}) {
    for (const bool hybrid : {false, true}) {
      const models::Configuration configuration =
          hybrid ? hybrid_model() : layers(dense_model(), 2);
      const ir::Program good = program_of(generated(configuration, small_options(chips, 1)));
      for (std::uint64_t i = 0; i < each; ++i) {
        ir::Program program = good;
        std::string what;
        for (std::uint32_t n = 1 + random.below(2); n > 0; --n)
          what += alter(program, random) + "; ";
        if (ir::validate(program)) continue;
        const Sections parts = typed_by_sections(program);
        if (!parts.divided) continue;
        auto made = proofs::find_subject(program);
        REQUIRE(std::holds_alternative<proofs::Subject>(made));
        auto& subject = std::get<proofs::Subject>(made);
        subject.text = &program;
        const bool whole = typed_as_a_whole(subject).has_value();
        CAPTURE(what);
        CAPTURE(i);
        CHECK_FALSE((parts.typed && !whole));
        ++compared;
        both += parts.typed && whole ? 1 : 0;
        neither += !parts.typed && !whole ? 1 : 0;
        only_whole += whole && !parts.typed ? 1 : 0;
      }
    }
  }
  MESSAGE(compared << " compared: " << both << " typed both ways, " << neither << " neither way, "
                   << only_whole << " as a whole only");
  count("altered models typed both ways", compared);
  CHECK(both * 8 > compared);
  CHECK(neither * 8 > compared);
  CHECK(only_whole * 10 < compared);
}

}  // namespace
}  // namespace spatialcert::tests
