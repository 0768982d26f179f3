// Random programs with a fault or two: whatever is suggested for them, it is what it says.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "certify/pipeline.hpp"
#include "certify/repair/repair.hpp"
#include "ir/program_file.hpp"
#include "tests/counts.hpp"
#include "tests/oracle/generator.hpp"

namespace spatialcert::tests {
namespace {

namespace repair = certify::repair;
using certify::Verdict;
using repair::Outcome;

std::int64_t fifo_bytes(const ir::Program& program) {
  std::int64_t sum = 0;
  for (const ir::Buffer& b : program.buffers) {
    if (b.kind == ir::BufferKind::fifo) sum += static_cast<std::int64_t>(b.bytes());
  }
  return sum;
}

std::int64_t operands(const ir::Program& program) {
  std::int64_t sum = 0;
  for (const ir::EngineProgram& one : program.programs) {
    for (const ir::Op& op : one.ops) {
      if (op.code != ir::OpCode::run || program.stages[op.object].kind != ir::StageKind::allreduce)
        continue;
      for (std::uint32_t a = op.first_access; a < op.first_access + op.accesses; ++a)
        sum += program.accesses[a].write ? 0 : 1;
    }
  }
  return sum;
}

struct Tally {
  std::uint64_t certified = 0, partial = 0, none = 0;

  void look_at(const ir::Program& program) {
    const certify::ProgramReport report = certify::certify(program);
    if (report.verdict != Verdict::refuted) return;
    const repair::Suggestion suggestion = repair::suggest(program, report, {});
    const std::string text = repair::suggestion_text(suggestion);
    CAPTURE(text);
    CHECK(suggestion.program.has_value() == (suggestion.outcome != Outcome::none));
    CHECK(suggestion.certifications <= repair::Limits{}.certifications + 1);
    ++(suggestion.outcome == Outcome::certified ? certified
       : suggestion.outcome == Outcome::partial ? partial
                                                : none);
    if (!suggestion.program) return;
    const auto back = ir::parse_program(ir::serialise(*suggestion.program), "repaired");
    REQUIRE_MESSAGE(back.has_value(), (back ? "" : back.error().message()));
    CHECK(ir::to_hex(ir::digest(*back)) == suggestion.digest);
    CHECK((certify::certify(*back).verdict == Verdict::certified) ==
          (suggestion.outcome == Outcome::certified));
    CHECK(repair::same_runs(program, *back, {true, true}));
    // The costs, by what the two programs have.
    const repair::Cost& cost = suggestion.cost;
    CHECK(cost.ops == static_cast<std::int64_t>(ir::op_count(*back)) -
                          static_cast<std::int64_t>(ir::op_count(program)));
    CHECK(cost.semaphores == static_cast<std::int64_t>(back->semaphores.size()) -
                                 static_cast<std::int64_t>(program.semaphores.size()));
    CHECK(cost.bytes == fifo_bytes(*back) - fifo_bytes(program));
    CHECK(cost.operands == operands(*back) - operands(program));
  }
};

TEST_CASE("what is suggested for random programs is what it says, and costs what it says") {
  const bool thorough = std::getenv("SPATIALCERT_LONG") != nullptr;
  const std::uint64_t seeds = thorough ? 4000 : 120;
  Tally tally;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    CAPTURE(seed);
    tally.look_at(generate(seed).program);
    if (seed % 4 == 0) tally.look_at(generate_wild(seed).program);
  }
  count("random programs repaired", tally.certified);
  MESSAGE(
      fmt::format("{} repaired, {} in part, {} not", tally.certified, tally.partial, tally.none));
  CHECK(tally.certified > tally.none);
}

}  // namespace
}  // namespace spatialcert::tests
