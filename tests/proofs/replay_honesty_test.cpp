// Counterexamples of programs that are right: no field of any of them may be chosen so that the
// replay reproduces something.
#include <doctest/doctest.h>

#include "certify/pipeline.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/samples.hpp"

namespace spatialcert::proofs {
namespace {

using tests::Draft;
using tests::Fixture;
using tests::replayed;

ir::ProgramId engine(std::uint32_t p) { return ir::ProgramId(p); }

/// The range of a whole buffer of 64 bytes.
LocationRange range_of(const Fixture& f, std::uint32_t buffer) {
  const auto& accesses = f.subject.accesses;
  const std::uint64_t low = f.program.buffers[buffer].address;
  return {accesses.storages[accesses.storage_of_buffer[buffer]], low, low + 64};
}

Counterexample bad_read(const Fixture& f, Kind kind, AccessRef read, ir::Schedule before) {
  Counterexample c;
  c.kind = kind;
  c.accesses = {read};
  c.range = range_of(f, 0);
  c.schedules = {std::move(before)};
  return c;
}

TEST_CASE("replay: a program that is run once has one iteration") {
  const Fixture f(tests::awaited_flag());
  Counterexample c;
  c.kind = Kind::race;
  c.iterations = 2;
  // The second load overtakes the first store only if the program is run again without a restart.
  const auto u = std::get<ir::Unrolled>(ir::unroll(f.program, 2));
  c.accesses = {{ir::TransitionId(u.begin[0] + 2), 1}, {ir::TransitionId(u.begin[1] + 1), 2}};
  c.schedules = {{{engine(0), 3}, {engine(1), 2}},
                 {{engine(0), 2}, {engine(1), 2}, {engine(0), 1}}};
  CHECK(replayed(f.program, c) == "the program is run once");
}

TEST_CASE("replay: the first iteration of a persistent program may read initial contents") {
  Draft d("carried");
  d.persistent().tensor("x", "external").tensor("y");
  d.buffer("b", R"("init": "zero", "lifetime": "resident")").edge("load", "b", "store");
  d.engine("load", {"run store b > y", "run load x > b"});
  const Fixture f(d);
  REQUIRE(certify::certify(f.program).verdict == certify::Verdict::certified);
  const auto c = bad_read(f, Kind::wrong_producer, {f.at(0, 0), 0}, {});
  CHECK(replayed(f.program, c) == "the first iteration may read initial contents");
  Draft once = d;
  once.member("execution", "\"once\"");
  CHECK(replayed(once.program(), c) == "reproduced");
}

TEST_CASE("replay: initial contents are nobody's product in a later iteration") {
  Draft d("never written");
  d.persistent().tensor("x", "external").tensor("y").stage("load", "copy");
  d.buffer("b", R"("init": "zero", "lifetime": "resident")").edge("load", "b", "store");
  const Fixture f(d.engine("load", {"run store b > y"}));
  auto c = bad_read(f, Kind::wrong_producer, {ir::TransitionId(1U), 0}, {{engine(0), 1}});
  c.iterations = 2;
  CHECK(replayed(f.program, c) == "reproduced");
}

TEST_CASE("replay: what another section wrote needs no declared producer") {
  Draft d("two sections");
  d.tensor("x", "external").tensor("y").buffer("b").edge("load", "b", "store");
  d.stage("load", "copy", R"("section": "second")")
      .stage("store", "copy", R"("section": "second")");
  d.stage("bias", "copy", R"("section": "first")");
  d.engine("load", {"run bias x > b", "run store b > y"});
  d.member("sections",
           R"([{"name": "first", "ops": [{"site": [0, 0, 0], "engine": "load", "range": [0, 1]}]},
               {"name": "second", "ops": [{"site": [0, 0, 0], "engine": "load", "range": [1, 2]}]}])");
  Fixture f(d);
  const auto c = bad_read(f, Kind::wrong_producer, {f.at(0, 1), 2}, {{engine(0), 1}});
  CHECK(replayed(f.program, c) == "the write belongs to another section");
  for (ir::Stage& stage : f.program.stages) stage.section = ir::SectionId(0U);
  CHECK(replayed(f.program, c) == "reproduced");
}

TEST_CASE("replay: the whole range is read") {
  Draft d("half");
  d.tensor("x", "external").tensor("y").buffer("b").edge("load", "b", "store");
  d.engine("load", {"run load x > b", "run bias x > b[32:64]", "run store b[0:32] > y"});
  const Fixture f(d);
  REQUIRE(certify::certify(f.program).verdict == certify::Verdict::certified);
  auto c = bad_read(f, Kind::wrong_producer, {f.at(0, 2), 4}, {{engine(0), 2}});
  CHECK(replayed(f.program, c) == "the op does not read the range");
  c.range->low = 16;
  c.range->high = 33;
  CHECK(replayed(f.program, c) == "the op does not read the range");
  c.range->high = 32;
  CHECK(replayed(f.program, c) == "the write belongs to a declared producer");
}

TEST_CASE("replay: a region that leaves its object is no overflow") {
  Draft d("region");
  d.tensor("x", "external", 8).engine("load", {"repeat 3", "run load x[4i:4i+4]", "end"});
  const Fixture f(d);
  Counterexample c;
  c.kind = Kind::misuse;
  c.transition = f.at(0, 2);
  c.accesses = {{f.at(0, 2), 0}};
  c.schedules = {{{engine(0), 2}}};
  CHECK(replayed(f.program, c) == "reproduced");
  c.kind = Kind::overflow;
  CHECK(replayed(f.program, c) == "another kind of fault happens");
}

}  // namespace
}  // namespace spatialcert::proofs
