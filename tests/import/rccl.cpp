// Sends without a barrier: the helper engine, and that it changes nothing about who waits for whom.
#include <doctest/doctest.h>

#include "fixtures.hpp"
#include "ir/token_game.hpp"
#include "ir/unroll.hpp"

namespace spatialcert::ir {
namespace {

using fixtures::File;
using fixtures::head;
using fixtures::import_program;
using fixtures::ops_of;

/// Rank 0 runs `steps` in block 0; rank 1 answers with `sends` sends and then `receives` receives.
Program rank0(const std::vector<fixtures::StepText>& steps, int receives, int sends,
              MscclRuntime runtime = MscclRuntime::rccl, const std::string& protocol = "LL") {
  File file(head(4, "inplace=\"1\"", protocol));
  file.gpu(4, 4, 4).block(1, 1);
  for (const fixtures::StepText& step : steps) file.step(step);
  file.block(-1, -1).step({"cpy", "i 3", "s 3", 1, 0, 0, 1}).gpu(4, 4, 4).block(0, 0);
  for (int k = 0; k < sends; ++k) file.step({"s"});
  for (int k = 0; k < receives; ++k) file.step({"r", "i 0", "s 0"});
  return import_program(file.text(), runtime);
}

TEST_CASE("a send is read out by the helper until the barrier of the next step") {
  const Program program =
      rank0({{"s", "i 0", "i 0", 1, -1, -1, 1}, {"r", "i 0", "i 1"}, {"cpy", "i 0", "s 0"}}, 1, 1);
  CHECK(ops_of(program, 0, "tb0") ==
        "post go@0.0 1\n"
        "wait slot@0.0 1\n"
        "post flag@0.0 1\n"  // although the source may still be read
        "front 1>0#0 1\n"
        "copy 1>0#0[0,1) -> i@0[1,2)\n"
        "pop 1>0#0 1\n"
        "wait done@0.0 1\n"
        "copy i@0[0,1) -> s@0[0,1)\n");
  CHECK(ops_of(program, 0, "tb0.send") ==
        "wait go@0.0 1\n"
        "reserve 0>1#0 1\n"
        "post slot@0.0 1\n"
        "copy i@0[0,1) -> 0>1#0[0,1)\n"
        "push 0>1#0 1\n"
        "post done@0.0 1\n");
  CHECK(program.target.engines == std::vector<std::string>{"tb0", "tb1", "tb0.send"});
}

TEST_CASE("what else is a barrier: waiting for a flag, the next slot, the end") {
  const std::string send =
      "post go@0.0 1\n"
      "wait slot@0.0 1\n";
  CHECK(ops_of(rank0({{"s"}, {"cpy", "i 0", "s 0", 1, 1, 0}}, 1, 0), 0, "tb0") ==
        send + "await flag@0.1 1\nwait done@0.0 1\ncopy i@0[0,1) -> s@0[0,1)\n");
  CHECK(ops_of(rank0({{"s"}, {"s", "i 1"}}, 2, 0), 0, "tb0") ==
        send + "wait done@0.0 1\n" + send + "wait done@0.0 1\n");
}

TEST_CASE(
    "a receive of the same shape over the sent range keeps every thread to its own elements") {
  CHECK(ops_of(rank0({{"s"}, {"r"}}, 1, 1), 0, "tb0")
            .starts_with("post go@0.0 1\nwait slot@0.0 1\nwait done@0.0 1\nfront 1>0#0 1\n"));
}

TEST_CASE("other protocols and runtimes have the barrier") {
  for (const Program& program : {rank0({{"s"}}, 1, 0, MscclRuntime::msccl),
                                 rank0({{"s"}}, 1, 0, MscclRuntime::rccl, "LL128"),
                                 rank0({{"s"}}, 1, 0, MscclRuntime::rccl, "Simple")}) {
    CHECK(program.target.engines == std::vector<std::string>{"tb0", "tb1"});
    CHECK(ops_of(program, 0, "tb0").starts_with("reserve 0>1#0 1\n"));
  }
}

bool is_live(const Program& program) {
  const auto unrolled = unroll(program);
  const TokenGame game(program, std::get<Unrolled>(unrolled));
  const FreePlay play = play_freely(game);
  CHECK(!play.result.fault.has_value());
  return game.all_finished(play.result.state);
}

TEST_CASE("a full connection holds the block as it does without a helper") {
  for (const MscclRuntime runtime : {MscclRuntime::msccl, MscclRuntime::rccl}) {
    for (const int sends : {7, 8, 9}) {
      File file(head(1));
      for (const int peer : {1, 0}) {
        file.gpu(1, 1, 9).block(peer, peer);
        for (int k = 0; k < sends; ++k) file.step({"s"});
        for (int k = 0; k < sends; ++k) file.step({"r", "i 0", "s " + std::to_string(k)});
      }
      CHECK(is_live(import_program(file.text(), runtime)) == (sends <= 8));
    }
  }
}

}  // namespace
}  // namespace spatialcert::ir
