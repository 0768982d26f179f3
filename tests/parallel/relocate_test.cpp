// Sections made on chip 0 and moved to where their data are.
#include "compose/parallel/relocate.hpp"

#include <doctest/doctest.h>

#include "compose/parallel/attach.hpp"
#include "compose/parallel/fusion.hpp"
#include "compose/sections/sections.hpp"
#include "tests/composition/section_maker.hpp"
#include "tests/parallel/fixture.hpp"

namespace spatialcert::tests {
namespace {

using ir::DType;
using parallel::Manifest;
using parallel::relocate;
using parallel::Sharding;

/// x times w.2 gives p.2, on two sites of chip 0.
compose::SectionDescription product(compose::Handover handover = compose::Handover::fifo) {
  compose::SectionDescription d;
  d.name = "project.2";
  d.target = chips(4);
  d.sites = {{0, 0, 0}, {0, 1, 1}};
  d.tensors = {{"x", 4, 6, DType::i32, ir::TensorRole::input},
               {"w.2", 6, 8, DType::i32, ir::TensorRole::weight},
               {"p.2", 4, 8, DType::i32, ir::TensorRole::activation}};
  d.work = compose::sections::Matmul{"x", "w.2", "p.2", {}};
  d.tile = {2, 4, 3};
  d.handover = handover;
  return d;
}

ir::Program built(const compose::SectionDescription& description) {
  auto section = compose::build_section(description);
  if (!section) FAIL(section.error().message());
  return std::move(section).value();
}

std::optional<std::uint32_t> owner_of(const ir::Program& program, const std::string& name) {
  for (const ir::Tensor& tensor : program.tensors) {
    if (tensor.name == name) return tensor.owner;
  }
  FAIL("no tensor " << name);
  return {};
}

TEST_CASE("a section moves to the chip of what it binds, with every site that it names") {
  const Manifest manifest = row_parallel(4);
  const Sharding sharding(manifest);
  CHECK(sharding.chip_running("p.2") == 2);
  CHECK(sharding.chip_running("h") == 0);
  for (const auto handover : {compose::Handover::fifo, compose::Handover::semaphores}) {
    const ir::Program at_first = built(product(handover));
    const ir::Program moved = accepted(relocate(at_first, "p.2", sharding));
    for (const ir::EngineProgram& one : moved.programs) CHECK(one.site.chip == 2);
    for (const ir::Buffer& buffer : moved.buffers) {
      CHECK(buffer.site.chip == 2);
      CHECK(buffer.name.rfind("project.2/2.", 0) == 0);
    }
    for (const ir::Semaphore& semaphore : moved.semaphores) {
      CHECK(semaphore.site.chip == 2);
      CHECK(semaphore.name.rfind("project.2/2.", 0) == 0);
    }
    CHECK(owner_of(moved, "w.2") == 2);
    CHECK(owner_of(moved, "p.2") == 2);
    CHECK_FALSE(owner_of(moved, "x").has_value());
    check_certified(moved);
    // Columns and rows of the sites, and the values, are what they were.
    REQUIRE(moved.programs.size() == at_first.programs.size());
    for (std::size_t p = 0; p < moved.programs.size(); ++p) {
      CHECK(moved.programs[p].site.x == at_first.programs[p].site.x);
      CHECK(moved.programs[p].site.y == at_first.programs[p].site.y);
    }
    const auto difference = ir::machine::difference(finished(at_first), finished(moved));
    CHECK_MESSAGE(!difference, *difference);
  }
}

TEST_CASE("what a chip's own section stores is the chip's, and a section of the spine stays") {
  Manifest manifest = row_parallel(4);
  manifest.owners.erase("w.2");
  auto d = product();
  d.tensors[1].name = "w";
  d.work = compose::sections::Matmul{"x", "w", "p.2", {}};
  const ir::Program local = accepted(relocate(built(d), "p.2", Sharding(manifest)));
  CHECK_FALSE(owner_of(local, "w").has_value());
  d = product();
  d.tensors[1].name = "w";
  d.tensors[2].name = "y";
  d.work = compose::sections::Matmul{"x", "w", "y", {}};
  const ir::Program spine = accepted(relocate(built(d), "y", Sharding(manifest)));
  CHECK(spine.programs.front().site.chip == 0);
  CHECK_FALSE(owner_of(spine, "y").has_value());

  SectionMaker two("two", chips(4));
  two.input("x").output("p.1").output("beside").at({0, 0, 0}, Engine::load);
  two.run("a", {"x"}, {"p.1"}).run("b", {"x"}, {"beside"});
  CHECK(owner_of(accepted(relocate(two.section(), "p.1", Sharding(manifest))), "beside") == 1);
}

TEST_CASE("values and scales of a quantised weight live where the weight does") {
  Manifest manifest = row_parallel(4);
  manifest.quantised = {{"w.3", "w.3.values", "w.3.scales"}};
  const Sharding sharding(manifest);
  CHECK(sharding.chip_running("w.3.values") == 3);
  CHECK(sharding.owner("w.3.scales") == 3);
  SectionMaker m("unpack", chips(4));
  m.input("w.3.values").input("w.3.scales").output("unpacked").output("p.3");
  m.at({0, 0, 0}, Engine::load).run("s", {"w.3.values", "w.3.scales"}, {"unpacked"});
  m.run("t", {"unpacked"}, {"p.3"});
  const ir::Program moved = accepted(relocate(m.section(), "p.3", sharding));
  for (const ir::Tensor& tensor : moved.tensors) CHECK(tensor.owner == 3);
}

TEST_CASE("a view of a chip's tensor is the chip's") {
  SectionMaker m("head", chips(4));
  m.input("w.1").tensor("w.1 head", ir::TensorRole::input).output("p.1");
  m.tensor_of("w.1 head").view = ir::View<ir::TensorId>{ir::TensorId(0U), 0};
  m.at({0, 0, 0}, Engine::load).run("s", {"w.1 head"}, {"p.1"});
  const ir::Program moved = accepted(relocate(m.section(), "p.1", Sharding(row_parallel(4))));
  CHECK(owner_of(moved, "w.1 head") == 1);
}

TEST_CASE("what cannot be moved") {
  const Manifest manifest = row_parallel(4);
  const Sharding sharding(manifest);
  const ir::Program good = built(product());
  check_refusal(relocate(good, "x", sharding), RefusalReason::not_stored,
                {"\"project.2\"", "\"x\""});
  check_refusal(relocate(good, "nothing", sharding), RefusalReason::not_stored, {"\"nothing\""});

  ir::Program bad = good;
  bad.sections.push_back({"second", 1, {}, ir::kNoLocation});
  check_refusal(relocate(bad, "p.2", sharding), RefusalReason::not_one_section,
                {"\"project.2\"", "2 sections"});
  bad = good;
  bad.tensors[1].name = "x";
  check_refusal(relocate(bad, "p.2", sharding), RefusalReason::malformed_section,
                {"\"project.2\"", "tensors[1]"});
  bad = built(product(compose::Handover::semaphores));
  for (ir::Semaphore& s : bad.semaphores) s.handoff = ir::HandoffId(1U);
  for (ir::EngineProgram& one : bad.programs) {
    if (one.site.x == 1) one.site.chip = 1;
  }
  for (ir::Buffer& b : bad.buffers) {
    if (b.site.x == 1) b.site.chip = 1;
  }
  for (ir::Semaphore& s : bad.semaphores) {
    if (s.site.x == 1) s.site.chip = 1;
  }
  check_refusal(relocate(bad, "p.2", sharding), RefusalReason::several_chips,
                {"\"project.2\"", "[0,0,0]", "[1,1,1]"});

  auto small = product();
  small.target = chips(2);
  check_refusal(relocate(built(small), "p.2", sharding), RefusalReason::no_such_chip,
                {"chip 2", "\"p.2\"", "2 chips"});
  bad = good;
  bad.tensors[1].owner = 1;
  check_refusal(relocate(bad, "p.2", sharding), RefusalReason::owner_clash,
                {"\"w.2\"", "chip 1", "chip 2"});
  bad = good;
  bad.tensors[0].owner = 0;
  check_refusal(relocate(bad, "p.2", sharding), RefusalReason::owner_clash,
                {"\"x\"", "chip 0", "the spine"});

  auto foreign = product();
  foreign.tensors[1].name = "w.3";
  foreign.work = compose::sections::Matmul{"x", "w.3", "p.2", {}};
  check_refusal(relocate(built(foreign), "p.2", sharding), RefusalReason::foreign_tensor,
                {"chip 2", "reads", "\"w.3\" of chip 3"});
  const ir::Program copied =
      accepted(relocate(built(foreign), "p.2", sharding, parallel::Foreign::copied));
  for (const ir::Tensor& tensor : copied.tensors) {
    if (tensor.name == "w.3") CHECK(tensor.owner == 2);
  }
  SectionMaker mixed("mixed", chips(4));
  mixed.input("x").output("y").output("p.0").at({0, 0, 0}, Engine::load);
  mixed.run("a", {"x"}, {"y"}).run("b", {"x"}, {"p.0"});
  check_refusal(relocate(mixed.section(), "y", sharding), RefusalReason::foreign_tensor,
                {"\"y\" of the spine", "stores", "\"p.0\" of chip 0"});
}

TEST_CASE("hand-offs that reach several sites move as they are") {
  SectionMaker m("spread", chips(4));
  m.input("x").output("p.3").semaphore("go", {0, 1, 0}).semaphore("go too", {0, 1, 1});
  m.at({0, 0, 0}, Engine::load).run("s", {"x"}, {"p.3"});
  m.op(ir::OpCode::post, "go").op(ir::OpCode::post, "go too");
  m.at({0, 1, 0}, Engine::load).op(ir::OpCode::wait, "go");
  m.at({0, 1, 1}, Engine::load).op(ir::OpCode::wait, "go too");
  const ir::Program moved = accepted(relocate(m.section(), "p.3", Sharding(row_parallel(4))));
  for (const ir::Semaphore& s : moved.semaphores) CHECK(s.site.chip == 3);
}

TEST_CASE("what may be fused") {
  const Manifest manifest = row_parallel(3);
  const Sharding sharding(manifest);
  const auto op = [](std::initializer_list<const char*> names) {
    parallel::SourceOp out;
    for (const char* name : names) out.members.push_back({name, ir::OpKind::add, {}});
    return out;
  };
  CHECK_FALSE(parallel::check_fusion(op({"p.1", "w.1"}), sharding).has_value());
  CHECK_FALSE(parallel::check_fusion(op({"a", "b", "c"}), sharding).has_value());
  CHECK_FALSE(parallel::check_fusion(op({"h"}), sharding).has_value());
  check_refusal(parallel::check_fusion(op({"p.1", "w.1", "p.2"}), sharding),
                RefusalReason::mixed_owners, {"\"p.1\" of chip 1", "\"p.2\" of chip 2"});
  check_refusal(parallel::check_fusion(op({"a", "p.0"}), sharding), RefusalReason::mixed_owners,
                {"\"a\" of the spine", "\"p.0\" of chip 0"});
  check_refusal(parallel::check_fusion(op({"a", "sum.1"}), sharding), RefusalReason::fused_fold,
                {"\"sum.1\"", "\"a\""});
  check_refusal(parallel::check_fusion(op({"h", "b"}), sharding), RefusalReason::fused_fold,
                {"\"h\"", "\"b\""});
  Manifest all = manifest;
  CHECK_FALSE(parallel::check_fusions(all).has_value());
  all.statements.push_back(op({"a", "p.0"}));
  check_refusal(parallel::check_fusions(all), RefusalReason::mixed_owners, {"\"a\"", "\"p.0\""});
}

}  // namespace
}  // namespace spatialcert::tests
