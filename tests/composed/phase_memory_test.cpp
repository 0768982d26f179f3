// `separate_phase_memory` through the whole pipeline: with it `memory` is certified, without it the
// bytes that sections of one phase share are a counterexample.
#include "compose/composition/phase_memory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "certify/pipeline.hpp"
#include "certify/report.hpp"
#include "compose/composition/composer.hpp"
#include "tests/composition/section_maker.hpp"
#include "tests/counts.hpp"
#include "tests/sections/fixture.hpp"

namespace spatialcert::tests {
namespace {

using certify::Verdict;
using ir::OpCode;
using proofs::Rule;

constexpr ir::Site kA{0, 0, 0}, kB{0, 1, 0};
const ir::SpaceId kDram(std::uint32_t{1});

ir::Program together(const std::vector<ir::Program>& sections, std::vector<bool> barrier_after,
                     bool persistent = false) {
  compose::ComposeOptions options;
  if (persistent) options.execution = ir::Execution::persistent;
  return composed(compose_phased(sections, barrier_after, {}, options)).program;
}

ir::Buffer& buffer_of(ir::Program& program, const std::string& name) {
  for (ir::Buffer& b : program.buffers) {
    if (b.name == name) return b;
  }
  FAIL("no buffer " << name);
  return program.buffers.front();
}

/// One engine puts a tensor into a scratch buffer and stores it again.
SectionMaker through_scratch(const std::string& name, const std::string& input,
                             const std::string& output, ir::Site site, std::uint64_t address) {
  SectionMaker m(name);
  const std::string buffer = name + ".b";
  m.input(input).output(output).buffer(buffer, ir::BufferKind::scratch, site, address);
  m.at(site, Engine::compute).run(name + ".in", std::vector<std::string>{input}, {buffer});
  m.run(name + ".out", std::vector<std::string>{buffer}, {output});
  return m;
}

/// Refuted for bytes that buffers share, by `memory` and by whatever else sees that; certified once
/// they are moved apart.
void check_repaired(ir::Program program) {
  const auto before = certify::certify(program);
  INFO(certify::report_text(program, before, false));
  CHECK(before.verdict == Verdict::refuted);
  for (const certify::RuleReport& rule : before.rules) {
    if (rule.rule != Rule::memory) continue;
    CHECK(rule.verdict == Verdict::refuted);
    REQUIRE(rule.counterexample.has_value());
    CHECK(rule.counterexample->kind == proofs::Kind::overlap);
    CHECK(
        std::holds_alternative<proofs::Reproduced>(proofs::replay(program, *rule.counterexample)));
  }
  const auto outcome = compose::separate_phase_memory(program);
  REQUIRE(std::holds_alternative<std::vector<compose::MemoryUse>>(outcome));
  const auto after = certify::certify(program);
  CHECK_MESSAGE(after.verdict == Verdict::certified, certify::report_text(program, after, false));
  count("phase memories separated and certified", 1);
}

TEST_CASE("pipelines side by side on one site") {
  check_repaired(together(
      {pipeline_section("p", "x", "y", kA), pipeline_section("q", "z", "w", kA)}, {false, false}));
  // Three, two of which share a site; and a phase before that reuses all of it.
  check_repaired(
      together({pipeline_section("a", "v", "u", kA), pipeline_section("p", "x", "y", kA),
                pipeline_section("q", "z", "w", kA), pipeline_section("r", "u", "t", kB)},
               {true, false, false, false}));
}

TEST_CASE("each space of a site by itself") {
  SectionMaker p = through_scratch("p", "x", "y", kA, 0), q = through_scratch("q", "z", "w", kA, 0);
  p.buffer_of("p.b").space = q.buffer_of("q.b").space = kDram;
  check_repaired(together({p.section(), q.section()}, {false, false}));
  // Both spaces collide, in sections that have a buffer in each.
  std::vector<ir::Program> sections;
  for (const char* name : {"p", "q"}) {
    SectionMaker m =
        through_scratch(name, std::string("x.") + name, std::string("y.") + name, kA, 64);
    const std::string other = std::string(name) + ".far", tensor = std::string("z.") + name;
    m.output(tensor).buffer(other, ir::BufferKind::scratch, kA, 10);
    m.buffer_of(other).space = kDram;
    m.run(std::string(name) + ".to", std::vector<std::string>{std::string("x.") + name}, {other});
    m.run(std::string(name) + ".from", std::vector<std::string>{other}, {tensor});
    sections.push_back(m.section());
  }
  ir::Program program = together(sections, {false, false});
  check_repaired(program);
  REQUIRE_FALSE(std::holds_alternative<compose::Refused>(compose::separate_phase_memory(program)));
  CHECK(buffer_of(program, "q.b").address == 128);
  CHECK(buffer_of(program, "q.far").address == 74);
}

TEST_CASE("what stays resident, and what begins with contents, is kept clear") {
  SectionMaker a("a"), c("c");
  a.input("x").resident("kv", kA, 0).at(kA, Engine::load).run("a.in", {"x"}, {"kv"});
  c.output("y").resident("kv", kA, 0).at(kA, Engine::load).run("c.out", {"kv"}, {"y"});
  const auto b = through_scratch("b", "z", "w", kA, 0).section();
  ir::Program program = together({a.section(), b, c.section()}, {true, true, false});
  check_repaired(program);
  // Contents of the third section lie there in the second one too.
  SectionMaker d("d");
  d.output("y").resident("table", kA, 0).at(kA, Engine::load).run("d.out", {"table"}, {"y"});
  d.buffer_of("table").init = ir::Init::external;
  program = together({through_scratch("e", "u", "v", kA, 0).section(), b, d.section()},
                     {true, true, false});
  ir::Buffer& table = buffer_of(program, "table");
  table.resident_from = table.resident_to = ir::SectionId(std::uint32_t{2});
  check_repaired(program);
}

TEST_CASE("a FIFO that holds a page from one phase to another") {
  SectionMaker p("p"), r("r");
  for (SectionMaker* m : {&p, &r}) {
    m->buffer("q", ir::BufferKind::fifo, kA, 0);
    m->raw().links.push_back({true, 0});
  }
  p.input("x").at(kA, Engine::load).op(OpCode::reserve, "q").run("p.in", {"x"}, {"q"});
  p.op(OpCode::push, "q");
  r.output("y").at(kA, Engine::store).op(OpCode::front, "q").run("r.out", {"q"}, {"y"});
  r.op(OpCode::pop, "q");
  const auto w = through_scratch("w", "z", "u", kA, 0).section();
  check_repaired(together({p.section(), w, r.section()}, {true, true, false}));
  check_repaired(together({p.section(), w, r.section()}, {true, true, true}, true));
}

TEST_CASE("an open wrap-around makes the last phase the first") {
  // One engine each, so that an iteration and the next are in order.
  const auto first = through_scratch("a", "x", "y", kA, 0).section();
  const auto middle = through_scratch("b", "z", "w", kA, 0).section();
  const auto last = through_scratch("c", "u", "v", kA, 0).section();
  check_repaired(together({first, middle, last}, {true, true, false}, true));
}

TEST_CASE("built sections that share their sites in one phase") {
  std::vector<ir::Program> sections;
  for (const char* name : {"p", "q", "r"}) {
    const std::string in = fmt::format("{}.x", name), out = fmt::format("{}.y", name);
    SectionDescription d = describe(compose::sections::Copy{in, out},
                                    {{in, 6, 6, DType::i32, ir::TensorRole::input},
                                     {out, 6, 6, DType::i32, ir::TensorRole::input}},
                                    {2, Split::rows, Handover::fifo, 2, {2, 3, 1}});
    d.name = name;
    const auto built = compose::build_section(d);
    REQUIRE_MESSAGE(built.has_value(), built.error().message());
    sections.push_back(*built);
  }
  check_repaired(together(sections, {false, false, false}));
}

}  // namespace
}  // namespace spatialcert::tests
