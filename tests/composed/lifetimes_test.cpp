// What lies where when: memory that one section leaves to another, through the whole pipeline. The
// reference machine shows on real bytes what a program that must not be certified would do.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "compose/composition/composer.hpp"
#include "compose/composition/phase_memory.hpp"
#include "ir/validate.hpp"
#include "tests/composition/section_maker.hpp"
#include "tests/oracle/sketch.hpp"
#include "tests/random/judge.hpp"

namespace spatialcert::tests {
namespace {

using certify::Verdict;
using ir::OpCode;

constexpr ir::Site kA{0, 0, 0};

/// A page through a FIFO at address 0, from the engine that loads to the one that stores.
SectionMaker paged(const std::string& name, const std::string& input, const std::string& output) {
  SectionMaker m(name);
  const std::string fifo = name + ".q";
  m.input(input).output(output).buffer(fifo, ir::BufferKind::fifo, kA, 0);
  m.at(kA, Engine::load).op(OpCode::reserve, fifo).run(name + ".in", {input}, {fifo});
  m.op(OpCode::push, fifo);
  m.at(kA, Engine::store).op(OpCode::front, fifo).run(name + ".out", {fifo}, {output});
  m.op(OpCode::pop, fifo);
  return m;
}

/// Stores all of a buffer at address 0, which nothing in the section writes.
SectionMaker reads_memory(const std::string& name, const std::string& output) {
  SectionMaker m(name);
  m.output(output).buffer(name + ".b", ir::BufferKind::scratch, kA);
  m.at(kA, Engine::store).run(name + ".read", std::vector<std::string>{name + ".b"}, {output});
  return m;
}
/// Writes all of a buffer at address 0.
SectionMaker writes_memory(const std::string& name, const std::string& input) {
  SectionMaker m(name);
  m.input(input).buffer(name + ".b", ir::BufferKind::scratch, kA);
  m.at(kA, Engine::load).run(name + ".write", std::vector<std::string>{input}, {name + ".b"});
  return m;
}

ir::Buffer& buffer_of(ir::Program& program, const std::string& name) {
  for (ir::Buffer& b : program.buffers) {
    if (b.name == name) return b;
  }
  FAIL("no buffer " << name);
  return program.buffers.front();
}

ir::Program joined(const std::vector<ir::Program>& sections, bool persistent = false) {
  compose::ComposeOptions options;
  if (persistent) options.execution = ir::Execution::persistent;
  return composed(compose::compose(sections, {}, options)).program;
}

/// What the composer would refuse, but a file may say: contents from the start in a buffer that
/// lives in sections `from` to `to` only, or in its own.
void starts_with(ir::Program& program, const std::string& name, ir::Init init) {
  buffer_of(program, name).init = init;
}
void lives_in(ir::Program& program, const std::string& name, std::uint32_t from, std::uint32_t to) {
  ir::Buffer& b = buffer_of(program, name);
  b.lifetime = ir::Lifetime::resident;
  b.resident_from = ir::SectionId(from);
  b.resident_to = ir::SectionId(to);
}

Judgement checked(const ir::Program& program, Verdict expected) {
  const ir::Status wrong = ir::validate(program);
  REQUIRE_MESSAGE(!wrong, wrong->message());
  Judgement j = judge(program);
  INFO(listing(program));
  INFO(verdicts(j));
  CHECK(j.disagreement == "");
  CHECK(to_string(j.report.verdict) == to_string(expected));
  CHECK(j.findings.fails() == (expected == Verdict::refuted));
  return j;
}

TEST_CASE("contents from the start that a FIFO of an earlier section overwrites") {
  for (const bool ranged : {false, true}) {
    ir::Program program =
        joined({paged("p", "x", "h").section(), reads_memory("r", "y").section()});
    starts_with(program, "r.b", ir::Init::zero);
    if (ranged) lives_in(program, "r.b", 1, 1);
    checked(program, Verdict::refuted);
    buffer_of(program, "r.b").address = 64;
    checked(program, Verdict::certified);
  }
}

TEST_CASE("contents from the start that a buffer of an earlier section overwrites") {
  for (const bool ranged : {false, true}) {
    ir::Program program =
        joined({writes_memory("w", "x").section(), reads_memory("r", "y").section()});
    starts_with(program, "r.b", ir::Init::zero);
    if (ranged) lives_in(program, "r.b", 1, 1);
    checked(program, Verdict::refuted);
    buffer_of(program, "r.b").address = 64;
    checked(program, Verdict::certified);
  }
}

TEST_CASE("two buffers of one place that both begin with contents") {
  ir::Program program =
      joined({reads_memory("q", "x").section(), reads_memory("r", "y").section()});
  starts_with(program, "q.b", ir::Init::external);
  starts_with(program, "r.b", ir::Init::zero);
  checked(program, Verdict::refuted);
}

TEST_CASE("contents of another buffer of the same place are nobody else's") {
  ir::Program program =
      joined({reads_memory("q", "x").section(), reads_memory("r", "y").section()});
  starts_with(program, "q.b", ir::Init::external);
  checked(program, Verdict::refuted);
}

TEST_CASE("a page that is on its way while another section's buffer lies over it") {
  // Pushed in the first section, popped in the third; the second writes where the page lies.
  SectionMaker p("p"), r("r");
  const auto fifo = [](SectionMaker& m) { m.buffer("q", ir::BufferKind::fifo, kA, 0); };
  p.input("x"), fifo(p);
  p.at(kA, Engine::load).op(OpCode::reserve, "q").run("p.in", {"x"}, {"q"}).op(OpCode::push, "q");
  r.output("y"), fifo(r);
  r.at(kA, Engine::store).op(OpCode::front, "q").run("r.out", {"q"}, {"y"}).op(OpCode::pop, "q");
  for (SectionMaker* m : {&p, &r}) m->raw().links.push_back({true, 0});
  ir::Program program = joined({p.section(), writes_memory("w", "x").section(), r.section()});
  checked(program, Verdict::refuted);
  buffer_of(program, "w.b").address = 64;
  checked(program, Verdict::certified);
}

}  // namespace
}  // namespace spatialcert::tests
