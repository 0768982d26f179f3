#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "proofs/folding/check.hpp"
#include "proofs/folding/find.hpp"
#include "proofs/recheck/recheck.hpp"
#include "tests/proofs/foldings.hpp"

namespace spatialcert::proofs::folding {
namespace {

using certify::Verdict;
using tests::Draft;
using namespace tests::foldings;

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
