// Step numbers, fused reductions and what a wait for a step turns into.
#include <doctest/doctest.h>

#include "fixtures.hpp"

namespace spatialcert::ir {
namespace {

using fixtures::File;
using fixtures::head;
using fixtures::import_program;
using fixtures::import_refusal;
using fixtures::ops_of;

/// A file of one interesting rank; the other does nothing.
File local(int scratch = 20) { return std::move(File(head(20)).gpu(20, 20, scratch)); }

TEST_CASE("a wait counts the posts up to the step it names") {
  const Program program = import_program(local()
                                             .block(-1, -1)
                                             .step({"cpy", "i 0", "s 0", 1, -1, -1, 1})
                                             .step({"cpy", "i 0", "s 1"})
                                             .step({"cpy", "i 0", "s 2", 1, -1, -1, 1})
                                             .step({"cpy", "i 0", "s 3", 1, -1, -1, 1})
                                             .block(-1, -1)
                                             .step({"cpy", "s 0", "s 4", 1, 0, 0})
                                             .step({"cpy", "s 2", "s 5", 1, 0, 2})
                                             .step({"cpy", "s 3", "s 6", 1, 0, 3})
                                             .gpu()
                                             .text());
  CHECK(ops_of(program, 0, "tb1") ==
        "await flag@0.0 1\ncopy s@0[0,1) -> s@0[4,5)\n"
        "await flag@0.0 2\ncopy s@0[2,3) -> s@0[5,6)\n"
        "await flag@0.0 3\ncopy s@0[3,4) -> s@0[6,7)\n");
  REQUIRE(program.semaphores.size() == 1);
  CHECK(program.semaphores[0].restart == Restart::reset);
  CHECK(program.target.semaphores_per_site == 1);
}

TEST_CASE("a wait for a step without hasdep is served by the next step that posts") {
  const Program program = import_program(local()
                                             .block(-1, -1)
                                             .step({"cpy", "i 0", "s 0"})
                                             .step({"cpy", "i 0", "s 1", 1, -1, -1, 1})
                                             .block(-1, -1)
                                             .step({"cpy", "s 0", "s 4", 1, 0, 0})
                                             .gpu()
                                             .text());
  CHECK(ops_of(program, 0, "tb1") == "await flag@0.0 1\ncopy s@0[0,1) -> s@0[4,5)\n");
}

TEST_CASE("a wait that no step serves waits for one post more than there is") {
  const Program program = import_program(local()
                                             .block(-1, -1)
                                             .step({"cpy", "i 0", "s 0", 1, -1, -1, 1})
                                             .step({"cpy", "i 0", "s 1"})
                                             .block(-1, -1)
                                             .step({"cpy", "s 0", "s 4", 1, 0, 1})
                                             .gpu()
                                             .text());
  CHECK(ops_of(program, 0, "tb1").starts_with("await flag@0.0 2\n"));
}

TEST_CASE("a block may wait for itself") {
  const Program program = import_program(local()
                                             .block(-1, -1)
                                             .step({"cpy", "i 0", "s 0", 1, -1, -1, 1})
                                             .step({"cpy", "i 0", "s 1", 1, 0, 0})
                                             .gpu()
                                             .text());
  CHECK(
      ops_of(program, 0, "tb0") ==
      "copy i@0[0,1) -> s@0[0,1)\npost flag@0.0 1\nawait flag@0.0 1\ncopy i@0[0,1) -> s@0[1,2)\n");
}

TEST_CASE("flags that nobody awaits are left out") {
  const Program program =
      import_program(local().block(-1, -1).step({"cpy", "i 0", "s 0", 1, -1, -1, 1}).gpu().text());
  CHECK(program.semaphores.empty());
  CHECK(ops_of(program, 0, "tb0") == "copy i@0[0,1) -> s@0[0,1)\n");
}

/// Two posting blocks, and one that waits for both by means of a nop.
File with_nop(int nop_depid, int nop_hasdep = 0) {
  return std::move(
      local()
          .block(-1, -1)
          .step({"cpy", "i 0", "s 0", 1, -1, -1, 1})
          .block(-1, -1)
          .step({"cpy", "i 1", "s 1", 1, -1, -1, 1})
          .block(-1, -1)
          .step({"nop", "i -1", "o -1", 0, nop_depid, nop_depid < 0 ? -1 : 0, nop_hasdep})
          .step({"cpy", "s 0", "s 4", 1, 1, 0, 1})
          .step({"cpy", "s 1", "s 5", 1, -1, -1, 1}));
}

TEST_CASE("a nop hands its dependency to the next real step and counts as a step") {
  const Program program = import_program(with_nop(0)
                                             .block(-1, -1)
                                             .step({"cpy", "s 4", "s 6", 1, 2, 1})
                                             .step({"cpy", "s 5", "s 7", 1, 2, 2})
                                             .gpu()
                                             .text());
  CHECK(ops_of(program, 0, "tb2") ==
        "await flag@0.0 1\nawait flag@0.1 1\n"
        "copy s@0[0,1) -> s@0[4,5)\npost flag@0.2 1\n"
        "copy s@0[1,2) -> s@0[5,6)\npost flag@0.2 1\n");
  CHECK(ops_of(program, 0, "tb3") ==
        "await flag@0.2 1\ncopy s@0[4,5) -> s@0[6,7)\n"
        "await flag@0.2 2\ncopy s@0[5,6) -> s@0[7,8)\n");
}

TEST_CASE("a nop without a dependency does not count, which shifts all later step numbers") {
  const Program program = import_program(with_nop(-1)
                                             .block(-1, -1)
                                             .step({"cpy", "s 4", "s 6", 1, 2, 1})
                                             .step({"cpy", "s 5", "s 7", 1, 2, 2})
                                             .gpu()
                                             .text());
  // The steps at s=1 and s=2 have the numbers 0 and 1: the first wait gets the second, the other
  // none.
  CHECK(ops_of(program, 0, "tb3") ==
        "await flag@0.2 2\ncopy s@0[4,5) -> s@0[6,7)\n"
        "await flag@0.2 3\ncopy s@0[5,6) -> s@0[7,8)\n");
}

TEST_CASE("a nop never posts") {
  const Program program = import_program(
      with_nop(0, 1).block(-1, -1).step({"cpy", "s 4", "s 6", 1, 2, 0}).gpu().text());
  CHECK(ops_of(program, 0, "tb3").starts_with("await flag@0.2 1\n"));
  CHECK(ops_of(program, 0, "tb2").starts_with("await flag@0.0 1\nawait flag@0.1 1\ncopy"));
}

TEST_CASE("nops count for a step without a dependency of its own, and vanish at the end") {
  const Program program = import_program(local()
                                             .block(-1, -1)
                                             .step({"cpy", "i 0", "s 0", 1, -1, -1, 1})
                                             .block(-1, -1)
                                             .step({"nop", "i -1", "o -1", 0, 0, 0})
                                             .step({"cpy", "s 0", "s 4"})
                                             .step({"nop", "i -1", "o -1", 0, 0, 0})
                                             .gpu()
                                             .text());
  CHECK(ops_of(program, 0, "tb1") == "await flag@0.0 1\ncopy s@0[0,1) -> s@0[4,5)\n");
}

TEST_CASE("consecutive reductions into one place are one") {
  const Program program = import_program(local()
                                             .block(-1, -1)
                                             .step({"re", "s 0", "i 3"})
                                             .step({"re", "s 1", "i 3"})
                                             .step({"re", "s 5", "i 3", 1, -1, -1, 1})
                                             .step({"re", "s 6", "i 3"})
                                             .block(-1, -1)
                                             .step({"cpy", "i 3", "s 9", 1, 0, 2})
                                             .gpu()
                                             .text());
  CHECK(ops_of(program, 0, "tb0") ==
        "add i@0[3,4) s@0[0,1) s@0[1,2) s@0[5,6) -> i@0[3,4)\n"
        "post flag@0.0 1\n"
        "add i@0[3,4) s@0[6,7) -> i@0[3,4)\n");
  CHECK(ops_of(program, 0, "tb1") == "await flag@0.0 1\ncopy i@0[3,4) -> s@0[9,10)\n");
}

TEST_CASE("what ends a chain of reductions") {
  const auto runs = [](const fixtures::StepText& between, const fixtures::StepText& second) {
    File file = local();
    file.block(-1, -1).step({"cpy", "i 0", "s 15", 1, -1, -1, 1});
    file.block(-1, -1).step({"re", "s 0", "i 3"});
    if (!between.type.empty()) file.step(between);
    const Program program = import_program(file.step(second).gpu().text());
    return program.programs[1].ops.size();
  };
  CHECK(runs({}, {"re", "s 1", "i 3"}) == 1);
  CHECK(runs({}, {"re", "s 1", "i 4"}) == 2);           // another place
  CHECK(runs({}, {"re", "s 1", "s 3"}) == 2);           // another buffer
  CHECK(runs({}, {"re", "i 1", "i 3"}) == 2);           // sources in another buffer
  CHECK(runs({}, {"re", "s 1", "i 3", 1, 0, 0}) == 3);  // a wait in between
  CHECK(runs({"cpy", "i 8", "s 8"}, {"re", "s 1", "i 3"}) == 3);
  CHECK(runs({"nop", "i -1", "o -1", 0}, {"re", "s 1", "i 3"}) == 2);
}

TEST_CASE("sixteen reductions are merged at most, and each counts as a step") {
  File file = local();
  file.block(-1, -1);
  for (int k = 0; k < 18; ++k) {
    file.step({"re", "s " + std::to_string(k), "i 3", 1, -1, -1, k == 17 ? 1 : 0});
  }
  const Program program =
      import_program(file.block(-1, -1).step({"cpy", "i 3", "s 9", 1, 0, 17}).gpu().text());
  REQUIRE(program.programs[0].ops.size() == 3);
  CHECK(program.programs[0].ops[0].accesses == 18);
  CHECK(program.programs[0].ops[1].accesses == 4);
  CHECK(ops_of(program, 0, "tb1").starts_with("await flag@0.0 1\n"));
}

TEST_CASE("a chain of reductions is split like any step") {
  const std::string text = local()
                               .block(-1, -1)
                               .step({"re", "s 0", "i 4", 2})
                               .step({"re", "s 2", "i 4", 2})
                               .gpu()
                               .text();
  const auto variant =
      import_msccl_with_transfers(text, "t.xml", MscclPlacement::in_place, MscclRuntime::msccl, 1);
  REQUIRE(variant.has_value());
  CHECK(ops_of(variant->program, 0, "tb0") ==
        "add i@0[4,5) s@0[0,1) s@0[2,3) -> i@0[4,5)\n"
        "add i@0[5,6) s@0[1,2) s@0[3,4) -> i@0[5,6)\n");
}

TEST_CASE("merged reductions of different counts are refused") {
  const Refusal refusal = import_refusal(local()
                                             .block(-1, -1)
                                             .step({"re", "s 0", "i 4", 2})
                                             .step({"re", "s 2", "i 4", 1})
                                             .gpu()
                                             .text());
  CHECK(refusal.line == 5);
  CHECK(refusal.path == "algo/gpu[@id=0]/tb[@id=0]/step[@s=1]");
  CHECK(refusal.expected ==
        "`cnt` 2 as in the reduction at line 4, with which the runtime merges this one");
  CHECK(refusal.found == "1");
}

}  // namespace
}  // namespace spatialcert::ir
