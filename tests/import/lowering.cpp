// What every type of step becomes.
#include <doctest/doctest.h>

#include <algorithm>

#include "fixtures.hpp"

namespace spatialcert::ir {
namespace {

using fixtures::File;
using fixtures::head;
using fixtures::import_one;
using fixtures::import_program;
using fixtures::ops_of;

/// Rank 1 receives chunk 0 from rank 0 with a step `type`, and sends on to rank 0 if the type does.
Program relay(const std::string& type, bool sends) {
  File file(head(4));
  file.gpu(4, 4, 4).block(1, sends ? 1 : -1).step({"s"});
  if (sends) file.step({"r", "i 0", "o 3"});
  file.gpu(4, 4, 4).block(sends ? 0 : -1, 0).step({type, "s 1", "o 2"});
  return import_program(file.text());
}

TEST_CASE("s and r pass a chunk") {
  const Program program = relay("r", false);
  CHECK(ops_of(program, 0, "tb0") ==
        "reserve 0>1#0 1\n"
        "copy i@0[0,1) -> 0>1#0[0,1)\n"
        "push 0>1#0 1\n");
  CHECK(ops_of(program, 1, "tb0") ==
        "front 0>1#0 1\n"
        "copy 0>1#0[0,1) -> o@1[2,3)\n"
        "pop 0>1#0 1\n");
}

TEST_CASE("rcs stores and sends on, and reads no buffer") {
  CHECK(ops_of(relay("rcs", true), 1, "tb0") ==
        "front 0>1#0 1\n"
        "reserve 1>0#0 1\n"
        "copy 0>1#0[0,1) -> o@1[2,3) 1>0#0[0,1)\n"
        "push 1>0#0 1\n"
        "pop 0>1#0 1\n");
}

TEST_CASE("rrs adds the source of the receiving rank and writes no buffer") {
  CHECK(ops_of(relay("rrs", true), 1, "tb0") ==
        "front 0>1#0 1\n"
        "reserve 1>0#0 1\n"
        "add 0>1#0[0,1) s@1[1,2) -> 1>0#0[0,1)\n"
        "push 1>0#0 1\n"
        "pop 0>1#0 1\n");
}

TEST_CASE("rrc adds the source of the receiving rank, not the destination") {
  CHECK(ops_of(relay("rrc", false), 1, "tb0") ==
        "front 0>1#0 1\n"
        "add 0>1#0[0,1) s@1[1,2) -> o@1[2,3)\n"
        "pop 0>1#0 1\n");
}

TEST_CASE("rrcs does both") {
  CHECK(ops_of(relay("rrcs", true), 1, "tb0") ==
        "front 0>1#0 1\n"
        "reserve 1>0#0 1\n"
        "add 0>1#0[0,1) s@1[1,2) -> o@1[2,3) 1>0#0[0,1)\n"
        "push 1>0#0 1\n"
        "pop 0>1#0 1\n");
}

TEST_CASE("cpy and re are local") {
  const Program program = import_program(File(head(4))
                                             .gpu(4, 4, 4)
                                             .block(-1, -1)
                                             .step({"cpy", "i 0", "s 1", 2})
                                             .step({"re", "s 1", "i 2", 2})
                                             .gpu()
                                             .text());
  CHECK(ops_of(program, 0, "tb0") ==
        "copy i@0[0,2) -> s@0[1,3)\n"
        "add i@0[2,4) s@0[1,3) -> i@0[2,4)\n");
}

TEST_CASE("a step of n chunks is ceil(n/m) transfers of at most m") {
  const std::string text = File(head(5))
                               .gpu(5, 5)
                               .block(1, -1)
                               .step({"s", "i 0", "i 0", 5, -1, -1, 1})
                               .block(-1, -1)
                               .step({"cpy", "i 0", "o 0", 5, 0, 0})
                               .gpu(5, 5)
                               .block(-1, 0)
                               .step({"r", "i 0", "i 0", 5})
                               .text();
  const auto variant =
      import_msccl_with_transfers(text, "t.xml", MscclPlacement::in_place, MscclRuntime::msccl, 2);
  REQUIRE(variant.has_value());
  CHECK(variant->chunks_per_transfer == 2);
  CHECK(ops_of(variant->program, 0, "tb0") ==
        "reserve 0>1#0 1\n"
        "copy i@0[0,2) -> 0>1#0[0,2)\n"
        "push 0>1#0 1\n"
        "reserve 0>1#0 1\n"
        "copy i@0[2,4) -> 0>1#0[0,2)\n"
        "push 0>1#0 1\n"
        "reserve 0>1#0 1\n"
        "copy i@0[4,5) -> 0>1#0[0,1)\n"
        "push 0>1#0 1\n"
        "post flag@0.0 1\n");
  CHECK(ops_of(variant->program, 0, "tb1") ==
        "await flag@0.0 1\n"
        "copy i@0[0,2) -> o@0[0,2)\n"
        "copy i@0[2,4) -> o@0[2,4)\n"
        "copy i@0[4,5) -> o@0[4,5)\n");
}

TEST_CASE("a step of no chunks still waits and posts") {
  const Program program = import_program(File(head(2))
                                             .gpu(2, 2)
                                             .block(-1, -1)
                                             .step({"cpy", "i 0", "o 0", 1, -1, -1, 1})
                                             .block(1, -1)
                                             .step({"s", "i 0", "i 0", 0, 0, 0, 1})
                                             .block(-1, -1)
                                             .step({"cpy", "i 0", "o 1", 1, 1, 0})
                                             .gpu(2, 2)
                                             .block(-1, 0)
                                             .step({"r", "i 0", "i 0", 0})
                                             .text());
  CHECK(ops_of(program, 0, "tb1") == "await flag@0.0 1\npost flag@0.1 1\n");
  CHECK(ops_of(program, 1, "tb0") == "");
  CHECK(std::none_of(program.buffers.begin(), program.buffers.end(),
                     [](const Buffer& b) { return b.kind == BufferKind::fifo; }));
}

TEST_CASE("every op carries the line of its step") {
  const Program program = import_program(File(head(4))
                                             .gpu(4, 4)
                                             .block(-1, -1)
                                             .step({"cpy", "i 0", "o 0", 1, -1, -1, 1})
                                             .block(-1, -1)
                                             .step({"nop", "i -1", "o -1", 0, 0, 0})
                                             .step({"cpy", "i 0", "o 1", 1, 0, 0})
                                             .gpu()
                                             .text());
  REQUIRE(program.programs.size() == 2);
  CHECK(program.source_files == std::vector<std::string>{"t.xml"});
  std::vector<std::uint32_t> lines;
  for (const Op& op : program.programs[1].ops) lines.push_back(program.locations[op.location].line);
  CHECK(lines == std::vector<std::uint32_t>{7, 8, 8});  // the nop's await, the step's await and run
}

TEST_CASE("target and objects") {
  const Program program = relay("r", false);
  CHECK(program.target.chips == 2);
  CHECK(program.target.engines == std::vector<std::string>{"tb0"});
  CHECK(program.target.handoffs[0].crosses_chips);
  CHECK(!program.target.handoffs[1].crosses_chips);
  CHECK(program.sections.size() == 1);
  CHECK(program.stages[0].op == OpKind::copy);
  CHECK(program.stages[1].op == OpKind::add);
  const Buffer& fifo = program.buffers.back();
  CHECK(fifo.name == "0>1#0");
  CHECK(fifo.pages == 8);
  CHECK(fifo.depth == Depth::guaranteed);
  CHECK(fifo.site.chip == 1);
  for (const EngineProgram& one : program.programs) {
    REQUIRE(one.spans.size() == 1);
    CHECK(one.spans[0].end == one.ops.size());
  }
}

TEST_CASE("a connection holds two messages under Simple and eight otherwise") {
  for (const auto& [protocol, pages] : {std::pair{"Simple", 2U}, {"LL", 8U}, {"LL128", 8U}}) {
    const Program program = import_program(File(head(3, "inplace=\"1\"", protocol))
                                               .gpu()
                                               .block(1, -1)
                                               .step({"s", "i 0", "i 0", 3})
                                               .gpu()
                                               .block(-1, 0)
                                               .step({"r", "i 0", "i 0", 3})
                                               .text());
    CHECK(program.buffers.back().pages == pages);
    CHECK(program.buffers.back().page_bytes == 3 * program.buffers.front().page_bytes);
  }
}

TEST_CASE("the sending and the receiving half of a block may have different peers") {
  const Program program = import_program(File(head(3, "inplace=\"1\"", "LL", "allreduce", 3))
                                             .gpu()
                                             .block(1, 2)
                                             .step({"s"})
                                             .step({"r"})
                                             .gpu()
                                             .block(2, 0)
                                             .step({"rcs"})
                                             .gpu()
                                             .block(0, 1)
                                             .step({"rcs"})
                                             .text());
  CHECK(ops_of(program, 1, "tb0").starts_with("front 0>1#0 1\nreserve 1>2#0 1\n"));
}

}  // namespace
}  // namespace spatialcert::ir
