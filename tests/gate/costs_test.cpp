// What programs cost, by numbers that were computed by hand.
#include "certify/gate/costs.hpp"

#include <doctest/doctest.h>

#include <string>

#include "ir/program_file.hpp"

namespace spatialcert::tests {
namespace {

namespace gate = certify::gate;

ir::Program golden(const std::string& name) {
  auto program =
      ir::read_program(std::string(SPATIALCERT_SOURCE_DIR) + "/tests/golden/" + name + ".json");
  REQUIRE(program.has_value());
  return *std::move(program);
}

TEST_CASE("a small program costs what its file shows") {
  const gate::Costs costs = gate::costs_of(golden("certified-sum"));
  CHECK(costs.ops == 12);
  CHECK(costs.transitions == 12);
  CHECK(costs.semaphores == 1);
  CHECK(costs.fifo_pages == 2);
  CHECK(costs.phases == 1);
  REQUIRE(costs.memory.size() == 1);
  CHECK(costs.memory[0].space == "sram");
  CHECK(costs.memory[0].bytes == 512 + 256);
  CHECK(costs.figure(gate::Cost::memory, "sram") == 768);
  CHECK_FALSE(costs.figure(gate::Cost::memory, "dram").has_value());
}

/// Two sites, two spaces, loops, a view, a FIFO of guaranteed depth, a closed boundary.
TEST_CASE(
    "loops are counted, memory is the highest end at any site, views and unplaced FIFOs are not") {
  ir::Program p;
  p.target.mesh_width = 2;
  p.target.engines = {"load"};
  p.target.spaces = {{"sram", 4096, 1}, {"dram", 1 << 20, 1}, {"unused", 16, 1}};
  const auto buffer = [&](std::uint32_t x, std::uint32_t space, std::uint64_t address,
                          std::uint64_t page_bytes, std::uint64_t pages) -> ir::Buffer& {
    ir::Buffer b;
    b.site = {0, x, 0};
    b.space = ir::SpaceId(space);
    b.address = address;
    b.page_bytes = page_bytes;
    b.pages = pages;
    return p.buffers.emplace_back(b);
  };
  buffer(0, 0, 0, 64, 3).kind = ir::BufferKind::fifo;  // to 192
  buffer(1, 0, 256, 32, 2);                            // to 320: the highest of sram
  buffer(0, 0, 200, 16, 1);                            // to 216
  buffer(1, 1, 1000, 24, 1);                           // dram to 1024
  buffer(1, 0, 4000, 8, 1).view = ir::View<ir::BufferId>{ir::BufferId(1U), 0};
  ir::Buffer& unplaced = buffer(0, 0, 0, 4096, 5);
  unplaced.kind = ir::BufferKind::fifo;
  unplaced.depth = ir::Depth::guaranteed;
  p.semaphores.resize(4);
  p.sections.resize(3);
  p.boundaries.push_back({ir::SectionId(0U), true});
  p.boundaries.push_back({ir::SectionId(1U), false});
  ir::EngineProgram e;
  e.engine = ir::EngineId(0U);
  const auto op = [](ir::OpCode code, std::int64_t count, std::uint32_t body) {
    ir::Op o;
    o.code = code;
    o.count = count;
    o.body = body;
    return o;
  };
  e.ops = {op(ir::OpCode::post, 1, 0), op(ir::OpCode::repeat, 10, 3), op(ir::OpCode::post, 1, 0),
           op(ir::OpCode::repeat, 7, 1), op(ir::OpCode::wait, 1, 0)};
  p.programs.push_back(e);

  const gate::Costs costs = gate::costs_of(p);
  CHECK(costs.ops == 5);
  CHECK(costs.transitions == 1 + 10 * (1 + 7));
  CHECK(costs.semaphores == 4);
  CHECK(costs.fifo_pages == 3 + 5);
  CHECK(costs.phases == 2);
  CHECK(costs.figure(gate::Cost::memory, "sram") == 320);
  CHECK(costs.figure(gate::Cost::memory, "dram") == 1024);
  CHECK(costs.figure(gate::Cost::memory, "unused") == 0);
  for (const char* name : {"ops", "transitions", "semaphores", "fifo_pages", "memory", "phases"}) {
    CAPTURE(name);
    REQUIRE(gate::parse_cost(name).has_value());
    CHECK(gate::to_string(*gate::parse_cost(name)) == name);
  }
  CHECK_FALSE(gate::parse_cost("time").has_value());
}

}  // namespace
}  // namespace spatialcert::tests
