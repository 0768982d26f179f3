// Two excerpts are alike only if all that a class keeps is the same.
#include <doctest/doctest.h>

#include <functional>

#include "proofs/composition/excerpt.hpp"
#include "tests/proofs/compositions.hpp"

namespace spatialcert::tests::compositions {
namespace {

using ir::Program;
using proofs::composition::alike;
using proofs::composition::Excerpt;
using proofs::composition::Excerpts;
using proofs::composition::kNone;

Excerpt excerpt_of(const Program& program, std::uint32_t section) {
  Excerpts excerpts(program);
  Excerpt out;
  CHECK_FALSE(excerpts.take(ir::SectionId(section), out).has_value());
  return out;
}

/// Its first access moves with a loop.
Excerpt moving(const Program& program) {
  Excerpt out = excerpt_of(program, 0);
  out.accesses[0].region.terms = 1;
  out.terms.push_back({0, 1, 2});
  return out;
}

TEST_CASE("composition: every part of an excerpt counts") {
  const Program program = chain().program();
  const Excerpt good = moving(program);
  REQUIRE(alike(program, good, moving(program)));
  const auto different = [&](const std::function<void(Excerpt&)>& change) {
    Excerpt other = good;
    change(other);
    return !alike(program, good, other) && !alike(program, other, good);
  };
  CHECK(different([](Excerpt& e) { e.ops[0].code = ir::OpCode::front; }));
  CHECK(different([](Excerpt& e) { e.ops[0].object = 1; }));
  CHECK(different([](Excerpt& e) { e.ops[0].count = 2; }));
  CHECK(different([](Excerpt& e) { e.ops[1].first_access = 1; }));
  CHECK(different([](Excerpt& e) { e.ops[1].accesses = 1; }));
  CHECK(different([](Excerpt& e) { e.ops[0].body = 1; }));
  CHECK(different([](Excerpt& e) { e.ops.pop_back(); }));
  CHECK(different([](Excerpt& e) { e.accesses[0].write = true; }));
  CHECK(different([](Excerpt& e) { e.accesses[0].region.kind = ir::RegionKind::bytes; }));
  CHECK(different([](Excerpt& e) { e.accesses[0].region.object = 1; }));
  CHECK(different([](Excerpt& e) { e.accesses[1].region.page = 1; }));
  for (int bound = 0; bound < 4; ++bound)
    CHECK(different([=](Excerpt& e) { ++e.accesses[0].region.bound[bound]; }));
  CHECK(different([](Excerpt& e) { e.accesses[0].region.first_term = 1; }));
  CHECK(different([](Excerpt& e) { e.accesses[0].region.terms = 0; }));
  CHECK(different([](Excerpt& e) { e.accesses.pop_back(); }));
  CHECK(different([](Excerpt& e) { e.terms[0].bound = 1; }));
  CHECK(different([](Excerpt& e) { e.terms[0].level = 0; }));
  CHECK(different([](Excerpt& e) { e.terms[0].coefficient = 3; }));
  CHECK(different([](Excerpt& e) { e.terms.clear(); }));
  CHECK(different([](Excerpt& e) { e.edges[0].producer = e.edges[0].consumer; }));
  CHECK(different([](Excerpt& e) { e.edges[0].consumer = e.edges[0].producer; }));
  CHECK(different([](Excerpt& e) { e.edges[0].buffer = ir::BufferId(std::uint32_t{1}); }));
  CHECK(different([](Excerpt& e) { e.edges.clear(); }));
  CHECK(different([](Excerpt& e) { --e.begin[1]; }));
  CHECK(different([](Excerpt& e) { e.programs.pop_back(); }));
  CHECK(different([](Excerpt& e) { e.sites[1] = 1; }));
  CHECK(different([](Excerpt& e) { e.chips[0] = 1; }));
  CHECK(different([](Excerpt& e) { e.tensor_bases[1] = 0; }));
  CHECK(different([](Excerpt& e) { e.buffer_bases[0] = 1; }));
  CHECK(different([](Excerpt& e) { e.tensors.pop_back(); }));
  CHECK(different([](Excerpt& e) { e.semaphores.pop_back(); }));
  CHECK(different([](Excerpt& e) { e.stages.pop_back(); }));
}

TEST_CASE("composition: every object of an excerpt counts") {
  const Program good = chain().program();
  const auto one = excerpt_of(good, 0), other = excerpt_of(good, 1);
  REQUIRE(alike(good, one, other));
  const auto different = [&](const std::function<void(Program&)>& change) {
    Program program = good;
    change(program);
    return !alike(program, one, other);
  };
  const auto view = [](std::uint32_t of) { return ir::View<ir::TensorId>{ir::TensorId(of), 4}; };
  CHECK(different([](Program& p) { named(p.tensors, "t2").rows = 5; }));
  CHECK(different([](Program& p) { named(p.tensors, "t2").cols = 5; }));
  CHECK(different([](Program& p) { named(p.tensors, "t2").dtype = ir::DType::f64; }));
  CHECK(different([](Program& p) { named(p.tensors, "t2").owner = 0; }));
  CHECK(different([&](Program& p) { named(p.tensors, "t2").view = view(0); }));
  CHECK(different([&](Program& p) {
    named(p.tensors, "t0").view = named(p.tensors, "t2").view = view(3);
    named(p.tensors, "t1").view = view(3);
    named(p.tensors, "t1").view->offset = 8;
  }));
  CHECK(different([](Program& p) { named(p.buffers, "b1").kind = ir::BufferKind::scratch; }));
  CHECK(
      different([](Program& p) { named(p.buffers, "b1").space = ir::SpaceId(std::uint32_t{1}); }));
  CHECK(different([](Program& p) { named(p.buffers, "b1").page_bytes = 60; }));
  CHECK(different([](Program& p) { named(p.buffers, "b1").pages = 2; }));
  CHECK(different([](Program& p) { named(p.buffers, "q1").depth = ir::Depth::guaranteed; }));
  CHECK(different([](Program& p) { named(p.buffers, "b1").init = ir::Init::zero; }));
  CHECK(different([](Program& p) { named(p.buffers, "v1").view->offset = 4; }));
  CHECK(different([](Program& p) { named(p.buffers, "v1").view.reset(); }));
  // The lifetime is that of the base.
  CHECK(different([](Program& p) { named(p.buffers, "b1").lifetime = ir::Lifetime::resident; }));
  CHECK_FALSE(
      different([](Program& p) { named(p.buffers, "v1").lifetime = ir::Lifetime::resident; }));
  CHECK(different([](Program& p) { named(p.semaphores, "h1").initial = 1; }));
  CHECK(different([](Program& p) { named(p.semaphores, "h1").maximum = 1; }));
  CHECK(different([](Program& p) { named(p.semaphores, "h1").restart = ir::Restart::reset; }));
  CHECK(different([](Program& p) { named(p.stages, "s1_s").kind = ir::StageKind::store; }));
  CHECK(different([](Program& p) { named(p.stages, "s1_s").op = ir::OpKind::neg; }));
}

TEST_CASE("composition: an excerpt keeps who is on one site, and which sites on one chip") {
  const auto moved = [](ir::Site semaphore, ir::Site buffer) {
    Program program = chain().program();
    named(program.semaphores, "h1").site = semaphore;
    named(program.buffers, "q1").site = buffer;
    return excerpt_of(program, 1);
  };
  const ir::Site here{0, 0, 0}, next{0, 1, 0}, there{1, 0, 0};
  const Excerpt together = moved(here, here);
  CHECK(together.sites == std::vector<std::uint32_t>(6, 0));
  CHECK(together.chips == std::vector<std::uint32_t>{0});
  const Excerpt apart = moved(next, there);
  CHECK(apart.sites[2] == 1);
  CHECK(apart.sites[3] == 2);
  CHECK(apart.chips == std::vector<std::uint32_t>{0, 0, 1});
  CHECK(moved(there, next).sites == apart.sites);
  CHECK(moved(there, next).chips == std::vector<std::uint32_t>{0, 1, 0});
}

TEST_CASE("composition: what stands for a class is its first section, alone") {
  Program whole = chain().program();
  named(whole.tensors, "t1").init = ir::Init::external;
  named(whole.tensors, "t1").owner = 0;
  named(whole.semaphores, "h1").restart = ir::Restart::reset;
  proofs::composition::Class one;
  one.excerpt = excerpt_of(whole, 1);
  one.touched = *proofs::composition::touched(whole, one.excerpt);
  one.defined = {1, 0};
  const Program alone = program_of(whole, one);
  REQUIRE(alone.programs.size() == 2);
  CHECK(alone.programs[0].ops.size() == 4);
  CHECK(alone.sections.size() == 1);
  CHECK(alone.boundaries.empty());
  CHECK(alone.edges.size() == 1);
  CHECK(named(alone.tensors, "t1").init == ir::Init::zero);
  CHECK(named(alone.tensors, "t2").init == ir::Init::undefined);
  CHECK_FALSE(named(alone.tensors, "t1").owner.has_value());
  CHECK(named(alone.semaphores, "h1").restart == ir::Restart::reset);
  CHECK(named(alone.buffers, "v1").view->base.value() == number(alone.buffers, "b1"));
  CHECK(named(alone.buffers, "b1").lifetime == ir::Lifetime::section);
  whole.execution = ir::Execution::persistent;
  const Program around = program_of(whole, one);
  CHECK(named(around.semaphores, "h1").restart == ir::Restart::keep);
  one.defined = {0, 0};
  const Program bare = program_of(whole, one);
  CHECK(named(bare.tensors, "t1").init == ir::Init::undefined);
  named(whole.buffers, "b1").init = ir::Init::external;
  const Program filled = program_of(whole, one);
  CHECK(named(filled.buffers, "b1").init == ir::Init::zero);
  // Where a base is resident, so are its views, and neither has contents of its own.
  named(whole.buffers, "b1").lifetime = ir::Lifetime::resident;
  named(whole.buffers, "b1").init = ir::Init::external;
  const Program resident = program_of(whole, one);
  CHECK(named(resident.buffers, "b1").lifetime == ir::Lifetime::resident);
  CHECK(named(resident.buffers, "v1").lifetime == ir::Lifetime::resident);
  CHECK(named(resident.buffers, "b1").init == ir::Init::undefined);
}

}  // namespace
}  // namespace spatialcert::tests::compositions
