// One refusal per reason, by name.
#include <doctest/doctest.h>

#include <set>

#include "compose/composition/composer.hpp"
#include "compose/composition/phase_memory.hpp"
#include "tests/composition/section_maker.hpp"

namespace spatialcert::tests {
namespace {

using compose::compose_phased;
using compose::ComposeOptions;
using compose::Placement;
using compose::RefusalReason;
using ir::Init;
using ir::TensorRole;

constexpr ir::Site kA{0, 0, 0};

/// A section that copies tensor `in` to tensor `out`, which can be changed before it is made.
SectionMaker copying(const std::string& name, const std::string& in, const std::string& out) {
  SectionMaker m(name);
  m.input(in).output(out).at(kA, Engine::load).run(name + ".run", {in}, {out});
  return m;
}

ir::Program section(const std::string& name, const std::string& in, const std::string& out) {
  return copying(name, in, out).section();
}

/// `a` makes h from x, and `second` comes after it.
compose::Outcome<compose::Composed> after_a(const SectionMaker& second,
                                            const ComposeOptions& options = {}) {
  return compose::compose({section("a", "x", "h"), second.unchecked()}, {}, options);
}

TEST_CASE("refused: no sections, and files that are not one section") {
  check_refused(compose::compose({}), RefusalReason::no_sections, {"no sections"});
  SectionMaker two = copying("b", "h", "y");
  two.raw().sections.push_back({"more", 1, {}, ir::kNoLocation});
  check_refused(after_a(two), RefusalReason::not_one_section, {"\"b\"", "2 sections", "more"});
  SectionMaker none("b");
  none.raw().sections.clear();
  check_refused(compose::compose({none.raw()}), RefusalReason::not_one_section, {"0 sections"});
}

TEST_CASE("refused: sections that are no programs, or bring seams") {
  SectionMaker m = copying("b", "h", "y");
  m.raw().programs[0].ops[0].object = 7;
  check_refused(after_a(m), RefusalReason::malformed_section, {"\"b\"", "programs[0].ops[0]"});
  SectionMaker seam = copying("b", "h", "y");
  seam.raw().boundaries.push_back({ir::SectionId(std::uint32_t{0}), false});
  check_refused(after_a(seam), RefusalReason::section_has_seam, {"\"b\""});
}

TEST_CASE("refused: sections without stages or ops") {
  SectionMaker no_stages("b");
  no_stages.semaphore("s", kA).at(kA, Engine::load).op(ir::OpCode::post, "s");
  check_refused(after_a(no_stages), RefusalReason::no_stages, {"\"b\""});
  SectionMaker no_ops = copying("b", "h", "y");
  no_ops.raw().programs[0].ops.clear();
  check_refused(after_a(no_ops), RefusalReason::no_ops, {"\"b\""});
}

TEST_CASE("refused: a section that fails on its own, as the caller finds it") {
  ComposeOptions options;
  options.section_fault = [](const ir::Program& program) -> std::optional<std::string> {
    if (program.sections[0].name == "b") return "it waits for ever";
    return std::nullopt;
  };
  check_refused(after_a(copying("b", "h", "y"), options), RefusalReason::faulty_section,
                {"\"b\"", "it waits for ever"});
  composed(after_a(copying("c", "h", "y"), options));
}

TEST_CASE("refused: names that two sections have") {
  check_refused(after_a(copying("a", "h", "y")), RefusalReason::duplicate_section,
                {"1 and 2", "\"a\""});
  SectionMaker stage("b");
  stage.input("h").output("y").at(kA, Engine::load).run("a.run", {"h"}, {"y"});
  check_refused(after_a(stage), RefusalReason::name_clash,
                {"stage \"a.run\"", "section \"a\"", "section \"b\""});
  const auto with_objects = [](const std::string& name, const std::string& suffix) {
    SectionMaker m = copying(name, "x", name + ".y");
    m.buffer("q" + suffix, ir::BufferKind::fifo, kA).semaphore("s" + suffix, kA);
    m.buffer("buffer", ir::BufferKind::scratch, kA, 64);
    return m;
  };
  check_refused(
      compose::compose({with_objects("a", "").section(), with_objects("b", "").section()}),
      RefusalReason::name_clash, {"buffer \"q\"", "\"a\"", "\"b\""});
  SectionMaker semaphores("b");
  semaphores.semaphore("s", kA).at(kA, Engine::load).run("r", {}, {});
  check_refused(compose::compose({with_objects("a", "").section(), semaphores.section()}),
                RefusalReason::name_clash, {"semaphore \"s\"", "\"a\"", "\"b\""});
  // A resident buffer is not the scratch of another section.
  SectionMaker resident = copying("b", "x", "b.y");
  resident.resident("buffer", kA, 64);
  check_refused(compose::compose({with_objects("a", "").section(), resident.section()}),
                RefusalReason::name_clash, {"buffer \"buffer\""});
  SectionMaker reserved = copying("b", "h", "y");
  reserved.semaphore("rendezvous.arrival", kA);
  check_refused(after_a(reserved), RefusalReason::name_clash, {"rendezvous.arrival"});
  // The second round of a persistent section has a name.
  ComposeOptions persistent;
  persistent.execution = ir::Execution::persistent;
  check_refused(compose_phased({section("a", "x", "y"), section("a (round 2)", "x", "z")},
                               {false, true}, {}, persistent),
                RefusalReason::duplicate_section, {"a (round 2)"});
}

TEST_CASE("refused: tensors of one name that are not the same") {
  const auto with = [](auto change) {
    SectionMaker m = copying("b", "h", "y");
    change(m.tensor_of("h"));
    return after_a(m);
  };
  check_refused(with([](ir::Tensor& t) { t.rows = 8; }), RefusalReason::tensor_shape,
                {"tensor \"h\"", "4 x 4 in section \"a\"", "8 x 4 in section \"b\""});
  check_refused(with([](ir::Tensor& t) { t.cols = 5; }), RefusalReason::tensor_shape, {"4 x 5"});
  check_refused(with([](ir::Tensor& t) { t.dtype = ir::DType::bf16; }), RefusalReason::tensor_dtype,
                {"tensor \"h\"", "f32 in section \"a\"", "bf16 in section \"b\""});
  check_refused(with([](ir::Tensor& t) { t.owner = 1; }), RefusalReason::tensor_owner,
                {"replicated in section \"a\"", "owned by chip 1 in section \"b\""});
  SectionMaker view = copying("b", "h", "y");
  view.output("base");
  view.tensor_of("h").view = ir::View<ir::TensorId>{ir::TensorId(std::uint32_t{2}), 0};
  check_refused(after_a(view), RefusalReason::tensor_view,
                {"no view in section \"a\"", "a view of \"base\" from element 0"});
}

TEST_CASE("refused: declared values and slices that differ") {
  SectionMaker a = copying("a", "x", "h");
  SectionMaker b = copying("b", "h", "y");
  for (SectionMaker* m : {&a, &b}) {
    ir::Tensor& h = m->tensor_of("h");
    h.dtype = ir::DType::i32;
    h.owner = 0;
    h.values = ir::ValueRange{-4, 4};
    m->tensor_of(m == &a ? "x" : "y").dtype = ir::DType::i32;
    const auto id = static_cast<std::uint32_t>(&h - m->raw().tensors.data());
    m->raw().sliced = {{"whole",
                        4,
                        8,
                        ir::Axis::columns,
                        "heads",
                        false,
                        2,
                        {
                            {ir::TensorId(id), {{0, 4}}},
                        }}};
    m->raw().sliced[0].copies = 1;
  }
  const auto both = [&] { return compose::compose({a.unchecked(), b.unchecked()}); };
  auto made = both();
  REQUIRE_MESSAGE(std::holds_alternative<compose::Composed>(made), "");
  const ir::Program& program = std::get<compose::Composed>(made).program;
  REQUIRE(program.sliced.size() == 1);
  CHECK(program.tensors[program.sliced[0].slices[0].tensor.value()].name == "h");
  b.raw().sliced[0].slices[0].ranges = {{4, 8}};
  check_refused(both(), RefusalReason::sliced_tensor, {"\"whole\"", "\"b\""});
  b.tensor_of("h").values = ir::ValueRange{-4, 5};
  check_refused(both(), RefusalReason::tensor_values, {"tensor \"h\"", "[-4, 4]", "[-4, 5]"});
}

TEST_CASE("refused: roles that no role covers") {
  // The host's x, overwritten.
  check_refused(after_a(copying("b", "h", "x")), RefusalReason::tensor_role,
                {"tensor \"x\"", "input in section \"a\"", "output in section \"b\""});
  SectionMaker weight("b");
  weight.tensor("h", TensorRole::weight, Init::external).output("y");
  weight.at(kA, Engine::load).run("b.run", {"h"}, {"y"});
  check_refused(after_a(weight), RefusalReason::tensor_role,
                {"output in section \"a\"", "weight in section \"b\""});
  ComposeOptions options;
  options.carried = {"x"};
  composed(after_a(copying("b", "h", "x"), options));
}

TEST_CASE("refused: initial contents that contradict") {
  const auto with = [](const std::string& tensor, Init init) {
    SectionMaker m = copying("b", tensor, "y");
    m.tensor_of(tensor).init = init;
    return after_a(m);
  };
  // Zeros that a has overwritten, and a host's tensor that is zeros elsewhere.
  check_refused(with("h", Init::zero), RefusalReason::init_clash,
                {"tensor \"h\"", "zero for section \"b\"", "an earlier one writes it"});
  check_refused(with("x", Init::zero), RefusalReason::init_clash,
                {"tensor \"x\"", "zero for section \"b\"", "external for section \"a\""});
  check_refused(with("x", Init::undefined), RefusalReason::init_clash, {"undefined"});
  // Carried: what a finds is not what b finds.
  SectionMaker b = copying("b", "x", "y");
  b.tensor_of("x").init = Init::zero;
  ComposeOptions options;
  options.carried = {"x"};
  check_refused(after_a(b, options), RefusalReason::init_clash, {"tensor \"x\""});
  // On a view in one section and on its base in the other.
  SectionMaker whole = copying("b", "x", "y"), part("c");
  whole.input("w");
  part.output("w").input("part").output("z");
  part.tensor_of("part").view = ir::View<ir::TensorId>{ir::TensorId(std::uint32_t{0}), 0};
  part.at(kA, Engine::load).run("c.run", {"part"}, {"z"});
  check_refused(compose::compose({part.section(), whole.section()}), RefusalReason::init_clash, {});
}

TEST_CASE("refused: contents in memory that lives for a section") {
  SectionMaker m = copying("b", "h", "y");
  m.buffer("table", ir::BufferKind::scratch, kA);
  m.buffer_of("table").init = Init::zero;
  check_refused(after_a(m), RefusalReason::init_lost, {"buffer \"table\"", "\"b\"", "zero"});
  composed(compose::compose({m.section()}));  // alone, nobody else uses its memory
}

TEST_CASE("refused: resident buffers and links of one name that are not the same") {
  const auto pair = [](auto change) {
    SectionMaker a = copying("a", "x", "h"), b = copying("b", "h", "y");
    a.resident("kv", kA, 64).semaphore("go", kA);
    b.resident("kv", kA, 64).semaphore("go", kA);
    for (SectionMaker* m : {&a, &b}) m->raw().links = {{false, 0}};
    change(b);
    return compose::compose({a.section(), b.section()});
  };
  composed(pair([](SectionMaker&) {}));
  const auto buffer = [&](const char* member, auto change) {
    check_refused(pair([&](SectionMaker& b) { change(b.buffer_of("kv")); }),
                  RefusalReason::buffer_clash, {"buffer \"kv\"", "\"a\"", "\"b\"", member});
  };
  buffer("kind", [](ir::Buffer& b) { b.kind = ir::BufferKind::interm; });
  buffer("site", [](ir::Buffer& b) { b.site.x = 1; });
  buffer("space", [](ir::Buffer& b) { b.space = ir::SpaceId(std::uint32_t{1}); });
  buffer("address", [](ir::Buffer& b) { b.address = 128; });
  buffer("page_bytes", [](ir::Buffer& b) { b.page_bytes = 128; });
  buffer("pages", [](ir::Buffer& b) { b.pages = 2; });
  buffer("lifetime",
         [](ir::Buffer& b) { b.resident_from = b.resident_to = ir::SectionId(std::uint32_t{0}); });
  check_refused(
      pair([](SectionMaker& b) {
        b.resident("base", kA, 0);
        b.buffer_of("kv").address = 0;
        b.buffer_of("kv").view = ir::View<ir::BufferId>{ir::BufferId(std::uint32_t{1}), 0};
      }),
      RefusalReason::buffer_clash, {"address"});
  const auto semaphore = [&](const char* member, auto change) {
    check_refused(pair([&](SectionMaker& b) { change(b.raw().semaphores[0]); }),
                  RefusalReason::buffer_clash, {"semaphore \"go\"", "\"a\"", "\"b\"", member});
  };
  semaphore("site", [](ir::Semaphore& s) { s.site.y = 1; });
  semaphore("initial", [](ir::Semaphore& s) { s.initial = 1; });
  semaphore("maximum", [](ir::Semaphore& s) { s.maximum = 3; });
  semaphore("restart", [](ir::Semaphore& s) { s.restart = ir::Restart::reset; });
  semaphore("handoff", [](ir::Semaphore& s) { s.handoff = ir::HandoffId(std::uint32_t{0}); });
}

TEST_CASE("refused: what is carried and nobody declares") {
  ComposeOptions options;
  options.carried = {"h", "kw"};
  check_refused(after_a(copying("b", "h", "y"), options), RefusalReason::unknown_carried,
                {"\"kw\""});
}

TEST_CASE("refused: claims that are lost, of memory that lives for a section") {
  const auto claiming = [](bool resident) {
    SectionMaker m = copying("b", "h", "y");
    m.buffer("sums", ir::BufferKind::scratch, kA);
    if (resident) m.buffer_of("sums").lifetime = ir::Lifetime::resident;
    m.input("w");
    m.raw().postconditions.push_back({m.region("sums"), {m.region("w")}});
    return after_a(m);
  };
  check_refused(claiming(false), RefusalReason::lost_postcondition,
                {"postcondition 1 of section \"b\"", "\"sums\" lives for the section only"});
  composed(claiming(true));
}

TEST_CASE("refused: sections that wrap around in a program that does not") {
  SectionMaker m = copying("b", "h", "y");
  m.raw().execution = ir::Execution::persistent;
  check_refused(after_a(m), RefusalReason::execution_mismatch, {"\"b\""});
  ComposeOptions options;
  options.execution = ir::Execution::persistent;
  composed(after_a(m, options));
}

TEST_CASE("refused: targets that differ, by their first difference") {
  const auto differing = [](const char* member, auto change) {
    ir::Target target = test_target();
    change(target);
    SectionMaker m("b", target);
    m.input("h").output("y").at(kA, Engine::load).run("b.run", {"h"}, {"y"});
    check_refused(after_a(m), RefusalReason::target_mismatch, {"\"a\"", "\"b\"", member});
  };
  differing("name: four chips against five", [](ir::Target& t) { t.name = "five"; });
  differing("chips: 4 against 5", [](ir::Target& t) { t.chips = 5; });
  differing("mesh: [4, 4] against [4, 5]", [](ir::Target& t) { t.mesh_height = 5; });
  differing("engines", [](ir::Target& t) { t.engines.push_back("move"); });
  differing("spaces", [](ir::Target& t) { t.spaces[1].bytes = 1; });
  differing("semaphores.per_site: 16 against 8", [](ir::Target& t) { t.semaphores_per_site = 8; });
  differing("semaphores.maximum: 31 against 63", [](ir::Target& t) { t.semaphore_maximum = 63; });
  differing("handoffs", [](ir::Target& t) { t.handoffs[0].crosses_chips = true; });
  differing("tile: [1, 1] against [1, 2]", [](ir::Target& t) { t.tile_cols = 2; });
  differing("float_type: f32 against bf16", [](ir::Target& t) { t.float_type = ir::DType::bf16; });
  differing("widest_integer", [](ir::Target& t) { t.widest_integer = ir::DType::i32; });
}

TEST_CASE("refused: sites and engines that the target does not have") {
  SectionMaker program("b");
  program.output("y").at({0, 4, 0}, Engine::load).run("b.run", {}, {"y"});
  check_refused(after_a(program), RefusalReason::site_outside_mesh,
                {"\"b\"", "an engine program on [0,4,0]", "4 chips of 4 x 4"});
  SectionMaker buffer = copying("b", "h", "y");
  buffer.buffer("q", ir::BufferKind::fifo, {4, 0, 0});
  check_refused(after_a(buffer), RefusalReason::site_outside_mesh, {"buffer \"q\" on [4,0,0]"});
  SectionMaker semaphore = copying("b", "h", "y");
  semaphore.semaphore("s", {0, 0, 4});
  check_refused(after_a(semaphore), RefusalReason::site_outside_mesh, {"semaphore \"s\""});
  SectionMaker engine = copying("b", "h", "y");
  engine.raw().programs[0].engine = ir::EngineId(std::uint32_t{3});
  check_refused(after_a(engine), RefusalReason::unknown_engine, {"\"b\"", "[0,0,0]", "number 3"});
}

TEST_CASE("refused: orders and boundaries of other sections") {
  const std::vector<ir::Program> two{section("a", "x", "h"), section("b", "h", "y")};
  check_refused(compose_phased(two, {true}), RefusalReason::bad_barriers, {"2 sections"});
  check_refused(compose_phased(two, {true, false, false}), RefusalReason::bad_barriers, {});
  for (const std::vector<std::uint32_t>& order :
       {std::vector<std::uint32_t>{0, 0}, {0, 2}, {0}, {0, 1, 1}}) {
    check_refused(compose::compose_ordered(two, {order, {true, false}}),
                  RefusalReason::bad_barriers, {"2 sections"});
  }
}

TEST_CASE("refused: placements") {
  const std::vector<ir::Program> two{section("a", "x", "h"), section("b", "h", "y")};
  check_refused(compose::compose(two, {Placement::Kind::round_robin_regions, 0}),
                RefusalReason::bad_placement, {"no regions"});
  SectionMaker aside("b");
  aside.input("h").output("y").at({0, 1, 2}, Engine::load).run("b.run", {"h"}, {"y"});
  check_refused(compose::compose({two[0], aside.section()}, {Placement::Kind::own_regions, 0}),
                RefusalReason::bad_placement, {"\"b\"", "column 1, row 2"});
  std::vector<ir::Program> many;
  for (int i = 0; i < 17; ++i)
    many.push_back(section("s" + std::to_string(i), "x", "y" + std::to_string(i)));
  check_refused(compose::compose(many, {Placement::Kind::own_regions, 0}),
                RefusalReason::does_not_fit, {"\"s16\"", "1 x 1", "4 x 4"});
}

TEST_CASE("refused: more semaphores than a site has, without any rendezvous") {
  const auto with = [](const std::string& name, int semaphores) {
    SectionMaker m = copying(name, "x", name + ".y");
    for (int s = 0; s < semaphores; ++s) m.semaphore(name + std::to_string(s), kA);
    return m.section();
  };
  check_refused(compose_phased({with("a", 9), with("b", 8)}, {false, false}),
                RefusalReason::semaphores_exhausted, {"[0,0,0] has 16", "\"b7\""});
  composed(compose_phased({with("a", 8), with("b", 8)}, {false, false}));
  check_refused(compose::compose({with("a", 8), with("b", 7)}), RefusalReason::semaphores_exhausted,
                {"[0,0,0] has 16", "use 15", "needs 2"});
}

TEST_CASE("refused: sections that are no program together") {
  // One FIFO, a declared link, pushed by two engines.
  const auto pushing = [](const std::string& name, Engine engine) {
    SectionMaker m(name);
    m.input("x").buffer("q", ir::BufferKind::fifo, kA);
    m.at(kA, engine).op(ir::OpCode::reserve, "q").run(name + ".run", {"x"}, {"q"});
    m.op(ir::OpCode::push, "q");
    m.raw().links = {{true, 0}};
    return m.section();
  };
  check_refused(compose::compose({pushing("a", Engine::load), pushing("b", Engine::store)}),
                RefusalReason::malformed_program, {"one producing engine program of \"q\""});
  ComposeOptions nameless;
  nameless.name.clear();
  check_refused(after_a(copying("b", "h", "y"), nameless), RefusalReason::malformed_program,
                {"$.name"});
}

TEST_CASE("refused: more of something than is numbered") {
  ComposeOptions options;
  options.most_numbers = 3;  // b has two accesses more
  check_refused(after_a(copying("b", "w", "y"), options), RefusalReason::too_large,
                {"accesses", "\"b\"", "4"});
  options.most_numbers = 9;  // two ops, and a rendezvous of four
  composed(after_a(copying("b", "h", "y"), options));
  options.most_numbers = 5;
  check_refused(after_a(copying("b", "h", "y"), options), RefusalReason::too_large,
                {"2 ops", "1 rendezvous of 4 ops"});
}

TEST_CASE("every reason has a name of its own, and a message with all its parts") {
  std::set<std::string_view> names;
  for (int r = 0; r <= static_cast<int>(RefusalReason::too_large); ++r)
    names.insert(to_string(static_cast<RefusalReason>(r)));
  CHECK(names.size() == static_cast<std::size_t>(RefusalReason::too_large) + 1);
  const compose::Refused refused{RefusalReason::no_ops, "section \"a\" has no ops", "give it ops"};
  CHECK(refused.message() == "no-ops: section \"a\" has no ops; give it ops");
}

}  // namespace
}  // namespace spatialcert::tests
