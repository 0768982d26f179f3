// Where `shard` carries over from a folded program to the whole one.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <variant>

#include "ir/program_file.hpp"
#include "proofs/find_subject.hpp"
#include "proofs/folding/check.hpp"
#include "proofs/folding/labels.hpp"
#include "proofs/recheck/recheck.hpp"
#include "tests/proofs/foldings.hpp"
#include "tests/proofs/shards.hpp"

namespace spatialcert::proofs::folding {
namespace {

using certify::Verdict;
using tests::Draft;
using namespace tests::foldings;

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

}  // namespace
}  // namespace spatialcert::proofs::folding
