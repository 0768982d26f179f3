// Accesses that move with folded loops.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "tests/proofs/foldings.hpp"

namespace spatialcert::proofs::folding {
namespace {

using certify::Verdict;
using tests::Draft;
using namespace tests::foldings;

TEST_CASE("folding: one who reads all tiles after a few of them are written") {
  Draft d("too soon");
  d.tensor("y", "undefined", kTrips).fifo("q", 2);
  d.engine("load", repeat(kTrips, {"reserve q", "run load > q y[1i:1i+1]", "push q"}));
  d.engine("compute", Ops{"front q 2", "run all y[0:60]", "pop q 2"} +
                          repeat(kTrips - 2, {"front q", "run compute q", "pop q"}));
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::refuted);
  const Claim c = claim(program, keep(30, {{0, 0, 1, 2}, {1, 3, 1, 0}}));
  CHECK(c.left == Verdict::certified);
  CHECK(c.refused == "interleaved");
}

TEST_CASE("folding: one who reads all tiles after all are written") {
  Draft d("in time");
  d.tensor("y", "undefined", kTrips).fifo("q", 4);
  d.engine("load", repeat(kTrips, {"reserve q", "run load > q y[1i:1i+1]", "push q"}));
  d.engine("compute", repeat(kTrips - 1, {"front q", "run compute q", "pop q"}) +
                          Ops{"front q", "run all y[0:60]", "pop q"});
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::certified);
  const Claim c = claim(program, keep(30, kBothFirst));
  CHECK(c.refused.empty());
  CHECK(c.left == Verdict::certified);
}

/// The pipeline with other accesses of y, in load and in compute.
std::string refused(const std::string& load, const std::string& compute,
                    const std::string& init = "undefined") {
  Draft d("tiles");
  d.tensor("y", init, 4 * kTrips).tensor("v", "undefined", 4, "f32", R"("view": {"of": "w"})");
  d.tensor("w", "undefined", 4 * kTrips).buffer("b");
  d.fifo("q", 2);
  d.engine("load", repeat(kTrips, {"reserve q", "run load " + load, "push q"}));
  d.engine("compute", repeat(kTrips, {"front q", "run compute " + compute, "pop q"}));
  return claim(d.program(), keep(30, kBothFirst)).refused;
}

TEST_CASE("folding: tiles that meet or overlap are written whole") {
  CHECK(refused("> y[2i:2i+2]", "q").empty());
  CHECK(refused("> y[2i:2i+3]", "q").empty());
  // Backwards too.
  CHECK(refused("> y[-1i+100:-1i+101]", "q").empty());
  CHECK(refused("> y[2i:2i+1]", "q").starts_with("writes that move with it leave gaps"));
  CHECK(refused("> y[-2i+200:-2i+201]", "q").starts_with("writes that move with it leave gaps"));
  CHECK(refused("> y[2i:3i+2]", "q").starts_with("writes that move with it leave gaps"));
  // Who only reads need not read everything.
  CHECK(refused("y[2i:2i+1]", "q", "external").empty());
  CHECK(refused("y[0:1i+1]", "q", "external").empty());
}

TEST_CASE("folding: a region that becomes empty") {
  // From trip 50 on nothing is left of it, which `bounds` refutes.
  CHECK(
      refused("y[1i:50]", "q", "external").starts_with("a region that moves with it may be empty"));
  CHECK(refused("y[1i:59]", "q", "external").starts_with("a region that moves with it may be"));
  CHECK(refused("y[1i:60]", "q", "external").empty());
}

TEST_CASE("folding: what one trip writes is not for other trips to touch") {
  const std::string touched = "what a trip writes is touched in another one";
  CHECK(refused("> y[1i:1i+1]", "y[1i:1i+1]").starts_with(touched));
  CHECK(refused("> y[1i:1i+1]", "> y[59:60]").starts_with(touched));
  CHECK(refused("y[1i+1:1i+2] > y[1i:1i+1]", "q").starts_with(touched));
  CHECK(refused("> y[1i+1:1i+2]", "y[0:2]", "external").starts_with(touched));
  CHECK(refused("> y[1i:1i+1]", "y[60:61]", "external").empty());
  CHECK(refused("> y[1i:1i+1] y[1i+60:1i+61]", "q").empty());
}

/// The regions of a tensor that move with the outermost loop move with loop `level` instead, and so
/// do their columns, one wide, if `columns`.
ir::Program moved(ir::Program program, std::uint32_t tensor, std::uint8_t level, bool columns) {
  for (ir::Access& access : program.accesses) {
    ir::Region& region = access.region;
    if (region.kind != ir::RegionKind::tensor || region.object != tensor || region.terms == 0)
      continue;
    const auto first = static_cast<std::uint32_t>(program.affine_terms.size());
    for (std::uint32_t t = 0; t < region.terms; ++t) {
      ir::AffineTerm term = program.affine_terms[region.first_term + t];
      term.level = level;
      program.affine_terms.push_back(term);
      if (!columns) continue;
      term.bound = static_cast<std::uint8_t>(term.bound + 2);
      program.affine_terms.push_back(term);
    }
    if (columns) region.bound[3] = 1;
    region.first_term = first;
    region.terms = static_cast<std::uint32_t>(program.affine_terms.size()) - first;
  }
  return program;
}

TEST_CASE("folding: a diagonal is not what lies between its ends") {
  Draft d("diagonal");
  d.tensor("y", "undefined", kTrips).fifo("q", 2);
  d.engine("load", repeat(kTrips, {"reserve q", "run load > q y[1i:1i+1]", "push q"}));
  d.engine("compute", repeat(kTrips, {"front q", "run compute q", "pop q"}));
  ir::Program program = moved(d.program(), 0, 0, true);
  program.tensors[0].cols = kTrips;
  REQUIRE(truth(program) == Verdict::certified);
  CHECK(claim(program, keep(30, kBothFirst)).refused ==
        "a write moves along rows and columns at once");
}

TEST_CASE("folding: what moves with a loop inside is looked at in all of its trips") {
  Draft d("inner");
  d.tensor("y", "undefined", 4 * kTrips).tensor("z", "external", 4).fifo("q", 2);
  d.engine("load", repeat(kTrips, {"reserve q", "run load > q y[1i+71:1i+72]", "push q"}));
  d.engine("compute",
           repeat(kTrips, {"front q", "repeat 2", "run compute z[1i:1i+1] q", "end", "pop q"}));
  ir::Program program = moved(d.program(), 1, 1, false);
  CHECK(claim(program, keep(30, kBothFirst)).refused.empty());
  // Rows 70 and 71 of y, in the two trips of the inner loop.
  for (ir::Access& access : program.accesses) {
    if (access.region.kind != ir::RegionKind::tensor || access.region.object != 1) continue;
    access.region.object = 0;
    access.region.bound[0] += 70;
    access.region.bound[1] += 70;
  }
  CHECK(claim(program, keep(30, kBothFirst))
            .refused.starts_with("what a trip writes is touched in another one"));
}

TEST_CASE("folding: tiles that are written backwards are all written") {
  Draft d("backwards");
  d.tensor("y", "undefined", kTrips).fifo("q", 4);
  d.engine("load", repeat(kTrips, {"reserve q", "run load > q y[-1i+59:-1i+60]", "push q"}));
  d.engine("compute", repeat(kTrips - 1, {"front q", "run compute q", "pop q"}) +
                          Ops{"front q", "run all y[0:60]", "pop q"});
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::certified);
  const Claim c = claim(program, keep(30, kBothFirst));
  CHECK(c.refused.empty());
  CHECK(c.left == Verdict::certified);
}

TEST_CASE("folding: rows that loops of few trips go through") {
  Draft d("thirds");
  d.tensor("x", "external", kTrips).tensor("t", "undefined", kTrips);
  d.engine("load", repeat(kTrips, {"run out x[1i:1i+1] > t[1i:1i+1]"}) +
                       repeat(3, {"run third t[20i:20i+20]"}));
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::certified);
  const Claim c = claim(program, keep(20, {{0, 0, 1, 0}}));
  CHECK(c.refused.empty());
  CHECK(c.left == Verdict::certified);
}

TEST_CASE("folding: writes that move are to plain tensors") {
  const std::string plain = "a write that moves with it is not to a plain tensor";
  CHECK(refused("> w[1i:1i+1]", "q") == plain);
  CHECK(refused("> b[1i:1i+1]", "q") == plain);
  CHECK(refused("w[1i:1i+1]", "q").empty());
}

TEST_CASE("folding: billions of rows of which a tile has some columns") {
  Draft d = pipeline();
  ir::Program program = d.program();
  for (auto& p : program.programs) p.ops[0].count = 1'000'000'000;
  for (auto& t : program.tensors) t.rows = 1'000'000'000;
  for (auto& a : program.accesses) {
    if (a.region.kind == ir::RegionKind::tensor) a.region.bound[3] = 1;
  }
  for (auto& t : program.tensors) t.cols = 4;
  CHECK(certify::certify(program).verdict == Verdict::certified);
}

}  // namespace
}  // namespace spatialcert::proofs::folding
