// What a built section looks like, and that every op of it is needed.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "certify/pipeline.hpp"
#include "ir/validate.hpp"
#include "tests/counts.hpp"
#include "tests/sections/fixture.hpp"

namespace spatialcert::tests {
namespace {

using namespace compose::sections;  // NOLINT: the words of descriptions
using ir::machine::Ending;
using ir::machine::Outcome;
using ir::machine::Schedule;

SectionTensor of(const std::string& name, std::uint64_t rows, std::uint64_t cols,
                 DType type = DType::i32) {
  return {name, rows, cols, type, ir::TensorRole::input};
}

ir::Program built(const SectionDescription& description) {
  auto program = compose::build_section(description);
  REQUIRE_MESSAGE(program.has_value(), program.error().message());
  return std::move(program).value();
}

/// `repeat 4 { reserve in; run load/x; push in }`, without section, site and tensors.
std::string text(const ir::Program& program, const ir::EngineProgram& engine) {
  std::string out;
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < engine.ops.size(); ++i) {
    const ir::Op& op = engine.ops[i];
    const auto name = [&]() -> std::string {
      switch (op.code) {
        case ir::OpCode::repeat:
          return fmt::format("{} {{", op.count);
        case ir::OpCode::run:
          return program.stages[op.object].name.substr(5);
        case ir::OpCode::wait:
        case ir::OpCode::post:
          return program.semaphores[op.object].name.substr(11);
        default:
          return program.buffers[op.object].name.substr(11);
      }
    };
    out += fmt::format("{} {}; ", ir::to_string(op.code), name());
    if (op.code == ir::OpCode::repeat) ends.push_back(i + op.body);
    while (!ends.empty() && ends.back() == i) {
      ends.pop_back();
      out += "}; ";
    }
  }
  return out;
}

TEST_CASE("the shape of a section with FIFOs") {
  const ir::Program program =
      built(describe(Elementwise{neg(tensor("x")), "y"}, {of("x", 8, 4), of("y", 8, 4)},
                     {1, Split::rows, Handover::fifo, 2, {2, 4, 1}}));
  REQUIRE(program.programs.size() == 3);
  CHECK(text(program, program.programs[0]) ==
        "repeat 4 {; reserve in0/x; run load/x; push in0/x; }; ");
  CHECK(text(program, program.programs[1]) ==
        "repeat 4 {; front in0/x; reserve out/y; run 0.neg; push out/y; pop in0/x; }; ");
  CHECK(text(program, program.programs[2]) ==
        "repeat 4 {; front out/y; run store/y; pop out/y; }; ");
  REQUIRE(program.buffers.size() == 2);
  CHECK(program.buffers[0].name == "part/1.0.1/out/y");
  CHECK(program.buffers[1].name == "part/1.0.1/in0/x");
  CHECK(program.buffers[0].pages == 2);
  CHECK(program.buffers[0].address == 0);
  CHECK(program.buffers[1].address == 64);
  CHECK(program.target.spaces[program.buffers[0].space.value()].name == "sram");
  CHECK(program.edges.size() == 2);
  CHECK(program.sections[0].numerics.exact);
  CHECK(program.tensors[0].init == ir::Init::external);
  CHECK(program.tensors[0].role == ir::TensorRole::input);
  CHECK(program.tensors[1].init == ir::Init::undefined);
  CHECK(program.tensors[1].role == ir::TensorRole::output);
}

TEST_CASE("the shape of a section with semaphores, and a smaller last tile") {
  const ir::Program program =
      built(describe(Elementwise{neg(tensor("x")), "y"}, {of("x", 11, 4), of("y", 11, 4)},
                     {1, Split::rows, Handover::semaphores, 2, {2, 4, 1}}));
  CHECK(text(program, program.programs[0]) ==
        "repeat 2 {; wait in0.0/x/free; run load/x; post in0.0/x/full; "
        "wait in0.1/x/free; run load/x; post in0.1/x/full; }; "
        "wait in0.0/x/free; run load/x; post in0.0/x/full; "
        "wait in0.0/x/free; run load/x; post in0.0/x/full; ");
  CHECK(text(program, program.programs[2])
            .find("wait out.1/y/full; run store/y; post out.1/y/free") != std::string::npos);
  CHECK(program.buffers.size() == 4);
  CHECK(program.semaphores.size() == 8);
}

TEST_CASE("an engine that has nothing to do in a loop has no loop") {
  const ir::Program program =
      built(describe(Matmul{"a", "b", "c", {}}, {of("a", 4, 10), of("b", 10, 4), of("c", 4, 4)},
                     {1, Split::rows, Handover::fifo, 2, {2, 4, 2}}));
  CHECK(text(program, program.programs[2]) ==
        "repeat 2 {; front out/c; run store/c; pop out/c; }; ");
  CHECK(
      text(program, program.programs[1]) ==
      "repeat 2 {; front in0/a; front in1/b; run matmul; pop in0/a; pop in1/b; "
      "repeat 3 {; front in0/a; front in1/b; run matmul; pop in0/a; pop in1/b; }; "
      "front in0/a; front in1/b; reserve out/c; run matmul; push out/c; pop in0/a; pop in1/b; }; ");
  const ir::Program turns =
      built(describe(Matmul{"a", "b", "c", {}}, {of("a", 8, 10), of("b", 10, 4), of("c", 8, 4)},
                     {1, Split::rows, Handover::semaphores, 2, {2, 4, 1}}));
  // Only the innermost loop takes the slots in turn.
  CHECK(text(turns, turns.programs[0]).find("repeat 4 {; wait in0.0/a/free; run load/a") == 0);
  CHECK(text(turns, turns.programs[0]).find("repeat 4 {; ", 1) != std::string::npos);
  const ir::Program moves = built(describe(Copy{"x", "y"}, {of("x", 4, 4), of("y", 4, 4)}));
  CHECK(moves.programs.size() == 2);
}

TEST_CASE("sites that get no tile have no engine program, and shares differ by one tile at most") {
  for (const std::size_t sites : {1U, 2U, 3U, 4U, 5U}) {
    for (const std::uint64_t rows : {1U, 3U, 4U, 7U, 8U, 13U}) {
      const ir::Program program =
          built(describe(Copy{"x", "y"}, {of("x", rows, 2), of("y", rows, 2)},
                         {sites, Split::rows, Handover::fifo, 1, {2, 2, 1}}));
      const std::uint64_t tiles = (rows + 1) / 2;
      CHECK(program.programs.size() == 2 * std::min<std::uint64_t>(sites, tiles));
      std::vector<std::uint64_t> share;
      for (const ir::EngineProgram& p : program.programs) {
        std::uint64_t runs = 0, times = 1;
        for (const ir::Op& op : p.ops) {
          if (op.code == ir::OpCode::repeat) times = static_cast<std::uint64_t>(op.count);
          if (op.code == ir::OpCode::run) runs += std::exchange(times, 1);
        }
        share.push_back(runs);
      }
      CHECK(*std::max_element(share.begin(), share.end()) -
                *std::min_element(share.begin(), share.end()) <=
            1);
    }
  }
}

TEST_CASE("names are the section's, save those of tensors, and buffers of a site do not overlap") {
  SectionDescription description = describe(
      Matmul{"a", "b", "c", {}}, {of("a", 7, 11), of("b", 11, 9), of("c", 7, 9), of("other", 1, 1)},
      {4, Split::columns, Handover::semaphores, 3, {2, 4, 4}});
  description.name = "layer 3/mlp";
  const ir::Program program = built(description);
  CHECK(program.tensors.size() == 3);
  CHECK(program.sections[0].name == "layer 3/mlp");
  const auto qualified = [](const auto& items) {
    return std::all_of(items.begin(), items.end(),
                       [](const auto& item) { return item.name.rfind("layer 3/mlp/", 0) == 0; });
  };
  CHECK(qualified(program.buffers));
  CHECK(qualified(program.semaphores));
  CHECK(qualified(program.stages));
  for (const ir::Buffer& a : program.buffers) {
    CHECK(a.address % 64 == 0);
    CHECK(a.address + a.bytes() <= 65536);
    REQUIRE(a.tile.has_value());
    for (const ir::Buffer& b : program.buffers) {
      if (&a == &b || a.site != b.site) continue;
      CHECK((a.address + a.bytes() <= b.address || b.address + b.bytes() <= a.address));
    }
  }
}

TEST_CASE("with two pages the load of the next tile does not wait for the use of this one") {
  for (const Handover handover : {Handover::fifo, Handover::semaphores}) {
    for (const std::uint32_t depth : {1U, 2U, 3U}) {
      const ir::Program program =
          built(describe(Softmax{"x", "y"}, {of("x", 6, 4, DType::f32), of("y", 6, 4, DType::f32)},
                         {1, Split::rows, handover, depth, {1, 4, 1}}));
      auto made = Machine::make(program);
      REQUIRE(made.has_value());
      // Three ops load a tile.
      const Outcome fits = made->run(Schedule::script(std::vector<std::uint32_t>(3 * depth, 0)));
      CHECK(fits.ending == Ending::stopped);
      auto again = Machine::make(program);
      const Outcome beyond =
          again->run(Schedule::script(std::vector<std::uint32_t>(3 * depth + 1, 0)));
      CHECK(beyond.ending == Ending::fault);
      CHECK(*beyond.fault == ir::machine::FaultKind::bad_schedule);
    }
  }
}

TEST_CASE("a state lives on from token to token") {
  const ir::Program program =
      built(describe(AppendRows{"k", "cache", 2}, {of("k", 1, 4), of("cache", 4, 4)},
                     {1, Split::rows, Handover::semaphores, 2, {1, 2, 1}}));
  Inputs first;
  first.tensors["cache"] = Matrix(DType::i32, 4, 4);
  first.tensors["k"] = Matrix::of(DType::i32, 1, 4, std::vector<std::int64_t>{1, 2, 3, 4});
  auto made = Machine::make(program, first);
  REQUIRE(made.has_value());
  REQUIRE(made->run().ending == Ending::finished);
  Inputs second;
  second.tensors["k"] = Matrix::of(DType::i32, 1, 4, std::vector<std::int64_t>{5, 6, 7, 8});
  REQUIRE_FALSE(made->restart(second).has_value());
  CHECK(made->tensor("cache")->at<std::int64_t>(2, 3) == 4);
  REQUIRE(made->run(Schedule::random(3)).ending == Ending::finished);
  CHECK(made->tensor("cache")->at<std::int64_t>(2, 3) == 8);
  CHECK(made->tensor("cache")->at<std::int64_t>(3, 3) == 0);
}

/// `program` without one op (and, of a loop, its body).
ir::Program without(const ir::Program& program, std::size_t engine, std::size_t op) {
  ir::Program out = program;
  auto& ops = out.programs[engine].ops;
  for (std::size_t i = 0; i < op; ++i) {
    if (ops[i].code == ir::OpCode::repeat && i + ops[i].body >= op) --ops[i].body;
  }
  ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(op));
  out.programs[engine].spans[0].end = static_cast<std::uint32_t>(ops.size());
  return out;
}

TEST_CASE("no section certifies without one of its hand-offs") {
  for (const Handover handover : {Handover::fifo, Handover::semaphores}) {
    for (const Work& work : {Work{Matmul{"x", "x", "y", {}}},
                             Work{Elementwise{mul(tensor("x"), tensor("row")), "y"}}}) {
      const ir::Program program =
          built(describe(work, {of("x", 6, 6), of("row", 1, 6), of("y", 6, 6)},
                         {2, Split::rows, handover, 2, {2, 3, 2}}));
      REQUIRE(certify::certify(program).verdict == certify::Verdict::certified);
      for (std::size_t p = 0; p < program.programs.size(); ++p) {
        for (std::size_t i = 0; i < program.programs[p].ops.size(); ++i) {
          const ir::OpCode code = program.programs[p].ops[i].code;
          if (code == ir::OpCode::repeat || code == ir::OpCode::run) continue;
          const ir::Program broken = without(program, p, i);
          CAPTURE(p);
          CAPTURE(i);
          if (ir::validate(broken)) continue;
          CHECK(certify::certify(broken).verdict != certify::Verdict::certified);
          count("sections without a hand-off", 1);
        }
      }
    }
  }
}

TEST_CASE("a large section is built and executed in moderate time") {
  const auto description =
      describe(Matmul{"a", "b", "c", {}}, {of("a", 128, 64), of("b", 64, 128), of("c", 128, 128)},
               {4, Split::rows, Handover::fifo, 2, {4, 4, 4}});
  const ir::Program program = built(description);
  CHECK(ir::op_count(program) < 400);
  auto any = Machine::make(program);
  auto random = Machine::make(program);
  REQUIRE(any.has_value());
  const Outcome outcome = any->run();
  CHECK(outcome.ending == Ending::finished);
  CHECK(outcome.steps > 150'000);
  REQUIRE(random->run(Schedule::random(1)).ending == Ending::finished);
  CHECK_FALSE(ir::machine::difference(*any, *random).has_value());
}

}  // namespace
}  // namespace spatialcert::tests
