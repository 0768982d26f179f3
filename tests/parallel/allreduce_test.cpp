// The section that replaces a collective's folds: certified, and the sum, for any number of chips.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "tests/parallel/fixture.hpp"

namespace spatialcert::tests {
namespace {

using ir::DType;
using parallel::AllreduceDescription;
using parallel::Manifest;
using parallel::Sharding;

ir::Program built(const Manifest& manifest, const AllreduceDescription& about) {
  return accepted(
      parallel::allreduce_section(manifest.collectives.front(), about, Sharding(manifest)));
}

/// h against the sum of the p.c in chip order, element by element.
void check_sum(const ir::Program& program, std::uint32_t chips) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const ir::machine::Machine machine = finished(program, {}, seed);
    const auto sum = machine.tensor("h");
    REQUIRE(sum->defined());
    for (std::size_t i = 0; i < sum->size(); ++i) {
      std::int64_t integer = 0;
      double real = 0;
      for (std::uint32_t c = 0; c < chips; ++c) {
        const auto partial = *machine.tensor(fmt::format("p.{}", c));
        if (!partial.integers.empty()) {
          integer += partial.integers[i];
        } else {
          real += partial.reals[i];
        }
      }
      if (!sum->integers.empty()) {
        CHECK(sum->integers[i] == integer);
      } else {
        CHECK(sum->reals[i] == doctest::Approx(real));
      }
    }
  }
}

TEST_CASE("an all-reduce over 2, 4 and 8 chips certifies and is the sum") {
  for (const std::uint32_t count : {2U, 4U, 8U}) {
    CAPTURE(count);
    const Manifest manifest = row_parallel(count);
    REQUIRE_FALSE(parallel::validate(manifest).has_value());
    const ir::Program program = built(manifest, sum_of(count, 5, 6, DType::i32));
    check_certified(program);
    check_sum(program, count);
    const ir::Section& section = program.sections.front();
    CHECK(section.numerics.exact);
    for (const ir::Tensor& tensor : program.tensors) {
      if (tensor.name == "h") {
        CHECK_FALSE(tensor.owner.has_value());
      } else {
        CHECK(tensor.owner == static_cast<std::uint32_t>(tensor.name.back() - '0'));
      }
    }
  }
}

TEST_CASE("every partial is loaded on the chip that has it, and folded by one stage on chip 0") {
  const Manifest manifest = row_parallel(4);
  AllreduceDescription about = sum_of(4, 4, 8, DType::i32);
  about.sites = {{0, 0, 0}, {0, 1, 1}};
  const ir::Program program = built(manifest, about);
  check_certified(program);
  check_sum(program, 4);
  CHECK(std::count_if(program.stages.begin(), program.stages.end(), [](const ir::Stage& s) {
          return s.kind == ir::StageKind::allreduce && s.op == ir::OpKind::add;
        }) == 1);
  std::vector<std::string> programs;
  for (const ir::EngineProgram& one : program.programs) {
    programs.push_back(fmt::format("{}.{}.{} {}", one.site.chip, one.site.x, one.site.y,
                                   program.target.engines[one.engine.value()]));
    for (const ir::Op& op : one.ops) {
      if (op.code != ir::OpCode::run) continue;
      const ir::Region& read = program.accesses[op.first_access].region;
      if (read.kind == ir::RegionKind::tensor)
        CHECK(program.tensors[read.object].owner == one.site.chip);
    }
  }
  CHECK(programs == std::vector<std::string>{"0.0.0 load", "0.0.0 compute", "0.0.0 store",
                                             "0.1.1 load", "0.1.1 compute", "0.1.1 store",
                                             "1.0.0 load", "1.1.1 load", "2.0.0 load", "2.1.1 load",
                                             "3.0.0 load", "3.1.1 load"});
  for (const ir::Edge& edge : program.edges) {
    const bool from_afar = program.buffers[edge.buffer.value()].handoff.valid();
    CHECK(edge.handoff.valid() == from_afar);
  }
}

TEST_CASE("narrow integers are added in the widest one, which has room") {
  const Manifest manifest = row_parallel(4);
  AllreduceDescription about = sum_of(4, 5, 6, DType::i8);
  about.values = ir::ValueRange{-128, 127};
  const ir::Program program = built(manifest, about);
  check_certified(program);
  check_sum(program, 4);
  ir::machine::Inputs inputs;
  for (int c = 0; c < 4; ++c) {
    inputs.tensors[fmt::format("p.{}", c)] =
        ir::machine::Matrix::of(DType::i8, 5, 6, std::vector<std::int64_t>(30, 127));
  }
  const auto sum = *finished(program, inputs).tensor("h");
  CHECK(sum.dtype == DType::i32);
  CHECK(sum.integers.front() == 4 * 127);
}

TEST_CASE("floating-point sums are made in chip order, and the section says so") {
  const Manifest manifest = row_parallel(4);
  AllreduceDescription about = sum_of(4, 3, 5, DType::bf16);
  about.target = chips(4, true, DType::bf16);
  const ir::Program program = built(manifest, about);
  check_certified(program);
  CHECK_FALSE(program.sections.front().numerics.exact);
  CHECK(program.sections.front().numerics.reason ==
        "sum of 4 chips' partials in chip order, in bf16");
  // Large and small numbers: another order would round to another sum.
  ir::machine::Inputs inputs;
  const double values[] = {256, 1, 1, -256};
  for (int c = 0; c < 4; ++c) {
    inputs.tensors[fmt::format("p.{}", c)] =
        ir::machine::Matrix::of(DType::bf16, 3, 5, std::vector<double>(15, values[c]));
  }
  CHECK(finished(program, inputs).tensor("h")->reals.front() == 2);
}

TEST_CASE("a sum that leaves a chip out, or is no all-reduce, is refuted by shard") {
  const Manifest manifest = row_parallel(4);
  const ir::Program good = built(manifest, sum_of(4, 2, 4, DType::i32));
  ir::Program twice = good;  // chip 2's partial instead of chip 3's
  for (const ir::EngineProgram& one : twice.programs) {
    for (const ir::Op& op : one.ops) {
      if (op.code != ir::OpCode::run || op.accesses != 5) continue;
      twice.accesses[op.first_access + 3].region.object =
          twice.accesses[op.first_access + 2].region.object;
    }
  }
  check_refuted(twice, proofs::Rule::shard);
  ir::Program plain = good;
  for (ir::Stage& stage : plain.stages) {
    if (stage.kind == ir::StageKind::allreduce) stage.kind = ir::StageKind::compute;
  }
  check_refuted(plain, proofs::Rule::shard);
}

TEST_CASE("what an all-reduce is refused for") {
  const Manifest manifest = row_parallel(4);
  const Sharding sharding(manifest);
  const parallel::Collective& sum = manifest.collectives.front();
  const AllreduceDescription good = sum_of(4, 2, 4, DType::i32);

  AllreduceDescription about = good;
  about.target = chips(3);
  check_refusal(parallel::allreduce_section(sum, about, sharding), RefusalReason::chip_count,
                {"\"h\"", "4 chips", "has 3"});
  about = good;
  about.target = chips(4, false);
  check_refusal(parallel::allreduce_section(sum, about, sharding),
                RefusalReason::no_crossing_handoff, {"\"h\"", "chip 0", "4 chips of four tiles"});
  about = good;
  about.dtype = DType::i64;
  check_refusal(parallel::allreduce_section(sum, about, sharding), RefusalReason::sum_type,
                {"\"h\"", "i64", "i32"});
  about.dtype = DType::bf16;
  check_refusal(parallel::allreduce_section(sum, about, sharding), RefusalReason::sum_type,
                {"bf16", "f32"});
  about = good;
  about.sites = {{1, 0, 0}};
  check_refusal(parallel::allreduce_section(sum, about, sharding), RefusalReason::several_chips,
                {"\"sum\"", "[1,0,0]"});
  about = good;
  about.values = ir::ValueRange{5, 4};
  check_refusal(parallel::allreduce_section(sum, about, sharding), RefusalReason::not_buildable,
                {"section \"sum\"", "[5, 4]"});
  about = good;
  about.depth = 0;
  check_refusal(parallel::allreduce_section(sum, about, sharding), RefusalReason::not_buildable,
                {"section sum", "at least 1"});

  parallel::Collective other = sum;
  other.partials.pop_back();
  check_refusal(parallel::allreduce_section(other, good, sharding),
                RefusalReason::partials_mismatch, {"all 4 chips", "3 partials"});
  other = sum;
  std::swap(other.partials[1], other.partials[2]);
  check_refusal(parallel::allreduce_section(other, good, sharding),
                RefusalReason::partials_mismatch, {"partial 1, \"p.2\"", "chip 2"});
  other = sum;
  other.out = "w.3";
  check_refusal(parallel::allreduce_section(other, good, sharding), RefusalReason::spine_result,
                {"\"w.3\"", "chip 3"});
}

}  // namespace
}  // namespace spatialcert::tests
