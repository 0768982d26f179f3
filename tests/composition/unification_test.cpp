// What becomes of tensors, buffers, links, postconditions and sources.
#include <doctest/doctest.h>

#include "compose/composition/composer.hpp"
#include "compose/composition/instance.hpp"
#include "tests/composition/section_maker.hpp"
#include "tests/oracle/findings.hpp"

namespace spatialcert::tests {
namespace {

using compose::ComposeOptions;
using ir::Init;
using ir::TensorRole;

constexpr ir::Site kA{0, 0, 0};

/// A section whose `load` engine reads and writes these tensors, declared before.
SectionMaker& touching(SectionMaker& maker, const std::vector<std::string>& reads,
                       const std::vector<std::string>& writes) {
  const std::string stage = maker.raw().name + ".run";
  return maker.at(kA, Engine::load).run(stage, reads, writes);
}

const ir::Tensor& tensor(const ir::Program& program, const std::string& name) {
  for (const ir::Tensor& t : program.tensors) {
    if (t.name == name) return t;
  }
  FAIL("no tensor " << name);
  return program.tensors.front();
}

ir::Program reader(const std::string& name, const std::string& in, const std::string& out) {
  SectionMaker m(name);
  return touching(m.input(in).output(out), {in}, {out}).section();
}

TEST_CASE(
    "an output that a later section takes in is an activation and begins as the producer says") {
  const auto result = composed(
      compose::compose({reader("a", "x", "h"), reader("b", "h", "y"), reader("c", "x", "z")}));
  const ir::Program& p = result.program;
  CHECK(p.tensors.size() == 4);
  CHECK(tensor(p, "h").role == TensorRole::activation);
  CHECK(tensor(p, "h").init == Init::undefined);
  CHECK(tensor(p, "x").role == TensorRole::input);
  CHECK(tensor(p, "x").init == Init::external);
  CHECK(tensor(p, "y").role == TensorRole::output);
  CHECK(tensor(p, "z").role == TensorRole::output);
}

TEST_CASE("an output that is written last is an output") {
  // h is handed on, and used again for the result.
  const auto result = composed(
      compose::compose({reader("a", "x", "h"), reader("b", "h", "g"), reader("c", "g", "h")}));
  CHECK(tensor(result.program, "h").role == TensorRole::output);
  CHECK(tensor(result.program, "g").role == TensorRole::activation);
}

TEST_CASE("source order decides what discharges an assumption, not the order of performance") {
  const compose::PhaseOrder backwards{{1, 0}, {true, false}};
  const auto result =
      composed(compose::compose_ordered({reader("a", "x", "h"), reader("b", "h", "y")}, backwards));
  CHECK(tensor(result.program, "h").init == Init::undefined);
  CHECK(result.program.sections[0].name == "b");
  CHECK(result.program.sections[0].source_index == 1);
  CHECK(result.program.sections[1].source_index == 0);
  CHECK(result.program.stages[0].name == "a.run");
  CHECK(result.program.stages[0].section == ir::SectionId(std::uint32_t{1}));
  CHECK_FALSE(examine(result.program).undefined_reads.empty());
}

TEST_CASE("what an earlier section writes through a view is no longer the host's") {
  SectionMaker a("a");
  a.input("x").output("h").output("top");
  a.tensor_of("top").rows = 2;
  a.tensor_of("top").view = ir::View<ir::TensorId>{ir::TensorId(std::uint32_t{1}), 0};
  touching(a, {"x"}, {"top"});
  const auto result = composed(compose::compose({a.section(), reader("b", "h", "y")}));
  CHECK(tensor(result.program, "h").init == Init::undefined);
  CHECK(tensor(result.program, "top").view->base.value() == 1);
}

TEST_CASE("a carried tensor is state and begins as its first reader says") {
  // a updates kv in place, b reads it, c writes it whole.
  SectionMaker a("a"), b("b"), c("c");
  a.input("x").tensor("kv", TensorRole::output, Init::undefined);
  touching(a, {"x"}, {"kv"});
  b.tensor("kv", TensorRole::state, Init::zero).output("y");
  touching(b, {"kv"}, {"y"});
  c.input("y").output("kv");
  touching(c, {"y"}, {"kv"});
  ComposeOptions options;
  options.carried = {"kv"};
  const auto result =
      composed(compose::compose({a.section(), b.section(), c.section()}, {}, options));
  CHECK(tensor(result.program, "kv").role == TensorRole::state);
  CHECK(tensor(result.program, "kv").init == Init::zero);
  CHECK(result.program.carried == std::vector<std::string>{"kv"});
}

TEST_CASE("what sections carry is carried, once") {
  SectionMaker a("a"), b("b");
  touching(a.tensor("kv", TensorRole::state, Init::external).output("y"), {"kv"}, {"y", "kv"});
  touching(b.tensor("kv", TensorRole::state, Init::external).output("z"), {"kv"}, {"z", "kv"});
  a.raw().carried = {"kv"};
  b.raw().carried = {"kv"};
  const auto result = composed(compose::compose({a.section(), b.section()}));
  CHECK(result.program.carried.size() == 1);
  CHECK(tensor(result.program, "kv").init == Init::external);
}

TEST_CASE("resident buffers of one name are one buffer") {
  SectionMaker a("a"), b("b"), c("c");
  a.input("x").resident("kv", kA, 256).buffer("own", ir::BufferKind::scratch, kA, 0);
  touching(a, {"x"}, {"kv", "own"});
  b.resident("kv", kA, 256).output("y");
  b.buffer_of("kv").init = Init::external;  // so that it stands alone
  touching(b, {"kv"}, {"y"});
  c.input("x").resident("other", kA, 512);
  touching(c, {"x"}, {"other"});
  for (SectionMaker* m : {&a, &b, &c}) {
    for (ir::Buffer& buffer : m->raw().buffers) {
      if (buffer.lifetime != ir::Lifetime::resident) continue;
      buffer.resident_from = buffer.resident_to = ir::SectionId(std::uint32_t{0});
    }
  }
  const auto result = composed(compose::compose({a.section(), c.section(), b.section()}));
  REQUIRE(result.program.buffers.size() == 3);
  const ir::Buffer& kv = result.program.buffers[0];
  CHECK(kv.name == "kv");
  CHECK(kv.init == Init::undefined);  // a writes it first
  CHECK(kv.resident_from == ir::SectionId(std::uint32_t{0}));
  CHECK(kv.resident_to == ir::SectionId(std::uint32_t{2}));
}

TEST_CASE("a lifetime joins sections in the order of performance") {
  const auto with = [](const std::string& name, bool resident) {
    SectionMaker m(name);
    m.output(name + ".y");
    if (resident) {
      m.resident("kv", kA, 0);
      m.buffer_of("kv").resident_from = m.buffer_of("kv").resident_to =
          ir::SectionId(std::uint32_t{0});
    }
    return touching(m, {}, {name + ".y"}).section();
  };
  const auto result = composed(compose::compose_ordered(
      {with("a", true), with("b", true), with("c", false)}, {{2, 1, 0}, {true, true, false}}));
  CHECK(result.program.buffers[0].resident_from == ir::SectionId(std::uint32_t{1}));
  CHECK(result.program.buffers[0].resident_to == ir::SectionId(std::uint32_t{2}));
}

TEST_CASE("links of one name are one hand-off, declared once") {
  SectionMaker a("a"), b("b");
  touching(a.input("x").output("h").semaphore("go", kA), {"x"}, {"h"}).op(ir::OpCode::post, "go");
  b.input("h").output("y").semaphore("go", kA);
  b.at(kA, Engine::store).op(ir::OpCode::wait, "go").run("b.run", {"h"}, {"y"});
  for (SectionMaker* m : {&a, &b}) m->raw().links = {{false, 0}};
  const auto result = composed(compose::compose_phased({a.section(), b.section()}, {false, false}));
  CHECK(result.program.semaphores.size() == 1);
  CHECK(result.program.links.size() == 1);
  CHECK_FALSE(examine(result.program).fails());
}

TEST_CASE("nothing is dropped: sources, numerics, edges, loops, affine bounds") {
  SectionMaker a("a"), b("b");
  a.raw().source_files = {"one.py", "two.py"};
  b.raw().source_files = {"two.py"};
  a.raw().locations = {{0, 3}, {1, 4}};
  b.raw().locations = {{0, 5, 9}};
  touching(a.input("x").output("h"), {"x"}, {"h"});
  b.input("h").output("y").buffer("q", ir::BufferKind::fifo, kA);
  b.at(kA, Engine::load).op(ir::OpCode::reserve, "q").run("in", {"h"}, {"q"});
  b.op(ir::OpCode::push, "q");
  b.at(kA, Engine::compute).op(ir::OpCode::front, "q").run("out", {"q"}, {"y"});
  b.op(ir::OpCode::pop, "q");
  b.raw().edges.push_back({ir::StageId(std::uint32_t{0}), ir::BufferId(std::uint32_t{0}),
                           ir::StageId(std::uint32_t{1}), ir::HandoffId()});
  ir::EngineProgram& consumer = b.raw().programs[1];
  ir::Op loop;
  loop.code = ir::OpCode::repeat;
  loop.count = 1;
  loop.body = 3;
  consumer.ops.insert(consumer.ops.begin(), loop);
  ir::Region& written = b.raw().accesses[3].region;
  written.first_term = 0;
  written.terms = 1;
  b.raw().affine_terms = {{0, 0, 2}};
  a.tensor_of("x").location = 1;
  b.tensor_of("y").location = 0;
  b.buffer_of("q").location = 0;
  b.raw().stages[1].location = 0;
  consumer.ops[2].location = 0;
  b.raw().sections[0].location = 0;
  b.raw().sections[0].numerics = {false, "sums in bf16"};
  ir::Program first = a.section();
  first.affine_terms = {{0, 0, 7}};  // of nobody, and in the way
  const auto result = composed(compose::compose({first, b.section()}));
  const ir::Program& p = result.program;
  CHECK(p.source_files == std::vector<std::string>{"one.py", "two.py"});
  const auto line = [&](ir::LocationIndex at) { return p.locations.at(at); };
  CHECK(line(tensor(p, "x").location) == ir::SourceLocation{1, 4});
  CHECK(line(tensor(p, "y").location) == ir::SourceLocation{1, 5, 9});
  CHECK(line(p.buffers[0].location) == ir::SourceLocation{1, 5, 9});
  CHECK(line(p.sections[1].location) == ir::SourceLocation{1, 5, 9});
  CHECK(p.sections[1].numerics.reason == "sums in bf16");
  CHECK(p.sections[0].numerics.exact);
  REQUIRE(p.edges.size() == 1);
  CHECK(p.stages[p.edges[0].producer.value()].name == "in");
  CHECK(p.stages[p.edges[0].consumer.value()].name == "out");
  CHECK(line(p.stages[p.edges[0].consumer.value()].location) == ir::SourceLocation{1, 5, 9});
  const ir::Op& run = p.programs[1].ops[p.programs[1].spans[1].begin + 2];
  REQUIRE(run.code == ir::OpCode::run);
  CHECK(line(run.location) == ir::SourceLocation{1, 5, 9});
  const ir::Access& write = p.accesses[run.first_access + 1];
  REQUIRE(write.write);
  CHECK(p.affine_terms[write.region.first_term].coefficient == 2);
  CHECK(p.tensors[write.region.object].name == "y");
}

TEST_CASE("one section composes to itself") {
  ir::Program one = pipeline_section("p", "x", "y", kA);
  one.postconditions.push_back({one.accesses[0].region, {one.accesses[0].region}});
  ComposeOptions options;
  options.name = one.name;
  const auto result = composed(compose::compose({one}, {}, options));
  CHECK(ir::op_count(result.program) == ir::op_count(one));
  CHECK(result.program.boundaries.empty());
  CHECK(result.program.semaphores.empty());
  CHECK(result.program.postconditions.size() == 1);
}

/// A section that copies `in` to `out`, which it claims.
ir::Program claiming(const std::string& name, const std::string& in, const std::string& out) {
  SectionMaker m(name);
  touching(m.input(in).output(out), {in}, {out});
  m.raw().postconditions.push_back({m.region(out), {m.region(in)}});
  return m.section();
}

TEST_CASE("a postcondition stays where it means the same, and is never changed") {
  const auto kept = composed(compose::compose({claiming("a", "x", "y"), reader("b", "y", "z")}));
  REQUIRE(kept.program.postconditions.size() == 1);
  CHECK(kept.notes.empty());
  CHECK_FALSE(kept.program.result_unspecified);
  const ir::Postcondition& claim = kept.program.postconditions[0];
  CHECK(kept.program.tensors[claim.region.object].name == "y");
  CHECK(kept.program.tensors[claim.terms[0].object].name == "x");

  // The terms of b are no initial contents: a writes them.
  const std::vector<ir::Program> later{reader("a", "x", "y"), claiming("b", "y", "z")};
  check_refused(compose::compose(later), compose::RefusalReason::lost_postcondition,
                {"postcondition 1 of section \"b\"", "section \"a\" writes \"y\""});
  ComposeOptions options;
  options.drop_lost_postconditions = true;
  const auto without = composed(compose::compose(later, {}, options));
  CHECK(without.program.postconditions.empty());
  CHECK(without.program.result_unspecified);
  REQUIRE(without.notes.size() == 1);
  CHECK(without.notes[0].find("section \"b\"") != std::string::npos);

  // What a leaves, b overwrites.
  check_refused(compose::compose({claiming("a", "x", "y"), reader("b", "w", "y")}),
                compose::RefusalReason::lost_postcondition, {"a later section writes \"y\""});
}

TEST_CASE("sections that write other rows of one output keep their claims") {
  const auto rows = [](const std::string& name, std::int64_t begin, std::int64_t end) {
    SectionMaker m(name);
    touching(m.input("x").output("y"), {"x"}, {"y"});
    ir::Program& p = m.raw();
    for (ir::Access& access : p.accesses) {
      access.region.bound[0] = begin;
      access.region.bound[1] = end;
    }
    p.postconditions.push_back({p.accesses[1].region, {p.accesses[0].region}});
    return m.section();
  };
  const auto apart = composed(compose::compose({rows("a", 0, 2), rows("b", 2, 4)}));
  CHECK(apart.program.postconditions.size() == 2);
  check_refused(compose::compose({rows("a", 0, 3), rows("b", 2, 4)}),
                compose::RefusalReason::lost_postcondition, {"section \"a\"", "a later section"});
}

TEST_CASE("loops reach as far as their trip counts") {
  // a claims row 2; b writes rows 0 and 1, or 0 to 2, in a loop.
  SectionMaker a("a");
  touching(a.input("x").output("y"), {"x"}, {"y"});
  for (ir::Access& access : a.raw().accesses) {
    access.region.bound[0] = 2;
    access.region.bound[1] = 3;
  }
  a.raw().postconditions.push_back({a.raw().accesses[1].region, {a.raw().accesses[0].region}});
  const auto with_trips = [&](std::int64_t trips) {
    SectionMaker b("b");
    touching(b.input("w").output("y"), {"w"}, {"y"});
    ir::Op loop;
    loop.code = ir::OpCode::repeat;
    loop.count = trips;
    loop.body = 1;
    auto& ops = b.raw().programs[0].ops;
    ops.insert(ops.begin(), loop);
    ir::Region& written = b.raw().accesses[1].region;
    written.bound[1] = 1;
    written.terms = 2;
    b.raw().affine_terms = {{0, 0, 1}, {1, 0, 1}};
    return compose::compose({a.section(), b.section()});
  };
  CHECK(composed(with_trips(2)).program.postconditions.size() == 1);
  // Downwards: rows 3, 2, ... as far as the claimed one.
  const auto downwards = [&](std::int64_t trips) {
    SectionMaker b("b");
    touching(b.input("w").output("y"), {"w"}, {"y"});
    ir::Op loop;
    loop.code = ir::OpCode::repeat;
    loop.count = trips;
    loop.body = 1;
    auto& ops = b.raw().programs[0].ops;
    ops.insert(ops.begin(), loop);
    ir::Region& written = b.raw().accesses[1].region;
    written.bound[0] = 3;
    written.terms = 2;
    b.raw().affine_terms = {{0, 0, -1}, {1, 0, -1}};
    return compose::compose({a.section(), b.section()});
  };
  CHECK(composed(downwards(1)).program.postconditions.size() == 1);
  check_refused(downwards(2), compose::RefusalReason::lost_postcondition, {"a later section"});
  check_refused(with_trips(3), compose::RefusalReason::lost_postcondition, {"a later section"});
}

TEST_CASE("tensors are bound to other names all at once") {
  ir::Program one = reader("a", "x", "y");
  one.tensors[0].role = TensorRole::state;
  one.carried = {"x"};
  REQUIRE_FALSE(compose::rebind_tensors(one, {{"x", "y"}, {"y", "x"}}));
  CHECK(one.tensors[0].name == "y");
  CHECK(one.tensors[1].name == "x");
  CHECK(one.carried == std::vector<std::string>{"y"});
  const ir::Program before = one;
  const auto clash = compose::rebind_tensors(one, {{"x", "y"}});
  REQUIRE(clash);
  CHECK(clash->reason == compose::RefusalReason::name_clash);
  CHECK(clash->what == "two tensors of section \"a\" would be called \"y\"");
  const auto unknown = compose::rebind_tensors(one, {{"x", "z"}, {"w", "v"}});
  REQUIRE(unknown);
  CHECK(unknown->reason == compose::RefusalReason::unknown_tensor);
  CHECK(unknown->what.find("no tensor \"w\"") != std::string::npos);
  CHECK(one.tensors[1].name == "x");  // as it was

  // One section, used as two layers.
  const ir::Program layer = pipeline_section("layer", "in", "out", kA, 1);
  ir::Program first = layer, second = layer;
  compose::rename_section(first, "first");
  compose::rename_section(second, "second");
  REQUIRE_FALSE(compose::rebind_tensors(first, {{"out", "h"}}));
  REQUIRE_FALSE(compose::rebind_tensors(second, {{"in", "h"}}));
  const auto result = composed(compose::compose({first, second}));
  CHECK(tensor(result.program, "h").role == TensorRole::activation);
  CHECK(result.program.tensors.size() == 3);
}

TEST_CASE("what no op refers to does no harm") {
  ir::Program a = reader("a", "x", "h");
  a.accesses.push_back({});
  a.accesses.back().region.object = 99;
  a.locations.push_back({7, 7});
  composed(compose::compose({a, reader("b", "h", "y")}));
}

TEST_CASE("a renamed section shares tensors, resident buffers and links, and nothing else") {
  SectionMaker m("p");
  m.input("x").resident("kv", kA, 64).buffer("q", ir::BufferKind::fifo, kA).semaphore("s", kA);
  m.semaphore("link", kA);
  touching(m, {"x"}, {"kv"});
  m.raw().links = {{false, 1}};
  ir::Program second = m.section();
  compose::rename_section(second, "p2");
  CHECK(second.sections[0].name == "p2");
  CHECK(second.buffers[0].name == "kv");
  CHECK(second.buffers[1].name == "p2/q");
  CHECK(second.semaphores[0].name == "p2/s");
  CHECK(second.semaphores[1].name == "link");
  CHECK(second.stages[0].name == "p2/p.run");
  CHECK(composed(compose::compose({m.section(), second})).program.sections.size() == 2);
}

}  // namespace
}  // namespace spatialcert::tests
