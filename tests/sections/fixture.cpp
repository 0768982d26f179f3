#include "tests/sections/fixture.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "certify/pipeline.hpp"
#include "ir/program_file.hpp"
#include "tests/counts.hpp"

namespace spatialcert::tests {
namespace {

using ir::machine::Ending;
using ir::machine::Outcome;
using ir::machine::Schedule;

constexpr std::uint64_t kSchedules = 4;

Machine machine(const ir::Program& program, const Inputs& inputs) {
  auto made = Machine::make(program, inputs);
  REQUIRE_MESSAGE(made.has_value(), made.error().message());
  return std::move(made).value();
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
  count("sections certified", 1);
}

/// A buffer or semaphore that no op uses would be in the way of other sections.
void check_all_used(const ir::Program& program) {
  std::set<std::uint32_t> buffers, semaphores;
  for (const ir::EngineProgram& one : program.programs) {
    for (const ir::Op& op : one.ops) {
      if (op.code == ir::OpCode::wait || op.code == ir::OpCode::post) semaphores.insert(op.object);
      if (op.code == ir::OpCode::push) buffers.insert(op.object);
    }
  }
  for (const ir::Access& access : program.accesses) {
    if (access.region.kind == ir::RegionKind::bytes) buffers.insert(access.region.object);
  }
  CHECK(buffers.size() == program.buffers.size());
  CHECK(semaphores.size() == program.semaphores.size());
}

void check_equal(const Matrix& found, const Matrix& expected, double tolerance) {
  if (tolerance == 0) {
    const auto text = ir::machine::difference(found, expected);
    CHECK_MESSAGE(!text, *text);
    return;
  }
  REQUIRE(found.defined());
  REQUIRE(found.size() == expected.size());
  for (std::uint64_t i = 0; i < expected.size(); ++i) {
    const double allowed = tolerance * std::max(1.0, std::abs(expected.reals[i]));
    if (!(std::abs(found.reals[i] - expected.reals[i]) <= allowed)) {
      FAIL_CHECK(fmt::format("element {}: {} instead of {}", i, found.reals[i], expected.reals[i]));
    }
  }
}

}  // namespace

ir::Target target(DType float_type) {
  ir::Target out;
  out.name = "two chips of four tiles";
  out.chips = 2;
  out.mesh_width = 2;
  out.mesh_height = 2;
  out.engines = {"load", "compute", "store"};
  out.spaces = {{"dram", 1024, 1}, {"sram", 65536, 64}};
  out.semaphores_per_site = 128;
  out.semaphore_maximum = 15;
  out.float_type = float_type;
  out.widest_integer = DType::i32;
  return out;
}

std::vector<ir::Site> some_sites(std::size_t count) {
  // Not in site order, and on both chips.
  const std::vector<ir::Site> all = {{1, 0, 1}, {0, 0, 0}, {0, 1, 1}, {1, 1, 0}, {0, 0, 1}};
  REQUIRE(count <= all.size());
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::string Variation::text() const {
  return fmt::format("{} sites, split by {}, {}, depth {}, tiles of {} x {} ({})", sites,
                     split == Split::rows ? "rows" : "columns",
                     handover == Handover::fifo ? "FIFOs" : "semaphores", depth, tile.rows,
                     tile.cols, tile.inner);
}

SectionDescription describe(compose::sections::Work work, std::vector<SectionTensor> tensors,
                            const Variation& variation, DType float_type) {
  SectionDescription out;
  out.name = "part";
  out.target = target(float_type);
  out.sites = some_sites(variation.sites);
  out.tensors = std::move(tensors);
  out.work = std::move(work);
  out.tile = variation.tile;
  out.split = variation.split;
  out.handover = variation.handover;
  out.depth = variation.depth;
  return out;
}

std::vector<Variation> variations(const std::vector<SectionDescription::Tiling>& tiles, bool rows,
                                  bool columns) {
  std::vector<Variation> out;
  std::uint32_t depth = 0;
  for (const auto& tile : tiles) {
    for (const Handover handover : {Handover::fifo, Handover::semaphores}) {
      for (const Split split : {Split::rows, Split::columns}) {
        if (!(split == Split::rows ? rows : columns)) continue;
        for (const std::size_t sites : {1U, 3U}) {
          out.push_back({sites, split, handover, 1 + depth++ % 3, tile});
        }
      }
    }
  }
  return out;
}

void check_section(const SectionDescription& description, const std::string& result,
                   const Expected& expected, double tolerance, const Inputs& inputs) {
  const auto built = compose::build_section(description);
  REQUIRE_MESSAGE(built.has_value(), built.error().message());
  const ir::Program& program = *built;
  CHECK(program.sections.size() == 1);
  const auto again = ir::parse_program(ir::serialise(program), "built");
  REQUIRE_MESSAGE(again.has_value(), again.error().message());
  CHECK(ir::serialise(*again) == ir::serialise(program));
  check_all_used(program);
  check_certified(program);

  Machine before = machine(program, inputs);
  std::map<std::string, Matrix> contents;
  for (const ir::Tensor& t : program.tensors) contents[t.name] = *before.tensor(t.name);
  const Matrix wanted =
      expected([&](const std::string& name) -> const Matrix& { return contents.at(name); });
  for (std::uint64_t seed = 0; seed <= kSchedules; ++seed) {
    CAPTURE(seed);
    Machine m = machine(program, inputs);
    const Outcome outcome = m.run(seed == 0 ? Schedule::any() : Schedule::random(seed));
    REQUIRE_MESSAGE(outcome.ending == Ending::finished, outcome.text);
    check_equal(*m.tensor(result), wanted, tolerance);
    for (const auto& [name, matrix] : contents) {
      if (name != result) check_equal(*m.tensor(name), matrix, 0);
    }
    count("sections executed", 1);
  }
}

void check_refused(const SectionDescription& description, const std::string& path,
                   const std::string& wanted, const std::string& found) {
  const auto built = compose::build_section(description);
  REQUIRE_FALSE(built.has_value());
  INFO(built.error().message());
  CHECK(built.error().path == path);
  CHECK(built.error().expected.find(wanted) != std::string::npos);
  CHECK(built.error().found.find(found) != std::string::npos);
}

}  // namespace spatialcert::tests
