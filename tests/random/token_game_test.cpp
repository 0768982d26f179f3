// The token game itself: scripted schedules, what blocks, and where a play stops.
#include "ir/token_game.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "ir/validate.hpp"
#include "tests/oracle/explorer.hpp"
#include "tests/oracle/findings.hpp"
#include "tests/oracle/generator.hpp"
#include "tests/oracle/maker.hpp"

namespace spatialcert::tests {
namespace {

using ir::OpCode;
using ir::ProgramId;

constexpr std::int64_t kPages = 2;

/// Two engine programs on one site, one semaphore (initial 0, maximum 2) and one FIFO of two pages.
struct Fixture {
  Sketch sketch;
  ir::Program program;
  ir::Unrolled unrolled;

  Fixture() {
    ir::Program& f = sketch.frame;
    f.name = "game";
    f.target.name = "game";
    f.target.engines = {"a", "b"};
    f.target.spaces = {{"sram", 64, 4}};
    f.target.semaphores_per_site = 1;
    f.target.semaphore_maximum = 9;
    f.sections.push_back({"s", 0, {}, ir::kNoLocation});
    f.stages.push_back({"r", ir::StageKind::compute, ir::OpKind::copy, 1.0, ir::SectionId(0U)});
    f.semaphores.push_back({"s", {}, 0, 2, ir::Restart::keep, {}});
    ir::Buffer fifo;
    fifo.name = "f";
    fifo.kind = ir::BufferKind::fifo;
    fifo.space = ir::SpaceId(0U);
    fifo.page_bytes = 4;
    fifo.pages = kPages;
    f.buffers.push_back(fifo);
    for (std::uint32_t e = 0; e < 2; ++e) {
      ir::EngineProgram p;
      p.engine = ir::EngineId(e);
      f.programs.push_back(p);
    }
    sketch.ops.resize(2);
  }

  void op(std::uint32_t p, OpCode code, std::int64_t n) { Maker::emit(sketch.ops[p], code, 0, n); }
  void run(std::uint32_t p, std::uint32_t page, bool write) {
    sketch.ops[p].push_back({OpCode::run, 0, 0, {Maker::page(0, page, write)}, {}});
  }
  ir::TokenGame game(std::vector<std::int64_t> extra = {}) {
    program = assemble(sketch);
    REQUIRE_FALSE(ir::validate(program));
    unrolled = std::get<ir::Unrolled>(ir::unroll(program));
    return {program, unrolled, std::move(extra)};
  }
};

ir::Schedule schedule(std::initializer_list<ir::ScheduleRun> runs) { return runs; }
const ProgramId kA(0U);
const ProgramId kB(1U);

TEST_CASE("token game: a scripted schedule is played as written") {
  Fixture f;
  f.op(0, OpCode::post, 2);
  f.op(1, OpCode::wait, 1);
  f.op(1, OpCode::wait, 1);
  const auto game = f.game();
  const auto half = ir::play(game, schedule({{kA, 1}, {kB, 1}}));
  CHECK(half.complete);
  CHECK(half.steps == 2);
  CHECK(half.state.value[0] == 1);
  CHECK(game.finished(half.state, kA));
  CHECK_FALSE(game.all_finished(half.state));
  CHECK(game.all_finished(ir::play(game, schedule({{kA, 1}, {kB, 2}})).state));
  const auto early = ir::play(game, schedule({{kB, 1}, {kA, 1}}));
  CHECK_FALSE(early.complete);
  CHECK(early.steps == 0);
  CHECK_FALSE(early.fault);
  CHECK_FALSE(ir::play(game, schedule({{ProgramId(7U), 1}})).complete);
}

TEST_CASE("token game: a blocked program says on what") {
  Fixture f;
  f.op(0, OpCode::wait, 2);
  f.op(1, OpCode::front, 1);
  const auto game = f.game();
  const auto state = game.start();
  const auto a = game.blocked(state, kA);
  REQUIRE(a);
  CHECK(a->counter == game.counters().of(ir::SemaphoreId(0U)));
  CHECK(a->need == 2);
  CHECK(a->have == 0);
  const auto b = game.blocked(state, kB);
  REQUIRE(b);
  CHECK(b->counter == game.counters().filled(ir::BufferId(0U)));
  CHECK_FALSE(game.can_step(state, kA));
}

TEST_CASE("token game: tests of a window hold and take nothing") {
  Fixture f;
  f.op(0, OpCode::reserve, 2);
  f.op(0, OpCode::reserve, 1);
  f.op(0, OpCode::push, 2);
  f.op(0, OpCode::reserve, 1);
  f.op(1, OpCode::front, 2);
  f.op(1, OpCode::front, 2);
  f.op(1, OpCode::pop, 1);
  const auto game = f.game();
  const auto full = ir::play(game, schedule({{kA, 3}, {kB, 2}}));
  REQUIRE(full.complete);
  CHECK(full.state.front[0] == 2);
  CHECK(game.blocked(full.state, kA)->have == 0);
  const auto popped = ir::play(game, schedule({{kA, 3}, {kB, 3}, {kA, 1}}));
  CHECK(popped.complete);
  CHECK(popped.state.front[0] == 1);
  CHECK(popped.state.back[0] == 1);
}

TEST_CASE("token game: a guaranteed FIFO may be deeper") {
  Fixture f;
  f.sketch.frame.buffers[0].depth = ir::Depth::guaranteed;
  for (int i = 0; i < 3; ++i) {
    f.op(0, OpCode::reserve, 1);
    f.op(0, OpCode::push, 1);
  }
  CHECK(ir::play(f.game(), schedule({{kA, 6}})).steps == 4);
  CHECK(ir::play(f.game({1}), schedule({{kA, 6}})).complete);
}

TEST_CASE("token game: overflow stops the play and changes nothing") {
  Fixture f;
  f.op(0, OpCode::post, 1);
  f.op(0, OpCode::post, 2);
  const auto game = f.game();
  const auto played = ir::play(game, schedule({{kA, 2}}));
  REQUIRE(played.fault);
  CHECK(played.fault->kind == ir::PlayFault::Kind::overflow);
  CHECK(played.fault->transition == ir::TransitionId(1U));
  CHECK(played.fault->value == 3);
  CHECK(played.fault->limit == 2);
  CHECK(played.steps == 1);
  CHECK(played.state.value[0] == 1);
  CHECK_FALSE(played.complete);
}

TEST_CASE("token game: misuse of a window") {
  SUBCASE("push without reserve") {
    Fixture f;
    f.op(0, OpCode::push, 1);
    const auto played = ir::play(f.game(), schedule({{kA, 1}}));
    REQUIRE(played.fault);
    CHECK(played.fault->kind == ir::PlayFault::Kind::misuse);
    CHECK(played.fault->limit == 0);
  }
  SUBCASE("a push closes what it pushed") {
    Fixture f;
    f.op(0, OpCode::reserve, 1);
    f.op(0, OpCode::push, 1);
    f.op(0, OpCode::push, 1);
    CHECK(ir::play(f.game(), schedule({{kA, 3}})).steps == 2);
  }
  SUBCASE("touching a page outside the window") {
    Fixture f;
    f.op(0, OpCode::reserve, 1);
    f.run(0, 0, true);
    f.run(0, 1, true);
    const auto played = ir::play(f.game(), schedule({{kA, 3}}));
    REQUIRE(played.fault);
    CHECK(played.fault->transition == ir::TransitionId(2U));
    CHECK(played.fault->value == 2);
    CHECK(played.fault->limit == 1);
  }
}

TEST_CASE(
    "token game: a seed plays the same schedule again, and the explorer knows every state of it") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Sample sample = generate(seed);
    const auto unrolled = std::get<ir::Unrolled>(ir::unroll(sample.program));
    const ir::TokenGame game(sample.program, unrolled);
    const auto first = ir::play_freely(game, seed);
    const auto second = ir::play_freely(game, seed);
    CHECK(first.result.state == second.result.state);
    CHECK(ir::play(game, first.schedule).state == first.result.state);
    const Exploration explored(game, 100'000);
    REQUIRE(explored.complete);
    Front end{};
    for (std::uint32_t p = 0; p < sample.program.programs.size(); ++p) {
      end[p] = static_cast<std::uint16_t>(first.result.state.next[p] - unrolled.begin[p]);
    }
    CHECK(std::find(explored.states.begin(), explored.states.end(), end) != explored.states.end());
  }
}

TEST_CASE("token game: the state is a function of where the programs stand") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Sample sample = generate(seed);
    const auto unrolled = std::get<ir::Unrolled>(ir::unroll(sample.program));
    const ir::TokenGame game(sample.program, unrolled);
    const Exploration explored(game, 100'000);
    for (std::uint64_t other = 0; other < 5; ++other) {
      const auto free = ir::play_freely(game, other);
      for (std::uint32_t s = 0; s < explored.states.size(); ++s) {
        bool same = true;
        for (std::uint32_t p = 0; p < sample.program.programs.size(); ++p) {
          same &= explored.states[s][p] == free.result.state.next[p] - unrolled.begin[p];
        }
        if (same) CHECK(ir::play(game, explored.schedule_to(s)).state == free.result.state);
      }
    }
  }
}

}  // namespace
}  // namespace spatialcert::tests
