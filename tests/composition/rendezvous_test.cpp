// Rendezvous on the token game: they never deadlock, nothing slips through, every op is needed, and
// neighbours need different colours.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "compose/composition/composer.hpp"
#include "tests/composition/edits.hpp"
#include "tests/composition/section_maker.hpp"
#include "tests/counts.hpp"
#include "tests/oracle/findings.hpp"

namespace spatialcert::tests {
namespace {

using compose::Composed;
using compose::RefusalReason;

constexpr ir::Site kA{0, 0, 0}, kB{0, 1, 0}, kFar{2, 0, 0};

/// What the explorer finds, but that sections of different phases share bytes: it knows no phases.
Findings examine_in_phases(const ir::Program& program) {
  Findings found = examine(program);
  found.layout = false;
  return found;
}

/// P from 1 to 4 engine programs on S sites.
struct Participants {
  std::vector<TestPlace> places;
  std::size_t sites = 1;
};

std::vector<Participants> few_participants() {
  return {{{{kA, Engine::load}}, 1},
          {{{kA, Engine::load}, {kA, Engine::store}}, 1},
          {{{kA, Engine::load}, {kFar, Engine::load}}, 2},
          {{{kA, Engine::load}, {kA, Engine::compute}, {kB, Engine::load}}, 2},
          {{{kB, Engine::load}, {kFar, Engine::load}, {kFar, Engine::store}}, 2},
          {{{kA, Engine::load}, {kB, Engine::load}, {kFar, Engine::load}}, 3},
          {{{kA, Engine::load}, {kA, Engine::store}, {kB, Engine::load}, {kFar, Engine::load}}, 3}};
}

std::uint64_t boundary_ops(const ir::Program& program) {
  std::uint64_t ops = 0;
  for (const auto& one : program.programs) {
    for (const ir::Span& span : one.spans) ops += span.boundary.valid() ? span.end - span.begin : 0;
  }
  return ops;
}

Composed chained(const Participants& who, std::uint32_t sections, bool persistent = false) {
  compose::ComposeOptions options;
  if (persistent) options.execution = ir::Execution::persistent;
  return composed(compose::compose(chain(sections, who.places), {}, options));
}

TEST_CASE("a rendezvous has 2 P + S + 1 ops") {
  for (const Participants& who : few_participants()) {
    for (std::uint32_t sections = 1; sections <= 5; ++sections) {
      const Composed result = chained(who, sections);
      const std::uint64_t each = 2 * who.places.size() + who.sites + 1;
      CHECK(result.rendezvous_count == sections - 1);
      CHECK(boundary_ops(result.program) == (sections - 1) * each);
      if (sections == 1) continue;
      CHECK(result.rendezvous->ops() == each);
      CHECK(result.rendezvous->sites.size() == who.sites);
      CHECK(result.program.semaphores.size() == 1 + compose::colours_for(sections - 1) * who.sites);
    }
  }
}

TEST_CASE("every engine program with an op takes part, and no other") {
  SectionMaker a("a"), b("b");
  a.input("x").output("h").at(kB, Engine::load).run("a", {"x"}, {"h"});
  a.at(kA, Engine::store);  // has no ops in any section
  b.input("h").output("y").at(kFar, Engine::store).run("b", {"h"}, {"y"});
  b.at(kB, Engine::load);  // has ops in a only
  const Composed result = composed(compose::compose({a.section(), b.section()}));
  CHECK(result.program.programs.size() == 3);
  CHECK(result.rendezvous->participants == std::vector<std::uint32_t>{1, 2});
  CHECK(result.rendezvous->sites.front().site == kB);
  CHECK(result.program.programs[0].ops.empty());
  CHECK_FALSE(examine(result.program).fails());
}

TEST_CASE("the root is the first program of the first site, and its ops stand in order") {
  const Composed result = chained(few_participants().back(), 2);
  const ir::EngineProgram& root = result.program.programs.front();
  REQUIRE(root.spans.size() == 3);
  CHECK(root.spans[1].boundary.valid());
  std::vector<std::string> ops;
  for (std::uint32_t i = root.spans[1].begin; i < root.spans[1].end; ++i) {
    const ir::Op& op = root.ops[i];
    ops.push_back(fmt::format("{} {} {}", to_string(op.code),
                              result.program.semaphores[op.object].name, op.count));
  }
  CHECK(ops == std::vector<std::string>{
                   "post rendezvous.arrival 1", "wait rendezvous.arrival 4",
                   "post rendezvous.release.0.[0,0,0] 2", "post rendezvous.release.0.[0,1,0] 1",
                   "post rendezvous.release.0.[2,0,0] 1", "wait rendezvous.release.0.[0,0,0] 1"});
}

TEST_CASE("consecutive rendezvous differ in colour, around the wrap too") {
  CHECK(compose::colours_for(0) == 0);
  CHECK(compose::colours_for(1) == 1);
  for (std::uint32_t n = 2; n < 40; ++n) {
    CHECK(compose::colours_for(n) == (n % 2 == 0 ? 2 : 3));
    for (std::uint32_t b = 0; b < n; ++b) {
      CHECK(compose::colour_of(b, n) < compose::colours_for(n));
      CHECK(compose::colour_of(b, n) != compose::colour_of((b + 1) % n, n));
    }
  }
}

TEST_CASE("composed chains have no failing schedule") {
  std::uint64_t explored = 0;
  for (const bool persistent : {false, true}) {
    for (const Participants& who : few_participants()) {
      // What wraps around is a chain too, whose first section reads what nobody writes.
      for (std::uint32_t sections = 1; sections <= 4; ++sections) {
        if (persistent && who.places.size() > 3) continue;
        const Composed result = chained(who, sections, persistent);
        const Findings found = examine(result.program);
        INFO(found.text());
        REQUIRE(found.complete);
        CHECK_FALSE(found.fails());
        CHECK(found.in_class);
        ++explored;
      }
    }
  }
  count("composed programs explored", explored);
}

TEST_CASE("without a boundary the same sections race") {
  for (const Participants& who : few_participants()) {
    if (who.places.size() < 2) continue;
    const Composed open = composed(compose::compose_phased(chain(2, who.places), {false, false}));
    CHECK(open.rendezvous_count == 0);
    CHECK_FALSE(examine(open.program).races.empty());
  }
}

TEST_CASE("every op of a rendezvous is needed, with its count") {
  std::uint64_t broken = 0;
  for (const Participants& who : few_participants()) {
    if (who.places.size() < 2) continue;  // alone, a program is in order whatever it waits for
    const ir::Program whole = chained(who, 3).program;
    for (std::size_t p = 0; p < whole.programs.size(); ++p) {
      for (const ir::Span& span : whole.programs[p].spans) {
        for (std::uint32_t i = span.begin; span.boundary.valid() && i < span.end; ++i) {
          std::vector<ir::Program> breaks(3, whole);
          erase_op(breaks[0].programs[p], i);
          ++breaks[1].programs[p].ops[i].count;
          if (--breaks[2].programs[p].ops[i].count == 0) breaks.pop_back();
          for (const ir::Program& program : breaks) {
            const Findings found = examine(program);
            CAPTURE(p);
            CAPTURE(i);
            REQUIRE(found.complete);
            CHECK(found.fails());
            ++broken;
          }
        }
      }
    }
  }
  CHECK(broken > 200);
  count("broken rendezvous found out", broken);
}

TEST_CASE("with one colour, two programs and two boundaries deadlock") {
  ir::Program program = chained({{{kA, Engine::load}, {kA, Engine::store}}, 1}, 3).program;
  REQUIRE_FALSE(examine(program).stuck);
  std::uint32_t first = 0, second = 0;
  for (std::uint32_t s = 0; s < program.semaphores.size(); ++s) {
    if (program.semaphores[s].name == "rendezvous.release.0.[0,0,0]") first = s;
    if (program.semaphores[s].name == "rendezvous.release.1.[0,0,0]") second = s;
  }
  REQUIRE(first != second);
  for (auto& one : program.programs) {
    for (ir::Op& op : one.ops) {
      const bool semaphore = op.code == ir::OpCode::wait || op.code == ir::OpCode::post;
      if (semaphore && op.object == second) op.object = first;
    }
  }
  program.semaphores[first].maximum = 15;  // the fault is not that the semaphore is too small
  const Findings found = examine(program);
  REQUIRE(found.complete);
  CHECK(found.stuck);
}

TEST_CASE(
    "persistent: the wrap-around is closed, and a boundary that would meet itself is doubled") {
  const Participants two{{{kA, Engine::load}, {kA, Engine::store}}, 1};
  const Composed several = chained(two, 3, true);
  CHECK(several.rendezvous_count == 3);
  CHECK(several.program.boundaries.back().closed);
  CHECK(several.program.boundaries.back().after == ir::SectionId(std::uint32_t{2}));
  const Composed one = chained(two, 1, true);
  CHECK(one.rendezvous_count == 2);
  REQUIRE(one.program.sections.size() == 2);
  CHECK(one.program.sections[0].name == "s0");
  CHECK(one.program.sections[1].name == "s0 (round 2)");
  CHECK(one.program.sections[1].source_index == 1);
  // The same without the doubling: one release semaphore for a rendezvous that follows itself.
  ir::Program undoubled = step_section("s0", {"x"}, two.places);
  undoubled.execution = ir::Execution::persistent;
  undoubled.boundaries.push_back({ir::SectionId(std::uint32_t{0}), true});
  const auto declared = compose::declare_rendezvous(undoubled, {0, 1}, 1);
  REQUIRE(std::holds_alternative<compose::Rendezvous>(declared));
  compose::append_rendezvous(undoubled, std::get<compose::Rendezvous>(declared),
                             ir::BoundaryId(std::uint32_t{0}), 0);
  CHECK(examine(undoubled).stuck);
}

TEST_CASE("the doubled rounds have sections, stages, FIFOs and semaphores of their own") {
  compose::ComposeOptions options;
  options.execution = ir::Execution::persistent;
  const Composed result =
      composed(compose::compose({pipeline_section("p", "x", "y", kA, 1)}, {}, options));
  const ir::Program& program = result.program;
  CHECK(program.buffers.size() == 4);
  CHECK(program.buffers[2].name == "p (round 2)/p.in");
  CHECK(program.buffers[2].address == program.buffers[0].address);
  CHECK(program.stages.size() == 6);
  CHECK(program.tensors.size() == 2);
  const Findings found = examine_in_phases(program);
  REQUIRE(found.complete);
  CHECK_FALSE(found.fails());
}

TEST_CASE("pipelines in a row on one site, where the later reads what the earlier stores") {
  const Composed result = composed(compose::compose(
      {pipeline_section("p", "x", "h", kA, 2), pipeline_section("q", "h", "y", kA, 2)}));
  const Findings found = examine_in_phases(result.program);
  INFO(found.text());
  REQUIRE(found.complete);
  CHECK_FALSE(found.fails());
  CHECK(found.in_class);
}

TEST_CASE("a rendezvous for many programs") {
  ir::Target target = test_target();
  target.semaphore_maximum = 48;
  target.semaphores_per_site = 4;
  std::vector<ir::Program> sections;
  for (const char* name : {"a", "b", "c", "d"}) {
    SectionMaker m(name, target);
    for (std::uint32_t x = 0; x < 4; ++x) {
      for (std::uint32_t y = 0; y < 4; ++y) {
        for (const Engine engine : {Engine::load, Engine::compute, Engine::store}) {
          m.at({0, x, y}, engine).run(fmt::format("{}.{}", name, x), {}, {});
        }
      }
    }
    sections.push_back(m.section());
  }
  const Composed result = composed(compose::compose(sections));
  CHECK(result.rendezvous->ops() == 2 * 48 + 16 + 1);
  CHECK(boundary_ops(result.program) == 3 * 113);
  CHECK(result.program.semaphores[result.rendezvous->arrival.value()].maximum == 48);

  const auto with = [&](std::uint32_t per_site, std::int64_t maximum) {
    std::vector<ir::Program> changed = sections;
    for (ir::Program& section : changed) {
      section.target.semaphores_per_site = per_site;
      section.target.semaphore_maximum = maximum;
    }
    return compose::compose(changed);
  };
  check_refused(with(4, 47), RefusalReason::arrival_maximum,
                {"48 engine programs", "[0,0,0]", "47"});
  check_refused(with(3, 48), RefusalReason::semaphores_exhausted, {"[0,0,0] has 3", "needs 4"});
}

TEST_CASE("more programs on a site than a release counts; chips that nothing joins") {
  std::vector<ir::Program> crowded =
      chain(2, {{kA, Engine::load}, {kB, Engine::load}, {kB, Engine::store}});
  for (ir::Program& section : crowded) section.target.semaphore_maximum = 1;
  check_refused(compose::compose(crowded), RefusalReason::release_maximum,
                {"2 engine programs of [0,1,0]", "counts to 1"});

  std::vector<ir::Program> apart = chain(2, {{kA, Engine::load}, {kFar, Engine::load}});
  for (ir::Program& section : apart) section.target.handoffs[1].crosses_chips = false;
  check_refused(compose::compose(apart), RefusalReason::no_crossing_handoff,
                {"[0,0,0]", "[2,0,0]", "four chips"});
  const std::size_t semaphores = apart[0].semaphores.size();
  REQUIRE(
      std::holds_alternative<compose::Refused>(compose::declare_rendezvous(apart[0], {0, 1}, 1)));
  CHECK(apart[0].semaphores.size() == semaphores);  // a refusal leaves nothing behind
}

TEST_CASE("releases and arrivals across chips name the hand-off that crosses") {
  const Composed result = chained({{{kA, Engine::load}, {kFar, Engine::load}}, 2}, 2);
  for (const ir::Semaphore& semaphore : result.program.semaphores) {
    const bool crosses = semaphore.name != "rendezvous.release.0.[0,0,0]";
    CAPTURE(semaphore.name);
    CHECK(semaphore.handoff.valid() == crosses);
    if (crosses) CHECK(result.program.target.handoffs[semaphore.handoff.value()].crosses_chips);
  }
}

}  // namespace
}  // namespace spatialcert::tests
