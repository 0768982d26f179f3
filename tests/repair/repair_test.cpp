// Suggested repairs: what they say holds, by an independent run.
#include "certify/repair/repair.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "certify/pipeline.hpp"
#include "certify/repair/depth.hpp"
#include "ir/program_file.hpp"
#include "ir/token_game.hpp"
#include "ir/validate.hpp"
#include "tests/oracle/generator.hpp"

using namespace spatialcert;
namespace fs = std::filesystem;
namespace repair = certify::repair;

namespace {

const fs::path kGolden = fs::path(SPATIALCERT_SOURCE_DIR) / "tests" / "golden";

ir::Program golden(const std::string& name) {
  auto program = ir::read_program((kGolden / (name + ".json")).string());
  REQUIRE_MESSAGE(program.has_value(), (program ? "" : program.error().message()));
  return *std::move(program);
}

repair::Suggestion suggestion_for(const ir::Program& program) {
  return repair::suggest(program, certify::certify(program), {});
}

bool gets_stuck(const ir::Program& program) {
  const auto unrolled = std::get<ir::Unrolled>(ir::unroll(program));
  const ir::TokenGame game(program, unrolled);
  return !game.all_finished(ir::play_freely(game).result.state);
}

/// A chain of FIFOs with two ways from the first to the last engine program: it gets stuck where
/// the short way does not hold what the long one takes before it gives.
ir::Program pipeline(std::uint64_t seed) {
  tests::Random random(seed);
  ir::Program program;
  program.name = "pipeline";
  program.target.name = "three engines";
  program.target.engines = {"load", "compute", "store"};
  program.target.spaces = {{"sram", 1 << 16, 4}};
  program.sections.push_back({"only", 0, {}, ir::kNoLocation});
  program.result_unspecified = true;
  std::uint64_t address = 0;
  const auto fifo = [&](const char* name, std::uint64_t page_bytes) {
    ir::Buffer b;
    b.name = name;
    b.kind = ir::BufferKind::fifo;
    b.space = ir::SpaceId(0U);
    b.page_bytes = page_bytes;
    b.pages = 1;
    b.address = address;
    address += 1024;
    program.buffers.push_back(b);
  };
  for (const char* name : {"long", "far", "short"})
    fifo(name, 4 * static_cast<std::uint64_t>(random.between(1, 4)));
  for (std::uint32_t e = 0; e < 3; ++e) {
    ir::EngineProgram one;
    one.engine = ir::EngineId(e);
    program.programs.push_back(one);
  }
  const auto op = [&](std::uint32_t engine, ir::OpCode code, std::uint32_t buffer) {
    ir::Op o;
    o.code = code;
    o.object = buffer;
    o.count = 1;
    program.programs[engine].ops.push_back(o);
  };
  const auto put = [&](std::uint32_t engine, std::uint32_t buffer) {
    op(engine, ir::OpCode::reserve, buffer);
    op(engine, ir::OpCode::push, buffer);
  };
  const auto take = [&](std::uint32_t engine, std::uint32_t buffer) {
    op(engine, ir::OpCode::front, buffer);
    op(engine, ir::OpCode::pop, buffer);
  };
  const std::int64_t pages = random.between(2, 4);
  // All pages pass through every FIFO, each engine program taking and giving in an order of its
  // own.
  std::int64_t left[2] = {pages, pages};
  while (left[0] + left[1] > 0) {
    const std::uint32_t which = random.below(2);
    if (left[which] == 0) continue;
    --left[which];
    put(0, which == 0 ? 0 : 2);
  }
  std::int64_t taken = 0, given = 0;
  while (given < pages) {
    if (taken < pages && (taken == given || random.chance(50))) {
      take(1, 0);
      ++taken;
    } else {
      put(1, 1);
      ++given;
    }
  }
  left[0] = left[1] = pages;
  while (left[0] + left[1] > 0) {
    const std::uint32_t which = random.below(2);
    if (left[which] == 0) continue;
    --left[which];
    take(2, which == 0 ? 1 : 2);
  }
  for (ir::EngineProgram& one : program.programs) {
    one.spans.push_back({ir::SectionId(0U), {}, 0, static_cast<std::uint32_t>(one.ops.size())});
  }
  return program;
}

std::uint64_t bytes_of(const ir::Program& program) {
  std::uint64_t bytes = 0;
  for (const ir::Buffer& b : program.buffers) bytes += b.bytes();
  return bytes;
}

}  // namespace

TEST_CASE("a repair of a golden program is certified by a run of its own, and keeps its runs") {
  std::size_t repaired = 0, refuted = 0;
  for (const auto& entry : fs::directory_iterator(kGolden)) {
    if (entry.path().extension() != ".json") continue;
    const std::string name = entry.path().stem().string();
    CAPTURE(name);
    const ir::Program program = golden(name);
    const certify::ProgramReport report = certify::certify(program);
    if (report.verdict != certify::Verdict::refuted) continue;
    ++refuted;
    const repair::Suggestion suggestion = repair::suggest(program, report, {});
    const std::string text = repair::suggestion_text(suggestion);
    CHECK(suggestion.program.has_value() == (suggestion.outcome != repair::Outcome::none));
    if (suggestion.outcome == repair::Outcome::none) {
      CHECK_MESSAGE(text.starts_with("suggestion: no repair found; tried "), text);
      continue;
    }
    const auto back = ir::parse_program(ir::serialise(*suggestion.program), "repaired");
    REQUIRE_MESSAGE(back.has_value(), (back ? "" : back.error().message()));
    const bool certified = certify::certify(*back).verdict == certify::Verdict::certified;
    CHECK_MESSAGE(certified == (suggestion.outcome == repair::Outcome::certified), text);
    CHECK(repair::same_runs(program, *back, {true, true}));
    repaired += certified ? 1 : 0;
  }
  CHECK(refuted >= 25);
  CHECK(repaired >= 12);
}

TEST_CASE("buffers that overlap are moved to where they fit, or the numbers say why not") {
  const repair::Suggestion moved = suggestion_for(golden("overlap-by-one-byte"));
  REQUIRE(moved.outcome == repair::Outcome::certified);
  CHECK(moved.cost == repair::Cost{});
  ir::Program small = golden("overlap-by-one-byte");
  std::uint64_t end = 0;
  for (const ir::Buffer& b : small.buffers) end = std::max(end, b.address + b.bytes());
  for (ir::MemorySpace& space : small.target.spaces) space.bytes = end;
  const repair::Suggestion none = suggestion_for(small);
  REQUIRE(none.outcome == repair::Outcome::none);
  REQUIRE_FALSE(none.obstacles.empty());
  CHECK(none.obstacles.front().find("bytes") != std::string::npos);
}

TEST_CASE("the depths found cost the least of all that do not get stuck, by trying them all") {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    const ir::Program program = pipeline(seed);
    if (!gets_stuck(program)) continue;
    std::optional<std::uint64_t> least;
    ir::Program tried = program;
    for (std::uint64_t a = 1; a <= 5; ++a) {
      for (std::uint64_t b = 1; b <= 5; ++b) {
        for (std::uint64_t c = 1; c <= 5; ++c) {
          tried.buffers[0].pages = a;
          tried.buffers[1].pages = b;
          tried.buffers[2].pages = c;
          if (!gets_stuck(tried)) least = std::min(least.value_or(~0ULL), bytes_of(tried));
        }
      }
    }
    const auto answer = repair::least_depths(program, 1);
    const auto* depths = std::get_if<repair::Depths>(&answer);
    CHECK((depths != nullptr) == least.has_value());
    if (depths == nullptr || !least) continue;
    ir::Program deeper = program;
    for (const auto& [fifo, pages] : *depths) deeper.buffers[fifo].pages = pages;
    CHECK_FALSE(gets_stuck(deeper));
    CHECK(bytes_of(deeper) == *least);
    ++compared;
  }
  CHECK(compared >= 100);
}

TEST_CASE("deeper FIFOs are certified, and one page less is shown not to be enough") {
  std::size_t seen = 0;
  for (std::uint64_t seed = 0; seed < 200 && seen < 5; ++seed) {
    CAPTURE(seed);
    const ir::Program program = pipeline(seed);
    if (!gets_stuck(program)) continue;
    const repair::Suggestion suggestion = suggestion_for(program);
    if (suggestion.outcome != repair::Outcome::certified) continue;
    if (suggestion.steps.front().edits.front().kind != "change-depth") continue;
    ++seen;
    CHECK(certify::certify(*suggestion.program).verdict == certify::Verdict::certified);
    REQUIRE_FALSE(suggestion.steps.front().remarks.empty());
    for (const std::string& remark : suggestion.steps.front().remarks)
      CHECK_MESSAGE(remark.ends_with("one less: liveness refuted"), remark);
    CHECK(suggestion.cost.bytes > 0);
  }
  CHECK(seen == 5);
}

TEST_CASE("of several repairs the one that costs least is suggested") {
  // A wait more would do as well, and costs an op.
  const repair::Suggestion counts = suggestion_for(golden("leftover-token"));
  REQUIRE(counts.outcome == repair::Outcome::certified);
  CHECK(counts.steps.front().edits.front().kind == "change-count");
  CHECK(counts.cost == repair::Cost{});
  // To declare a link would cost nothing, but says something else of the program.
  const repair::Suggestion closed =
      suggestion_for(golden("hand-off-between-sections-of-one-phase"));
  REQUIRE(closed.outcome == repair::Outcome::certified);
  CHECK(closed.steps.front().idea == "a boundary closed");
  CHECK(closed.cost == repair::Cost{.bytes = 0, .semaphores = 2, .pages = 0, .ops = 6});
}

TEST_CASE("where the last boundary is open as well, one that is closed ends no phase: both are") {
  ir::Program program = golden("two-sections-of-one-phase-share-a-tensor");
  program.execution = ir::Execution::persistent;
  const repair::Suggestion both = suggestion_for(program);
  REQUIRE(both.outcome == repair::Outcome::certified);
  CHECK(certify::certify(*both.program).verdict == certify::Verdict::certified);
  REQUIRE(both.steps.size() == 1);
  CHECK(both.steps.front().idea == "two boundaries closed");
  // An arrival and two colours of releases; 2 P + S + 1 ops twice.
  CHECK(both.cost == repair::Cost{.bytes = 0, .semaphores = 3, .pages = 0, .ops = 12});
}

TEST_CASE("a closed boundary that nobody has room for is an obstacle, with the numbers") {
  ir::Program program = golden("two-sections-of-one-phase-share-a-tensor");
  program.target.semaphores_per_site = 0;
  const repair::Suggestion none = suggestion_for(program);
  CHECK(none.outcome == repair::Outcome::none);
  CHECK(std::count(none.obstacles.begin(), none.obstacles.end(),
                   "chip 0 has too few semaphores: 0, of which 0 are in use") == 1);
}

TEST_CASE("what the operand of a chip would be is said where it cannot be told") {
  ir::Program program = golden("missing-chip");
  // The page is not open any more where the all-reduce is: its pop stands before.
  for (ir::EngineProgram& one : program.programs) {
    if (one.ops.size() == 5) std::rotate(one.ops.begin() + 2, one.ops.end() - 1, one.ops.end());
  }
  for (ir::Tensor& tensor : program.tensors) {
    if (tensor.name == "w2")
      tensor.dtype = ir::DType::i32;  // nor is there a tensor like the others
  }
  const repair::Suggestion none = suggestion_for(program);
  CHECK(none.outcome == repair::Outcome::none);
  REQUIRE_FALSE(none.obstacles.empty());
  CHECK(none.obstacles.front().starts_with("what the operand of chip 2 would be cannot be told"));
}

TEST_CASE("numbers as large as they come are no obstacle to saying something") {
  std::size_t seen = 0;
  for (const char* name : {"starved-wait", "leftover-token", "fifo-cycle", "push-without-reserve",
                           "semaphore-past-its-maximum", "persistent-takes-more-than-it-gives"}) {
    const ir::Program whole = golden(name);
    for (std::size_t p = 0; p < whole.programs.size(); ++p) {
      for (std::size_t i = 0; i < whole.programs[p].ops.size(); ++i) {
        ir::Program program = whole;
        program.programs[p].ops[i].count = std::numeric_limits<std::int64_t>::max();
        program.target.semaphore_maximum = std::numeric_limits<std::int64_t>::max();
        for (ir::Semaphore& semaphore : program.semaphores)
          semaphore.maximum = program.target.semaphore_maximum;
        if (program.programs[p].ops[i].code == ir::OpCode::run || ir::validate(program)) continue;
        CAPTURE(name);
        CAPTURE(i);
        const certify::ProgramReport report = certify::certify(program);
        if (report.verdict != certify::Verdict::refuted) continue;
        ++seen;
        const repair::Suggestion suggestion =
            repair::suggest(program, report, {}, nullptr, {.certifications = 12});
        CHECK(repair::suggestion_text(suggestion).starts_with("suggestion: "));
      }
    }
  }
  CHECK(seen >= 10);
}
