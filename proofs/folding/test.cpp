#include <doctest/doctest.h>
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "certify/pipeline.hpp"
#include "ir/program_file.hpp"
#include "proofs/find_subject.hpp"
#include "proofs/folding/check.hpp"
#include "proofs/folding/find.hpp"
#include "proofs/folding/labels.hpp"
#include "proofs/recheck/recheck.hpp"
#include "tests/proofs/draft.hpp"
#include "tests/proofs/shards.hpp"

namespace spatialcert::proofs::folding {
namespace {

using certify::Verdict;
using tests::Draft;
using Ops = std::vector<std::string>;

constexpr int kTrips = 60;

certify::Options unrolled() {
  certify::Options options;
  options.fold_from.reset();
  return options;
}

/// The verdict on the whole program, trip by trip.
Verdict truth(const ir::Program& program) { return certify::certify(program, unrolled()).verdict; }

/// What became of a folding.
struct Claim {
  std::string refused;  ///< by fold(), or the kind of the first objection; empty: accepted
  Verdict left = Verdict::undecided;  ///< verdict on what is left of the program
};

std::string kind(Objection::Kind kind) {
  constexpr const char* kNames[] = {"values", "counter",   "uneven",      "backwards", "circular",
                                    "window", "unbounded", "interleaved", "too few"};
  return kNames[static_cast<int>(kind)];
}

Claim claim(const ir::Program& program, const ir::Folding& folding) {
  const auto made = ir::fold(program, folding);
  if (const auto* no = std::get_if<ir::Unfoldable>(&made)) return {no->why, Verdict::undecided};
  const auto& folded = std::get<ir::Folded>(made);
  const auto subject = find_subject(folded.program);
  const auto objections = check(folding, folded, std::get<Subject>(subject));
  Claim out{"", certify::certify(folded.program, unrolled()).verdict};
  if (objections.empty()) return out;
  out.refused = kind(objections.front().kind);
  return out;
}

/// One group: loop `op` of every engine program that has one, so that `left` trips remain.
ir::Folding keep(std::int64_t left, const std::vector<ir::FoldedLoop>& loops) {
  return {{kTrips - left, loops}};
}
const std::vector<ir::FoldedLoop> kBothFirst{{0, 0, 1, 0}, {1, 0, 1, 0}};

Ops repeat(int trips, Ops body) {
  body.insert(body.begin(), fmt::format("repeat {}", trips));
  body.emplace_back("end");
  return body;
}
Ops operator+(Ops a, const Ops& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// load: x by rows into q; compute: out of q into y by rows; and what else they do in a trip.
Draft pipeline(int pages = 2, const Ops& load = {}, const Ops& compute = {}) {
  Draft d("pipeline");
  d.tensor("x", "external", kTrips).tensor("y", "undefined", kTrips).fifo("q", pages);
  d.engine("load", repeat(kTrips, Ops{"reserve q", "run load x[1i:1i+1] > q", "push q"} + load));
  d.engine("compute",
           repeat(kTrips, compute + Ops{"front q", "run compute q > y[1i:1i+1]", "pop q"}));
  return d;
}

/// The fewest trips that stand for all of them.
std::int64_t fewest(const ir::Program& program, const std::vector<ir::FoldedLoop>& loops) {
  std::int64_t left = 1;
  while (left < kTrips && !claim(program, keep(left, loops)).refused.empty()) ++left;
  return left;
}

/// A scratch buffer handed to and fro.
Draft handshake(int initial, int maximum, const std::string& more = "") {
  Draft d("handshake");
  d.tensor("x", "external", kTrips).buffer("b");
  d.semaphore("full", 0, maximum, more).semaphore("empty", initial, 31);
  d.engine("load", repeat(kTrips, {"wait empty", "run load x[1i:1i+1] > b", "post full"}));
  d.engine("compute", repeat(kTrips, {"wait full", "run compute b", "post empty"}));
  return d;
}

TEST_CASE("folding: a pipeline of many trips stands on a few of them") {
  const ir::Program program = pipeline().program();
  REQUIRE(truth(program) == Verdict::certified);
  const std::int64_t few = fewest(program, kBothFirst);
  CHECK(few == 10);
  for (std::int64_t left = few; left < kTrips; ++left) {
    const Claim c = claim(program, keep(left, kBothFirst));
    CHECK(c.refused.empty());
    CHECK(c.left == Verdict::certified);
  }
  CHECK(claim(program, keep(few - 1, kBothFirst)).refused == "too few");
}

TEST_CASE("folding: the deeper the FIFO, the more trips are needed") {
  // A page comes back after as many trips as there are pages, and must do so twice.
  CHECK(fewest(pipeline(8).program(), kBothFirst) >=
        fewest(pipeline(2).program(), kBothFirst) + 12);
}

TEST_CASE("folding: what is found holds, whatever the number of trips") {
  const ir::Program few = pipeline().program();
  ir::Program many = few;
  for (auto& p : many.programs) p.ops[0].count = 1'000'000'000'000;
  for (auto& t : many.tensors) t.rows = 1'000'000'000'000;
  const auto size = [](const ir::Program& program) {
    const auto found = find(program);
    return std::get<Fold>(found).subject.one.transitions();
  };
  CHECK(size(few) == size(many));
  CHECK(certify::certify(many).verdict == Verdict::certified);
}

TEST_CASE("folding: values pass through all trips") {
  Draft d = pipeline();
  d.sum("y[0:60]", {"x[0:60]"});
  CHECK(claim(d.program(), keep(30, kBothFirst)).refused == "values");
}

TEST_CASE("folding: a semaphore that nobody lowers") {
  Draft d = pipeline(2, {"post s"});
  d.semaphore("s", 0, 15, R"("restart": "reset")");
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::refuted);  // after 16 trips
  const Claim c = claim(program, keep(14, kBothFirst));
  CHECK(c.left == Verdict::certified);
  CHECK(c.refused == "counter");
}

TEST_CASE("folding: a semaphore that is lowered by less than it is raised") {
  Draft d = pipeline(2, {"post s 2"}, {"wait s"});
  d.semaphore("s", 0, 15, R"("restart": "reset")");
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::refuted);
  CHECK(claim(program, keep(13, kBothFirst)).refused == "counter");
}

TEST_CASE("folding: a semaphore that is lowered by more than it is raised") {
  Draft d = pipeline(2, {"post s"}, {"wait s 2"});
  d.semaphore("s", 29, 31, R"("restart": "reset")");
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::refuted);  // stuck when the 31 are used up
  CHECK(claim(program, keep(13, kBothFirst)).refused == "counter");
}

TEST_CASE("folding: counters that others use") {
  SUBCASE("one that raises") {
    Draft d = handshake(1, 4);
    d.engine("store", {"post full"});
    CHECK(claim(d.program(), keep(20, kBothFirst)).refused == "counter");
  }
  SUBCASE("one that raises, and comes first") {
    Draft d("first");
    d.semaphore("full", 0, 31).semaphore("empty", 1, 31).engine("load", {"post full"});
    d.engine("compute", repeat(kTrips, {"wait empty", "post full"}));
    d.engine("store", repeat(kTrips, {"wait full", "post empty"}));
    CHECK(claim(d.program(), keep(20, {{1, 0, 1, 0}, {2, 0, 1, 0}})).refused == "counter");
  }
  SUBCASE("one that lowers") {
    Draft d = handshake(1, 4);
    d.engine("store", {"wait full"});
    CHECK(claim(d.program(), keep(20, kBothFirst)).refused == "counter");
  }
  SUBCASE("one that tests") {
    Draft d = handshake(1, 4, R"("restart": "reset")");
    d.engine("store", {"await full 1"});
    CHECK(claim(d.program(), keep(20, kBothFirst)).refused == "counter");
  }
  SUBCASE("a flag that somebody else sets") {
    Draft d = pipeline(2, {"await flag 1"});
    d.semaphore("flag", 0, 1, R"("restart": "reset")").engine("store", {"post flag"});
    CHECK(claim(d.program(), keep(20, kBothFirst)).refused == "counter");
  }
  SUBCASE("an end whose loop is not in the group") {
    CHECK(claim(handshake(1, 4).program(), keep(20, {{0, 0, 1, 0}})).refused == "counter");
  }
}

TEST_CASE("folding: loops inside loops count as often as they run") {
  Draft d("pairs");
  d.fifo("q", 4);
  d.engine("load", repeat(kTrips, {"repeat 2", "reserve q", "run load > q", "push q", "end"}));
  d.engine("compute", repeat(kTrips, {"front q 2", "run compute q q@1", "pop q 2"}));
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::certified);
  CHECK(claim(program, keep(30, kBothFirst)).refused.empty());
}

TEST_CASE("folding: loops that run unequally often") {
  Draft d("uneven");
  d.fifo("q", 2);
  d.engine("load", {"repeat 2", "repeat 60", "reserve q", "push q", "end", "end"});
  d.engine("compute", {"repeat 1", "repeat 120", "front q", "pop q", "end", "end"});
  CHECK(claim(d.program(), {{20, {{0, 1, 1, 0}, {1, 1, 2, 0}}}}).refused == "counter");
  CHECK(claim(d.program(), {{20, {{0, 1, 1, 0}, {1, 1, 1, 0}}}}).refused == "uneven");
}

TEST_CASE("folding: who looks ahead begins its segments later") {
  Draft d("ahead");
  d.fifo("q", 4);
  d.engine("load", repeat(kTrips, {"reserve q", "run load > q", "push q"}));
  d.engine("compute", repeat(kTrips - 1, {"front q 2", "run compute q q@1", "pop q"}) +
                          Ops{"front q", "pop q"});
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::certified);
  CHECK(claim(program, keep(30, kBothFirst)).refused == "backwards");
  CHECK(claim(program, keep(30, {{0, 0, 1, 1}, {1, 0, 1, 0}})).refused.empty());
}

TEST_CASE("folding: an iteration that needs what a later one supplies") {
  Draft d("window over the wrap-around");
  d.persistent().fifo("q", 4);
  d.engine("load", repeat(kTrips, {"reserve q", "run load > q", "push q"}));
  d.engine("compute", repeat(kTrips, {"front q 2", "run compute q q@1", "pop q"}));
  CHECK(claim(d.program(), keep(30, {{0, 0, 1, 1}, {1, 0, 1, 0}})).refused == "backwards");
}

TEST_CASE("folding: who waits between two trips") {
  // Needs the third trip and holds up the first.
  Draft d("between");
  d.fifo("q", 4);
  d.engine("load", repeat(kTrips, {"reserve q", "run load > q", "push q"}));
  d.engine("compute", Ops{"front q 3"} + repeat(kTrips, {"front q", "run compute q", "pop q"}));
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::certified);
  CHECK(claim(program, keep(30, {{0, 0, 1, 0}, {1, 1, 1, 0}})).refused == "too few");
  CHECK(claim(program, keep(30, {{0, 0, 1, 3}, {1, 1, 1, 0}})).refused.empty());
}

TEST_CASE("folding: who waits for the last trip before the first one") {
  Draft d("after all");
  d.semaphore("full", 0, 4).semaphore("empty", 1, 4).semaphore("go", 0, 1);
  d.engine("load", repeat(kTrips, {"wait empty", "post full"}) + Ops{"post go"});
  d.engine("compute", Ops{"wait go"} + repeat(kTrips, {"wait full", "post empty"}));
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::refuted);
  CHECK(claim(program, keep(30, {{0, 0, 1, 0}, {1, 1, 1, 0}})).refused == "circular");
}

TEST_CASE("folding: trips before the loop") {
  Draft d("spelled out");
  d.fifo("q", 4);
  d.engine("load", repeat(kTrips, {"reserve q", "run load > q", "push q"}));
  d.engine("compute", Ops{"front q 3", "run first q", "pop q 3"} +
                          repeat(kTrips - 3, {"front q", "run compute q", "pop q"}));
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::certified);
  CHECK(claim(program, keep(30, {{0, 0, 1, 0}, {1, 3, 1, 0}})).refused == "backwards");
  CHECK(claim(program, keep(30, {{0, 0, 1, 3}, {1, 3, 1, 0}})).refused.empty());
}

TEST_CASE("folding: a window that shrinks from trip to trip") {
  Draft d("shrinking");
  d.fifo("q", 64);
  d.engine("load", Ops{"reserve q 40"} + repeat(kTrips, {"run load > q", "push q"}));
  d.engine("compute", repeat(kTrips, {"front q", "run compute q", "pop q"}));
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::refuted);  // in trip 41
  const std::vector<ir::FoldedLoop> loops{{0, 1, 1, 0}, {1, 0, 1, 0}};
  const Claim c = claim(program, keep(39, loops));
  CHECK(c.left == Verdict::certified);
  CHECK(c.refused == "too few");
  CHECK(claim(program, keep(55, loops)).refused == "window");
}

TEST_CASE("folding: a semaphore that nothing holds back") {
  Draft d("no credit");
  d.tensor("x", "external", kTrips).semaphore("full", 0, 15);
  d.engine("load", repeat(kTrips, {"run load x[1i:1i+1]", "post full"}));
  d.engine("compute", repeat(kTrips, {"wait full", "run compute x[1i:1i+1]"}));
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::refuted);
  const Claim c = claim(program, keep(14, kBothFirst));
  CHECK(c.left == Verdict::certified);
  CHECK(c.refused == "unbounded");
}

TEST_CASE("folding: who is held back by others is not held back by who waits") {
  Draft d("one way");
  d.tensor("x", "external", kTrips);
  d.semaphore("a", 0, 15).semaphore("c", 1, 4).semaphore("d", 0, 4);
  d.engine("load", repeat(kTrips, {"wait c", "run load x[1i:1i+1]", "post d", "post a"}));
  d.engine("compute", repeat(kTrips, {"wait a"}));
  d.engine("store", repeat(kTrips, {"wait d", "post c"}));
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::refuted);
  const Claim c = claim(program, keep(14, {{0, 0, 1, 0}, {1, 0, 1, 0}, {2, 0, 1, 0}}));
  CHECK(c.left == Verdict::certified);
  CHECK(c.refused == "unbounded");
}

TEST_CASE("folding: back-pressure may come through others") {
  Draft d("ring");
  d.tensor("x", "external", kTrips);
  d.semaphore("a", 0, 4).semaphore("b", 0, 4).semaphore("c", 1, 4);
  d.engine("load", repeat(kTrips, {"wait c", "run load x[1i:1i+1]", "post a"}));
  d.engine("compute", repeat(kTrips, {"wait a", "post b"}));
  d.engine("store", repeat(kTrips, {"wait b", "post c"}));
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::certified);
  CHECK(claim(program, keep(20, {{0, 0, 1, 0}, {1, 0, 1, 0}, {2, 0, 1, 0}})).refused.empty());
}

TEST_CASE("folding: tokens that last for many trips") {
  // The 21 tokens are too many for `full`, which shows in trip 16.
  Draft d("21 tokens");
  d.semaphore("full", 0, 15).semaphore("empty", 21, 31);
  d.engine("load", repeat(kTrips, {"wait empty", "post full"}));
  d.engine("compute", repeat(kTrips, {"wait full", "post empty"}));
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::refuted);
  const Claim c = claim(program, keep(14, kBothFirst));
  CHECK(c.left == Verdict::certified);
  CHECK(c.refused == "too few");
  CHECK(claim(program, keep(59, kBothFirst)).left == Verdict::refuted);
}

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

TEST_CASE("folding: the shortest loop has as many segments as there are") {
  Draft d("spelled out at the end");
  Ops last;
  for (int i = 0; i < 20; ++i) last = last + Ops{"reserve q", "run load > q", "push q"};
  d.fifo("q", 2);
  d.engine("load", repeat(kTrips - 20, {"reserve q", "run load > q", "push q"}) + last);
  d.engine("compute", repeat(kTrips, {"front q", "run compute q", "pop q"}));
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::certified);
  // 17 trips are left of one loop, 37 of the other.
  const Claim c = claim(program, {{23, kBothFirst}});
  CHECK(c.refused.empty());
  CHECK(c.left == Verdict::certified);
}

/// Chip 0 has data of its own, which load brings to compute, and compute to `out`.
Draft shards(const Ops& compute) {
  Draft d("shards");
  d.tensor("x", "external", kTrips, "f32", R"("owner": 0)")
      .tensor("own", "undefined", 4 * kTrips, "f32", R"("owner": 0)");
  d.tensor("c", "external", kTrips).tensor("spine", "undefined", kTrips).buffer("b").buffer("e");
  d.fifo("q", 2);
  d.engine("load", repeat(kTrips, {"reserve q", "run load x[1i:1i+1] > q", "push q"}));
  d.engine("compute", repeat(kTrips, Ops{"front q"} + compute + Ops{"pop q"}));
  return d;
}

/// What `certify` says with and without folding.
std::pair<certify::ProgramReport, Verdict> both(const ir::Program& program) {
  certify::Options options;
  options.fold_from = 0;
  options.keep_witnesses = true;
  return {certify::certify(program, options), truth(program)};
}

TEST_CASE("folding: labels that are the same in all trips") {
  const ir::Program program =
      shards({"run compute q > own[1i:1i+1]", "run clean c[1i:1i+1] > spine[1i:1i+1]"}).program();
  const auto [report, whole] = both(program);
  CHECK(whole == Verdict::certified);
  CHECK(report.verdict == Verdict::certified);
  REQUIRE(report.folded);
  CHECK_FALSE(recheck(program, *report.certificate).denial);
}

TEST_CASE("folding: a leak in every trip") {
  const auto [report, whole] = both(shards({"run compute q > spine[1i:1i+1]"}).program());
  CHECK(whole == Verdict::refuted);
  CHECK(report.verdict == Verdict::refuted);
}

/// Is shard said to carry over, where it holds of what is left?
std::string carried(const ir::Program& program, const ir::Folding& folding) {
  const auto made = ir::fold(program, folding);
  if (const auto* no = std::get_if<ir::Unfoldable>(&made)) return no->why;
  const auto& folded = std::get<ir::Folded>(made);
  const auto found = find_subject(folded.program);
  const auto& subject = std::get<Subject>(found);
  if (!check(folding, folded, subject).empty()) return "refused";
  const shard::Witness witness{0, 1};
  if (std::holds_alternative<Rejected>(shard::check(subject, witness))) return "shard fails";
  const auto why = labels_change(folding, folded, subject, witness);
  return why ? why->substr(why->find(": ") + 2) : "carried over";
}

TEST_CASE("folding: labels that change on the way") {
  const std::string other = "what it writes derives from other chips in other trips";
  // What is in b passes on to e one trip later; where it comes from is the same in all trips.
  CHECK(carried(shards({"run compute q > b", "run move b > own[1i:1i+1]"}).program(),
                keep(20, kBothFirst)) == "carried over");
  // In the first trip e holds nobody's data, in all others chip 0's.
  Draft d("later");
  d.tensor("x", "external", kTrips, "f32", R"("owner": 0)");
  d.tensor("own", "undefined", kTrips, "f32", R"("owner": 0)");
  d.buffer("b").buffer("e").fifo("q", 2);
  d.engine("load", repeat(kTrips, {"reserve q", "run load x[1i:1i+1] > q", "push q"}));
  d.engine("compute", Ops{"run zero > b", "run zero > e"} +
                          repeat(kTrips, {"front q", "run out e > own[1i:1i+1]", "run on b > e",
                                          "run in q > b", "pop q"}));
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::certified);
  CHECK(carried(program, keep(20, {{0, 0, 1, 0}, {1, 2, 1, 0}})) == other);
}

TEST_CASE("folding: labels that change where nothing was widened") {
  Draft d("after the loop");
  d.tensor("x", "external", kTrips, "f32", R"("owner": 0)");
  d.tensor("own", "undefined", 4, "f32", R"("owner": 0)");
  d.buffer("b").buffer("e").fifo("q", 2);
  d.engine("load", repeat(kTrips, {"reserve q", "run load x[1i:1i+1] > q", "push q"}));
  d.engine("compute", Ops{"run zero > b"} +
                          repeat(kTrips, {"front q", "run on b > e", "run in q > b", "pop q"}) +
                          Ops{"run out e > own"});
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::certified);
  CHECK(carried(program, keep(20, {{0, 0, 1, 0}, {1, 1, 1, 0}})) ==
        "what it writes derives from other chips in other trips");
}

TEST_CASE("folding: a tile that only the last trips leave clean") {
  // The buffer holds chip 0's data when the loops begin. What the first trip stores is chip 0's,
  // and an all-reduce makes that of all trips an output.
  Draft d("first tile");
  d.tensor("x", "external", 4, "f32", R"("owner": 0)").tensor("c", "external", kTrips);
  d.tensor("t", "undefined", kTrips, "f32", R"("owner": 0)").tensor("spine", "undefined", kTrips);
  d.buffer("b", R"("lifetime": "resident")");
  d.engine("load", Ops{"run load x > b"} +
                       repeat(kTrips, {"run out b > t[1i:1i+1]", "run clean c[1i:1i+1] > b"}) +
                       Ops{"run all t[0:60] > spine[0:60]"});
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::refuted);
  CHECK(carried(program, keep(20, {{0, 1, 1, 0}})) ==
        "what it writes derives from other chips in other trips");
  // Somebody who has witnesses of what is left, and claims them for the whole, is found out.
  const ir::Folding folding = keep(20, {{0, 1, 1, 0}});
  const auto made = ir::fold(program, folding);
  certify::Options options = unrolled();
  options.keep_witnesses = true;
  const auto left = certify::certify(std::get<ir::Folded>(made).program, options);
  REQUIRE(left.certificate);
  Certificate forged = *left.certificate;
  forged.program = ir::digest(program);
  forged.folding = folding;
  const Outcome outcome = recheck(program, forged);
  REQUIRE(outcome.denial);
  CHECK(*outcome.denial == Denial::unfoldable);
  // So too if it is a trip before the first segment.
  CHECK(carried(program, keep(20, {{0, 1, 1, 1}})) ==
        "what it writes derives from other chips in other trips");
}

TEST_CASE("folding: a tensor of which some rows are one chip's") {
  // Trip 0 reads chip 0's row, all others read nobody's.
  Draft d("rows");
  d.tensor("x", "external", 4, "f32", R"("owner": 0)");
  d.tensor("c", "external", kTrips);
  d.tensor("t", "undefined", kTrips, "f32", R"("owner": 0)");
  d.tensor("own", "undefined", kTrips, "f32", R"("owner": 0)");
  d.engine("load", Ops{"run own_row x[0:1] > t[0:1]", "run others c[1:60] > t[1:60]"} +
                       repeat(kTrips, {"run out t[1i:1i+1] > own[1i:1i+1]"}));
  const ir::Program program = d.program();
  CHECK(carried(program, keep(20, {{0, 2, 1, 0}})) ==
        "parts of what it reads derive from different chips");
}

TEST_CASE("folding: an all-reduce of regions that move") {
  Draft d("all-reduce");
  d.tensor("x", "external", kTrips, "f32", R"("owner": 0)");
  d.tensor("y", "external", kTrips, "f32", R"("owner": 1)").tensor("spine", "undefined", kTrips);
  d.stage("sum", "add", R"("kind": "allreduce")");
  d.engine("load", repeat(kTrips, {"run sum x[1i:1i+1] y[1i:1i+1] > spine[1i:1i+1]"}));
  CHECK(carried(d.program(), keep(20, {{0, 0, 1, 0}})) == "an all-reduce moves with it");
}

TEST_CASE("folding: an all-reduce of other sizes than it seems") {
  // 60 rows of chip 0 and one of chip 1 are no operands of one all-reduce. The 60 are written and
  // read together, and what is left of the program need not tell them apart.
  Draft d = tests::shards::sharded("sizes", 2, true);
  d.tensor("x", "external", kTrips, "f32", R"("owner": 0)");
  d.tensor("t", "undefined", kTrips, "f32", R"("owner": 0)");
  d.tensor("y", "external", 1, "f32", R"("owner": 1)").tensor("spine", "undefined", 1);
  d.engine("load", repeat(kTrips, {"run out x[1i:1i+1] > t[1i:1i+1]"}) +
                       Ops{"run all t[0:60] y[0:1] > spine[0:1]"});
  const ir::Program program = d.program();
  REQUIRE(truth(program) == Verdict::refuted);
  CHECK(carried(program, keep(20, {{0, 0, 1, 0}})) == "shard fails");
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

TEST_CASE("folding: claims about loops that are not there") {
  const ir::Program program = pipeline().program();
  const auto why = [&](const ir::Folding& folding) { return claim(program, folding).refused; };
  CHECK(why({{30, {}}}) == "it takes nothing away");
  CHECK(why({{0, kBothFirst}}) == "it takes nothing away");
  CHECK(why({{-3, kBothFirst}}) == "it takes nothing away");
  CHECK(why({{30, {{1, 0, 1, 0}, {0, 0, 1, 0}}}}).starts_with("its loops are not one per"));
  CHECK(why({{30, {{0, 0, 1, 0}, {0, 0, 1, 0}}}}).starts_with("its loops are not one per"));
  CHECK(why({{30, kBothFirst}, {5, kBothFirst}}) == "a loop is folded twice");
  CHECK(why({{30, {{7, 0, 1, 0}}}}) == "no such engine program");
  CHECK(why({{30, {{0, 70, 1, 0}}}}) == "no such loop");
  CHECK(why({{30, {{0, 1, 1, 0}}}}) == "no such loop");
  CHECK(why({{30, {{0, 0, 0, 0}}}}) == "no turns");
  CHECK(why({{30, {{0, 0, -1, 0}}}}) == "no turns");
  CHECK(why({{30, {{0, 0, 1, -1}}}}) == "no turns");
  CHECK(why({{60, kBothFirst}}) == "nothing is left of a loop");
  CHECK(why({{30, {{0, 0, 2, 0}}}}) == "nothing is left of a loop");
  CHECK(why({{30, {{0, 0, 1, 30}}}}) == "nothing is left of a loop");
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  CHECK(why({{kHuge, {{0, 0, kHuge, 0}}}}) == "nothing is left of a loop");
  CHECK(why({{kHuge, {{0, 0, 1, kHuge}}}}) == "nothing is left of a loop");
}

TEST_CASE("folding: loops nested to different depths are no group") {
  Draft d("depths");
  d.fifo("q", 2);
  d.engine("load", repeat(kTrips, {"reserve q", "push q"}));
  d.engine("compute", {"repeat 1", "repeat 60", "front q", "pop q", "end", "end"});
  CHECK(claim(d.program(), keep(30, {{0, 0, 1, 0}, {1, 1, 1, 0}})).refused ==
        "its loops are nested to different depths");
}

TEST_CASE("folding: a nest is folded at every level") {
  Draft d("nest");
  d.buffer("acc").fifo("q", 2).fifo("o", 2);
  d.engine("load", {"repeat 1000000", "repeat 1000000", "reserve q", "run load > q", "push q",
                    "end", "end"});
  d.engine("compute",
           {"repeat 1000000", "run zero > acc", "repeat 1000000", "front q", "run add q acc > acc",
            "pop q", "end", "reserve o", "run out acc > o", "push o", "end"});
  d.engine("store", {"repeat 1000000", "front o", "run store o", "pop o", "end"});
  const certify::ProgramReport report = certify::certify(d.program());
  CHECK(report.verdict == Verdict::certified);
  REQUIRE(report.folded);
  CHECK(report.folded->loops == 5);
  CHECK(report.transitions > 3'000'000'000'000);
  CHECK(report.folded->transitions < 2'000);
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

TEST_CASE("folding: a deadlock that comes after many trips") {
  // Every trip takes one token more than it brings back; 31 are there at the start.
  Draft d("drain");
  d.semaphore("s", 31, 31, R"("restart": "reset")").semaphore("t", 0, 15);
  d.engine("load", repeat(5000, {"wait s 2", "post t"}));
  d.engine("compute", repeat(5000, {"wait t", "post s"}));
  certify::Options folding;
  folding.fold_from = 0;
  const auto report = certify::certify(d.program(), folding);
  CHECK(report.verdict == Verdict::refuted);
  CHECK(report.rules.front().verdict == Verdict::refuted);  // liveness
}

TEST_CASE("folding: where nothing folds and nothing unrolls, the answer says both") {
  Draft d("drain");
  d.semaphore("s", 31, 31, R"("restart": "reset")").semaphore("t", 0, 15);
  d.engine("load", repeat(500'000'000, {"wait s 2", "post t"}));
  d.engine("compute", repeat(500'000'000, {"wait t", "post s"}));
  const auto report = certify::certify(d.program());
  CHECK(report.verdict == Verdict::undecided);
  CHECK(report.reason.find("unrolls to more than 30000000 ops") != std::string::npos);
  CHECK(report.reason.find("not folded: ") != std::string::npos);
}

TEST_CASE("folding: a certificate says what was folded, and recheck believes none of it") {
  const ir::Program program = pipeline().program();
  certify::Options options;
  options.fold_from = 0;
  options.keep_witnesses = true;
  const auto report = certify::certify(program, options);
  REQUIRE(report.folded);
  REQUIRE(report.certificate);
  const Certificate& good = *report.certificate;
  REQUIRE(good.folding.size() == 1);
  CHECK_FALSE(recheck(program, good).denial);

  const auto denied = [&](auto change) {
    Certificate changed = good;
    change(changed.folding);
    const Outcome outcome = recheck(program, changed);
    return outcome.denial ? std::string(to_string(*outcome.denial)) : "valid";
  };
  CHECK(denied([](ir::Folding& f) { f.clear(); }) == "witness rejected");
  CHECK(denied([](ir::Folding& f) { f[0].removed -= 1; }) == "witness rejected");
  CHECK(denied([](ir::Folding& f) { f[0].removed += 4; }) == "wrong folding");
  CHECK(denied([](ir::Folding& f) { f[0].removed = 0; }) == "wrong folding");
  CHECK(denied([](ir::Folding& f) { f[0].loops.pop_back(); }) == "wrong folding");
  CHECK(denied([](ir::Folding& f) { f[0].loops[1].turns = 2; }) == "wrong folding");
  CHECK(denied([](ir::Folding& f) { f.push_back(f[0]); }) == "wrong folding");
}

}  // namespace
}  // namespace spatialcert::proofs::folding
