// Counterexamples of `shard` that claim what is not so: nothing is reproduced of them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>

#include "proofs/shard/rule.hpp"
#include "tests/proofs/fixture.hpp"

namespace spatialcert::tests {
namespace {

using proofs::Counterexample;
using proofs::Kind;

constexpr const char* kTarget = R"({"name": "tile", "engines": ["load", "compute", "store", "move"],
  "chips": 2, "spaces": [{"name": "sram", "bytes": 4096, "alignment": 4}],
  "semaphores": {"per_site": 16, "maximum": 31},
  "handoffs": [{"name": "wire", "crosses_chips": true}]})";

/// Chip 1's data go through a FIFO and a buffer of chip 0 to y; x goes to z, which is right.
Draft leaking() {
  Draft d("leaking");
  d.member("target", kTarget).fifo("q", 1, R"("handoff": "wire")").buffer("a").buffer("b");
  d.tensor("w0", "external", 4, "f32", R"("owner": 0)");
  d.tensor("w1", "external", 4, "f32", R"("owner": 1)");
  d.tensor("x", "external").tensor("y", "undefined", 8).tensor("z");
  d.engine("1:load", {"reserve q", "run load w1 > q", "push q"});
  return d.engine("load", {"run cut x > b", "front q", "run cut q > a", "pop q", "run store b > z",
                           "run store a > y[0:4]", "run store b > y[4:8]"});
}

Counterexample found(const Draft& draft) {
  Fixture f(draft);
  return counterexample(proofs::shard::prove(f.subject, f.session));
}

/// What replaying says once `change` was made.
std::string changed(const Draft& draft, const std::function<void(Counterexample&)>& change) {
  Counterexample c = found(draft);
  const ir::Program program = draft.program();
  REQUIRE(replayed(program, c) == "reproduced");
  change(c);
  return replayed(program, c);
}
std::string changed(const std::function<void(Counterexample&)>& change) {
  return changed(leaking(), change);
}

TEST_CASE("replay of shard: the schedule") {
  CHECK(changed([](auto& c) { c.schedules.push_back(c.schedules[0]); }) ==
        "one schedule is needed");
  CHECK(changed([](auto& c) { c.schedules[0].pop_back(); }) ==
        "the schedule does not end with the store");
  CHECK(changed([](auto& c) { ++c.schedules[0].back().steps; }) ==
        "the schedule does not end with the store");
  CHECK(changed([](auto& c) {
          c.schedules[0].push_back({ir::ProgramId(0U), 9});
        }) == "the schedule cannot be played");
  CHECK(changed([](auto& c) {
          c.schedules[0].push_back({ir::ProgramId(7U), 1});
        }) == "no such engine program");
  CHECK(changed([](auto& c) { c.schedules[0] = {}; }) ==
        "the schedule does not end with the store");
  Draft stuck = leaking();
  stuck.semaphore("s", 0, 1).engine("store", {"post s 2"});
  CHECK(changed(stuck, [](auto& c) {
          c.schedules[0].insert(c.schedules[0].begin(), {ir::ProgramId(1U), 1});
        }) == "the schedule meets a fault");
}

TEST_CASE("replay of shard: the path") {
  CHECK(changed([](auto& c) { c.accesses.pop_back(); }) == "a path is a read and a write per op");
  CHECK(changed([](auto& c) { c.accesses.clear(); }) == "a path is a read and a write per op");
  CHECK(changed([](auto& c) { std::swap(c.accesses[0], c.accesses[1]); }) ==
        "a path is a read and a write per op");
  CHECK(changed([](auto& c) { c.accesses[1] = c.accesses[3]; }) ==
        "a path is a read and a write per op");
  CHECK(changed([](auto& c) { c.accesses[1] = c.accesses[0]; }) ==
        "a path is a read and a write per op");
  CHECK(changed([](auto& c) { c.accesses[0].access = 2; }) == "an access is none of its op");
  CHECK(changed([](auto& c) { c.accesses[4].access = 0; }) == "an access is none of its op");
  CHECK(changed([](auto& c) { c.accesses[0].transition = ir::TransitionId(); }) ==
        "an access is none of its op");
  CHECK(changed([](auto& c) { c.accesses[0].transition = ir::TransitionId(999U); }) ==
        "an access is none of its op");
  // Without its first op: what the second reads is nobody's initial content.
  CHECK(changed([](auto& c) { c.accesses.erase(c.accesses.begin(), c.accesses.begin() + 2); }) ==
        "an op of the path does not read what the one before it wrote");
  // Without its second.
  CHECK(changed([](auto& c) {
          c.accesses.erase(c.accesses.begin() + 2, c.accesses.begin() + 4);
        }) == "an op of the path does not read what the one before it wrote");
  // Twice the first op: the second time it does not come.
  CHECK(changed([](auto& c) {
          const auto first = std::vector(c.accesses.begin(), c.accesses.begin() + 2);
          c.accesses.insert(c.accesses.begin(), first.begin(), first.end());
        }) == "the schedule does not perform the whole path");
}

TEST_CASE("replay of shard: a path of replicated data, or through what another op wrote") {
  const ir::Program program = leaking().program();
  const Counterexample good = found(leaking());
  Fixture f(leaking());
  const auto access = [&](std::uint32_t op, std::uint32_t which) {
    const ir::TransitionId t = f.at(0, op);
    return proofs::AccessRef{t, f.subject.stretch.op_of(f.program, t).first_access + which};
  };
  // x > b, b > y[4:8]
  Counterexample c = good;
  c.accesses = {access(0, 0), access(0, 1), access(6, 0), access(6, 1)};
  c.schedules[0].back().steps += 1;
  CHECK(replayed(program, c) == "an op of the path does not read what the one before it wrote");
  // The first op of the path reads w1, the next one what another op wrote.
  c = good;
  c.accesses = {access(0, 0), access(0, 1), c.accesses[4], c.accesses[5]};
  CHECK(replayed(program, c) == "an op of the path does not read what the one before it wrote");
}

TEST_CASE("replay of shard: a read of the right op, but of another access of it") {
  Draft d("two results");
  d.member("target", kTarget).buffer("a").buffer("b").buffer("c");
  d.tensor("w0", "external", 4, "f32", R"("owner": 0)").tensor("y");
  d.tensor("w1", "external", 4, "f32", R"("owner": 1)");
  d.engine("load", {"run cut w0 > a b", "run store a > y"});
  CHECK(changed(d, [](auto& c) { ++c.accesses[1].access; }) ==
        "an op of the path does not read what the one before it wrote");
}

TEST_CASE("replay of shard: what the store is said to be") {
  const std::string other = "what is stored to the range is replicated, or not on the spine";
  CHECK(changed([](auto& c) { c.kind = Kind::missing_chip; }) ==
        "the store is wrong in another way");
  CHECK(changed([](auto& c) { c.kind = Kind::double_contribution; }) ==
        "the store is wrong in another way");
  CHECK(changed([](auto& c) { c.range.reset(); }) == other);
  CHECK(changed([](auto& c) { ++c.range->low; }) == other);
  CHECK(changed([](auto& c) { --c.range->high; }) == other);
  CHECK(changed([](auto& c) { ++c.range->storage.object; }) == other);
  CHECK(changed([](auto& c) { c.range->storage.kind = ir::Storage::Kind::fifo; }) == other);
  const std::string chips = "other chips are missing, or are there twice";
  CHECK(changed([](auto& c) { c.terms.pop_back(); }) == chips);
  CHECK(changed([](auto& c) { ++c.terms[0].found; }) == chips);
  CHECK(changed([](auto& c) { ++c.terms[0].expected; }) == chips);
  CHECK(changed([](auto& c) { c.terms[0].source = "chip 7"; }) == chips);
  CHECK(changed([](auto& c) { std::swap(c.terms[0], c.terms[1]); }) == chips);
  CHECK(changed([](auto& c) { c.terms.push_back(c.terms[0]); }) == chips);
  // The path ends in a buffer.
  CHECK(changed([](auto& c) {
          c.accesses.resize(4);
          c.schedules[0] = {{ir::ProgramId(1U), 3}, {ir::ProgramId(0U), 3}};
        }) == other);
}

/// One engine program: what it runs, on w0 and w1 of chips 0 and 1, s of chip 0, x, y and buffers.
Draft alone(const std::string& name, std::vector<std::string> ops) {
  Draft d(name);
  d.member("target", kTarget).stage("all", "add", R"("kind": "allreduce")");
  d.stage("carry", "copy", R"("kind": "copy")").buffer("a").semaphore("s");
  d.tensor("w0", "external", 4, "f32", R"("owner": 0)").tensor("x", "external").tensor("y");
  d.tensor("w1", "external", 4, "f32", R"("owner": 1)");
  d.tensor("own", "external", 4, "f32", R"("owner": 0)");
  return d.engine("load", std::move(ops));
}

TEST_CASE("replay of shard: a step that is blocked") {
  Draft d = alone("blocked", {"wait s", "run store w0 > y"});
  CHECK(changed(d.engine("store", {"post s"}), [](auto& c) {
          c.schedules[0] = {{ir::ProgramId(0U), 2}};
        }) == "the schedule cannot be played");
}

TEST_CASE("replay of shard: a write is no read") {
  // What `own` held before it is written is chip 0's too.
  const Draft d = alone("write", {"run cut w0 > own", "run store own > y"});
  CHECK(changed(d, [](auto& c) { c.accesses[0] = c.accesses[1]; }) ==
        "a path is a read and a write per op");
}

TEST_CASE("replay of shard: a store that is right") {
  const Draft right = alone("right", {"run carry w1 > a", "run all w0 a > y"});
  Fixture f(right);
  const auto access = [&](std::uint32_t op, std::uint32_t which) {
    const ir::TransitionId t = f.at(0, op);
    return proofs::AccessRef{t, f.subject.stretch.op_of(f.program, t).first_access + which};
  };
  Counterexample c;
  c.kind = Kind::leak;
  c.accesses = {access(1, 0), access(1, 2)};
  c.schedules = {{{ir::ProgramId(0U), 2}}};
  c.range = proofs::LocationRange{{ir::Storage::Kind::tensor, {}, {}, 2}, 0, 16};
  c.terms = {{"chip 0", 0, 1}, {"chip 1", 0, 1}};
  const std::string other = "what is stored to the range is replicated, or not on the spine";
  REQUIRE(f.program.tensors[2].name == "y");
  CHECK(replayed(f.program, c) == other);
  // To the owner's own tensor anything may be stored.
  const Draft kept = alone("kept", {"run cut w0 > own"});
  Fixture g(kept);
  c.accesses = {{g.at(0, 0), 0}, {g.at(0, 0), 1}};
  c.schedules = {{{ir::ProgramId(0U), 1}}};
  c.range->storage.object = 4;
  REQUIRE(g.program.tensors[4].name == "own");
  c.terms = {{"chip 1", 0, 1}, {"chip 0", 1, 1}};
  CHECK(replayed(g.program, c) == other);
}

TEST_CASE("replay of shard: accesses on the wrong chip") {
  Draft one("one access"), two("two accesses"), right("right");
  for (Draft* d : {&one, &two, &right}) {
    d->tensor("w0", "external", 4, "f32", R"("owner": 0)").tensor("x", "external").tensor("y");
    d->buffer("a").buffer("b", R"("site": [1, 0, 0])");
  }
  one.engine("load", {"run load w0 > a"}).engine("1:load", {"run load w0 > b"});
  two.engine("load", {"run load x > y", "run load x > a"}).engine("1:load", {"run load y > b"});
  const ir::Program program = one.program();
  const Counterexample c = found(one);
  CHECK(c.accesses.size() == 1);
  CHECK(replayed(program, c) == "reproduced");
  const std::string may = "the accesses stand where they may";
  CHECK(changed(one, [](auto& e) { e.accesses = {{ir::TransitionId(0U), 0}}; }) == may);
  CHECK(changed(one, [](auto& e) { e.accesses[0].access += 1; }) == may);
  CHECK(changed(one, [](auto& e) { e.accesses.push_back(e.accesses[0]); }) == may);
  CHECK(changed(one, [](auto& e) { e.accesses.clear(); }) == "one or two accesses are needed");
  CHECK(changed(two, [](auto& e) { e.accesses.push_back(e.accesses[0]); }) ==
        "one or two accesses are needed");
  CHECK(changed(two, [](auto& e) { std::swap(e.accesses[0], e.accesses[1]); }) == may);
  CHECK(changed(two, [](auto& e) { e.accesses.pop_back(); }) == may);
  CHECK(changed(two, [](auto& e) { e.accesses[1].access += 1; }) == may);
  CHECK(changed(two, [](auto& e) { e.accesses[1] = e.accesses[0]; }) == may);
  // Both touch y where something crosses; both touch w0, which belongs to one of them.
  ir::Program joined = two.program();
  joined.target.handoffs.push_back({"wire", true});
  CHECK(replayed(joined, found(two)) == may);
  Draft pair("owned");
  pair.tensor("w0", "external", 4, "f32", R"("owner": 0)").buffer("b", R"("site": [1, 0, 0])");
  pair.engine("load", {"run load > w0"}).engine("1:load", {"run load w0 > b"});
  CHECK(changed(pair, [](auto& e) {
          e.accesses = {{ir::TransitionId(0U), 0}, e.accesses[0]};
        }) == may);
  for (const Kind kind : {Kind::missing_chip, Kind::double_contribution})
    CHECK(changed(one, [&](auto& e) { e.kind = kind; }) == "a schedule is needed");
}

TEST_CASE("replay of shard: accesses that cannot be resolved") {
  Draft d = leaking();
  const Counterexample c = found(d);
  d.engine("compute", {"repeat 3", "run load x[4i:4i+4]", "end"});
  Counterexample moved = c;
  // The new engine program stands between the two.
  for (auto& run : moved.schedules[0]) {
    if (run.program == ir::ProgramId(1U)) run.program = ir::ProgramId(2U);
  }
  for (auto& access : moved.accesses) {
    if (access.transition.value() >= 7)
      access.transition = ir::TransitionId(access.transition.value() + 3);
  }
  CHECK(replayed(d.program(), moved) == "the accesses cannot be resolved");
}

}  // namespace
}  // namespace spatialcert::tests
