// Models that no file could hold, as an importer or a composer with a fault might make them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <limits>
#include <string>

#include "ir/validate.hpp"
#include "rich_program.hpp"

namespace spatialcert::ir {
namespace {

using Change = std::function<void(Program&)>;

Program rich() {
  auto result = parse_program(test::kRichProgram, "rich");
  REQUIRE(result.has_value());
  return std::move(result).value();
}

void check_invalid(const Change& change, std::string_view path, std::string_view expected) {
  Program program = rich();
  change(program);
  const Status status = validate(program);
  REQUIRE(status.has_value());
  INFO(status->message());
  CHECK(status->path == path);
  CHECK(status->expected.find(expected) != std::string::npos);
}

constexpr std::uint32_t kFar = 1000;

TEST_CASE("a model that was read is valid") { CHECK_FALSE(validate(rich()).has_value()); }

TEST_CASE("invalid: text that no file can hold") {
  check_invalid([](Program& p) { p.tensors[1].name = std::string("\xff"); }, "$.tensors[1].name",
                "valid UTF-8");
  check_invalid([](Program& p) { p.name = std::string("\xc0\x80"); }, "$.name", "valid UTF-8");
}

TEST_CASE("invalid: ids out of range") {
  check_invalid([](Program& p) { p.tensors[3].view->base = TensorId(kFar); },
                "$.tensors[3].view.of", "a declared tensor");
  check_invalid([](Program& p) { p.buffers[4].view->base = BufferId(kFar); },
                "$.buffers[4].view.of", "a declared buffer");
  check_invalid([](Program& p) { p.buffers[0].space = SpaceId(); }, "$.buffers[0].space",
                "a memory space");
  check_invalid([](Program& p) { p.buffers[1].handoff = HandoffId(kFar); }, "$.buffers[1].handoff",
                "a hand-off of the target");
  check_invalid([](Program& p) { p.buffers[6].resident_to = SectionId(kFar); },
                "$.buffers[6].lifetime", "declared sections");
  check_invalid([](Program& p) { p.buffers[6].resident_to = SectionId(); }, "$.buffers[6].lifetime",
                "and both");
  check_invalid([](Program& p) { p.semaphores[0].handoff = HandoffId(kFar); },
                "$.semaphores[0].handoff", "a hand-off of the target");
  check_invalid([](Program& p) { p.stages[0].section = SectionId(); }, "$.stages[0].section",
                "a declared section");
  check_invalid([](Program& p) { p.edges[0].producer = StageId(); }, "$.edges[0].producer",
                "a declared stage");
  check_invalid([](Program& p) { p.edges[0].buffer = BufferId(kFar); }, "$.edges[0].buffer",
                "a declared buffer");
  check_invalid([](Program& p) { p.edges[0].consumer = StageId(kFar); }, "$.edges[0].consumer",
                "a declared stage");
  check_invalid([](Program& p) { p.edges[0].handoff = HandoffId(kFar); }, "$.edges[0].handoff",
                "a hand-off of the target");
  check_invalid([](Program& p) { p.boundaries[0].after = SectionId(); }, "$.boundaries[0].after",
                "a declared section");
  check_invalid([](Program& p) { p.links[0].object = kFar; }, "$.links[0].fifo",
                "a declared buffer");
  check_invalid([](Program& p) { p.programs[3].engine = EngineId(); }, "$.programs[3].engine",
                "an engine of the target");
  check_invalid([](Program& p) { p.tensors[0].location = kFar; }, "$.tensors[0].source",
                "a known source location");
}

TEST_CASE("invalid: ops that no file can hold") {
  const auto op = [](std::size_t program, std::size_t number,
                     const std::function<void(Op&)>& edit) {
    return [=](Program& p) { edit(p.programs[program].ops[number]); };
  };
  check_invalid(op(0, 5, [](Op& o) { o.object = kFar; }), "$.programs[0].ops[1].post",
                "a declared semaphore");
  check_invalid(op(0, 5, [](Op& o) { o.count = 0; }), "$.programs[0].ops[1].n", "at least 1");
  check_invalid(op(3, 0, [](Op& o) { o.count = -1; }), "$.programs[3].ops[0].value", "at least 1");
  check_invalid(op(0, 5, [](Op& o) { o.body = 1; }), "$.programs[0].ops[1]", "\"repeat\" only");
  check_invalid(op(0, 4, [](Op& o) { o.object = kFar; }), "$.programs[0].ops[0].ops[2].push",
                "a declared buffer");
  check_invalid(op(0, 4, [](Op& o) { o.count = 0; }), "$.programs[0].ops[0].ops[2].n",
                "at least 1");
  check_invalid(op(0, 3, [](Op& o) { o.object = kFar; }), "$.programs[0].ops[0].ops[1].ops[0].run",
                "a declared stage");
  check_invalid(op(0, 3, [](Op& o) { o.accesses = kFar; }),
                "$.programs[0].ops[0].ops[1].ops[0].run", "accesses of the program");
  check_invalid(op(0, 3, [](Op& o) { o.location = kFar; }),
                "$.programs[0].ops[0].ops[1].ops[0].source", "a known source location");
  check_invalid(op(0, 2, [](Op& o) { o.body = 3; }), "$.programs[0].ops[0].ops[1].ops",
                "ends inside the enclosing list");
  check_invalid(op(0, 0, [](Op& o) { o.body = kFar; }), "$.programs[0].ops[0].ops",
                "ends inside the enclosing list");
  check_invalid(op(0, 0, [](Op& o) { o.count = 0; }), "$.programs[0].ops[0].repeat", "at least 1");
  check_invalid([](Program& p) { std::swap(p.programs[0], p.programs[1]); }, "$.programs[1]",
                "engine programs by site and engine");
}

TEST_CASE("invalid: accesses that no file can hold") {
  const auto access = [](std::size_t number, const std::function<void(Program&, Access&)>& edit) {
    return [=](Program& p) { edit(p, p.accesses[p.programs[1].ops[3].first_access + number]); };
  };
  const std::string run = "$.programs[1].ops[0].ops[2]";
  check_invalid(access(3, [](Program&, Access& a) { a.write = false; }), run + ".reads",
                "reads before writes");
  check_invalid(access(1, [](Program&, Access& a) { a.region.object = kFar; }), run + ".reads[1]",
                "a declared tensor");
  check_invalid(access(3, [](Program&, Access& a) { a.region.object = kFar; }), run + ".writes[1]",
                "a declared buffer");
  check_invalid(access(3, [](Program&, Access& a) { a.region.terms = kFar; }), run + ".writes[1]",
                "affine terms of the program");
  const auto term = [&](const std::function<void(AffineTerm&)>& edit) {
    return access(3, [=](Program& p, Access& a) { edit(p.affine_terms[a.region.first_term]); });
  };
  check_invalid(term([](AffineTerm& t) { t.bound = 2; }), run + ".writes[1]", "its 2 bounds");
  check_invalid(term([](AffineTerm& t) { t.level = 1; }), run + ".writes[1].bytes[1].i1",
                "one of the 1 enclosing loops");
  check_invalid(term([](AffineTerm& t) { t.level = 255; }), run + ".writes[1].bytes[1].i255",
                "one of the 1 enclosing loops");
  const auto twice = access(3, [](Program& p, Access& a) {
    const AffineTerm first = p.affine_terms[a.region.first_term];
    a.region.first_term = static_cast<std::uint32_t>(p.affine_terms.size());
    a.region.terms = 2;
    p.affine_terms.insert(p.affine_terms.end(), 2, first);
  });
  check_invalid(twice, run + ".writes[1].bytes[1].i0", "every loop once");
}

TEST_CASE("invalid: spans that no file can hold") {
  const auto span = [](std::size_t number, const std::function<void(Span&)>& edit) {
    return [=](Program& p) { edit(p.programs[0].spans[number]); };
  };
  check_invalid(span(0, [](Span& s) { s.end = kFar; }), "$.programs[0].ops", "begin < end <= 6");
  check_invalid(span(0, [](Span& s) { s.end = 0; }), "$.programs[0].ops", "begin < end <= 6");
  check_invalid(span(0, [](Span& s) { s.end = 3; }), "$.programs[0].ops[0].ops[1].ops[0]",
                "do not cut a loop");
  check_invalid(span(0, [](Span& s) { s.section = SectionId(); }), "$.programs[0]", "either");
  check_invalid(span(0, [](Span& s) { s.boundary = BoundaryId(std::uint32_t{0}); }),
                "$.programs[0]", "either");
  check_invalid(span(0, [](Span& s) { s.section = SectionId(kFar); }), "$.programs[0].ops[0]",
                "a declared section");
  check_invalid(span(1, [](Span& s) { s.boundary = BoundaryId(kFar); }), "$.programs[0].ops[1]",
                "a declared boundary");
}

TEST_CASE("invalid: values that no file can hold") {
  check_invalid([](Program& p) { p.target.semaphore_maximum = -1; }, "$.target.semaphores.maximum",
                "at least 0");
  check_invalid([](Program& p) { p.target.chips = 0; }, "$.target.chips", "at least 1");
  check_invalid([](Program& p) { p.target.mesh_width = 0; }, "$.target.mesh", "at least [1, 1]");
  check_invalid([](Program& p) { p.target.tile_cols = 0; }, "$.target.tile", "at least [1, 1]");
  check_invalid([](Program& p) { p.semaphores[0].maximum = -1; }, "$.semaphores[0].maximum",
                "the target's 15");
  check_invalid([](Program& p) { p.semaphores[0].initial = -1; }, "$.semaphores[0].initial",
                "its maximum of 4");
  check_invalid([](Program& p) { p.stages[1].scale = std::numeric_limits<double>::infinity(); },
                "$.stages[1].scale", "finite");
  check_invalid([](Program& p) { p.stages[0].scale = 2.0; }, "$.stages[0].scale",
                "only on a stage");
  check_invalid([](Program& p) { p.sections[0].numerics.reason = std::string("none"); },
                "$.sections[0].numerics", "no reason on exact numerics");
  check_invalid([](Program& p) { p.buffers[0].resident_from = SectionId(std::uint32_t{0}); },
                "$.buffers[0].lifetime", "of a resident buffer only");
  check_invalid(
      [](Program& p) {
        Region& region = p.postconditions[0].region;
        region.first_term = static_cast<std::uint32_t>(p.affine_terms.size());
        region.terms = 1;
        p.affine_terms.push_back({0, 0, 1});
      },
      "$.postconditions[0].region", "constant bounds");
}

TEST_CASE("long chains of views and long cycles are handled in a row") {
  Program program = rich();
  const std::uint32_t first = static_cast<std::uint32_t>(program.buffers.size());
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    Buffer view = program.buffers[5];
    view.name = fmt::format("view {}", i);
    view.view = View<BufferId>{BufferId(i == 0 ? 5U : first + i - 1), 0};
    program.buffers.push_back(view);
  }
  CHECK_FALSE(validate(program).has_value());
  const auto again = parse_program(serialise(program), "chain");
  CHECK(again.has_value());
  program.buffers[first].view->base = BufferId(first + 199'999U);
  const Status status = validate(program);
  REQUIRE(status.has_value());
  CHECK(status->found == "a cycle of views");
}

}  // namespace
}  // namespace spatialcert::ir
