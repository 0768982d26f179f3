// Which buffers are there at the same time, in programs of several phases. The rules for such
// programs are still missing, so their layout is built by hand here.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "proofs/memory/layout.hpp"
#include "proofs/memory/recompute.hpp"
#include "proofs/memory/rule.hpp"
#include "tests/proofs/fixture.hpp"

namespace spatialcert::tests {
namespace {

using proofs::memory::occupancies;

constexpr std::uint32_t kSections = 3;

/// Ops that use a buffer, each in its own way, and nothing else. Buffers: FIFO q, base b, v a view
/// of b, u a view of v, c beside them.
Draft objects() {
  Draft d("objects");
  d.tensor("x", "external").tensor("w", "external");
  d.fifo("q", 1).buffer("b").buffer("v", R"("view": {"of": "b"})");
  d.buffer("u", R"("view": {"of": "v"})").buffer("c").buffer("unused");
  d.fifo("deep", 1, R"("depth": "guaranteed")");
  return d.engine("load", {"reserve q", "push q", "front q", "pop q", "run load x > b",
                           "run load v > c", "run load x w u c", "run load c", "run load x"});
}

/// Buffers that op number `op` of `objects` uses.
std::set<std::string> uses(std::uint32_t op) {
  const std::vector<std::set<std::string>> all{{"q"},      {"q"},      {"q"}, {"q"}, {"b"},
                                               {"b", "c"}, {"b", "c"}, {"c"}, {}};
  return all.at(op);
}

/// Three sections; the ops of `spans[i]` belong to section i, the rest to the boundary after the
/// first.
ir::Program in_sections(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& spans,
                        std::uint32_t closed) {
  ir::Program p = objects().program();
  p.sections.assign(kSections, p.sections.front());
  for (std::uint32_t b = 0; b < 2; ++b)
    p.boundaries.push_back({ir::SectionId(b), (closed >> b & 1U) != 0});
  auto& list = p.programs.front().spans;
  list.clear();
  for (std::uint32_t s = 0; s < spans.size(); ++s)
    list.push_back({ir::SectionId(s), {}, spans[s].first, spans[s].second});
  return p;
}

std::uint32_t phase_of(std::uint32_t section, std::uint32_t closed) {
  std::uint32_t phase = 0;
  for (std::uint32_t b = 0; b < section; ++b) phase += closed >> b & 1U;
  return phase;
}

/// Phases in which the buffer is found.
std::set<std::uint32_t> found(const ir::Program& program, const std::string& buffer) {
  std::set<std::uint32_t> out;
  for (const auto& o : occupancies(program)) {
    for (const ir::BufferId b : o.buffers) {
      if (program.buffers[b.value()].name == buffer) CHECK(out.insert(o.phase).second);
    }
  }
  return out;
}

TEST_CASE("occupancy: a buffer of a section lives in the phases that use it, else in all") {
  for (std::uint32_t closed = 0; closed < 4; ++closed) {
    for (std::uint32_t first = 0; first <= 9; ++first) {
      for (std::uint32_t second = first; second <= 9; ++second) {
        CAPTURE(closed);
        CAPTURE(first);
        CAPTURE(second);
        const auto program = in_sections({{0, first}, {first, second}, {second, 9}}, closed);
        std::set<std::uint32_t> all;
        for (std::uint32_t s = 0; s < kSections; ++s) all.insert(phase_of(s, closed));
        for (const std::string buffer : {"q", "b", "c", "unused"}) {
          std::set<std::uint32_t> expected;
          for (std::uint32_t op = 0; op < 9; ++op) {
            const std::uint32_t section = (op >= first ? 1 : 0) + (op >= second ? 1 : 0);
            if (uses(op).contains(buffer)) expected.insert(phase_of(section, closed));
          }
          // A page may be on its way in the phases between those that use its FIFO.
          for (std::uint32_t between = 0; buffer == "q" && between < kSections; ++between) {
            if (expected.empty() || between < *expected.begin()) continue;
            if (between < *expected.rbegin()) expected.insert(between);
          }
          CHECK(found(program, buffer) == (expected.empty() ? all : expected));
        }
        for (const std::string unplaced : {"v", "u", "deep"})
          CHECK(found(program, unplaced).empty());
      }
    }
  }
}

TEST_CASE("occupancy: ops of a boundary belong to the phase that it ends") {
  auto program = in_sections({{0, 3}, {4, 4}, {4, 9}}, 3);
  program.programs[0].spans.push_back({{}, ir::BoundaryId(0U), 3, 4});
  CHECK(found(program, "q") == std::set<std::uint32_t>{0});
  program.programs[0].spans.back().boundary = ir::BoundaryId(1U);
  CHECK(found(program, "q") == std::set<std::uint32_t>{0, 1});
}

TEST_CASE("occupancy: what begins with contents is there from the first phase on") {
  // c is used in the second section only, b and its view v in the first two.
  auto program = in_sections({{0, 5}, {5, 9}, {9, 9}}, 3);
  CHECK(found(program, "c") == std::set<std::uint32_t>{1});
  program.buffers[4].init = ir::Init::zero;
  CHECK(found(program, "c") == std::set<std::uint32_t>{0, 1});
  program = in_sections({{0, 4}, {4, 4}, {4, 9}}, 3);
  CHECK(found(program, "b") == std::set<std::uint32_t>{2});
  ir::Buffer& u = program.buffers[3];
  REQUIRE(u.name == "u");
  u.init = ir::Init::external;  // a view of a view of b
  CHECK(found(program, "b") == std::set<std::uint32_t>{0, 1, 2});
  CHECK(found(program, "c") == std::set<std::uint32_t>{2});
  // Resident in the second section.
  program = in_sections({{0, 4}, {4, 9}, {9, 9}}, 3);
  program.buffers[4].lifetime = ir::Lifetime::resident;
  program.buffers[4].resident_from = program.buffers[4].resident_to = ir::SectionId(1U);
  CHECK(found(program, "c") == std::set<std::uint32_t>{1});
  program.buffers[4].init = ir::Init::zero;
  CHECK(found(program, "c") == std::set<std::uint32_t>{0, 1});
}

TEST_CASE("occupancy: a FIFO that several phases use is there in those between, or in all") {
  auto program = in_sections({{0, 2}, {2, 2}, {2, 9}}, 3);
  CHECK(found(program, "q") == std::set<std::uint32_t>{0, 1, 2});
  program = in_sections({{0, 0}, {0, 2}, {2, 9}}, 3);
  CHECK(found(program, "q") == std::set<std::uint32_t>{1, 2});
  program.execution = ir::Execution::persistent;
  program.boundaries.push_back({ir::SectionId(2U), true});
  CHECK(found(program, "q") == std::set<std::uint32_t>{0, 1, 2});
  // All in one phase: empty when it ends.
  program = in_sections({{0, 0}, {0, 9}, {9, 9}}, 3);
  program.execution = ir::Execution::persistent;
  program.boundaries.push_back({ir::SectionId(2U), true});
  CHECK(found(program, "q") == std::set<std::uint32_t>{1});
}

TEST_CASE(
    "occupancy: what is kept until behind the last boundary is there in the phases before it") {
  // The last section is behind the last boundary: it is of the first phase, after all others.
  const auto persistent = [](const std::vector<std::pair<std::uint32_t, std::uint32_t>>& spans) {
    ir::Program p = in_sections(spans, 3);
    p.execution = ir::Execution::persistent;
    return p;
  };
  // A scratch buffer that begins with contents and is read there.
  ir::Program last = persistent({{0, 6}, {6, 7}, {7, 9}});
  CHECK(found(last, "c") == std::set<std::uint32_t>{0, 1});
  last = persistent({{0, 5}, {5, 5}, {7, 9}});
  CHECK(found(last, "c") == std::set<std::uint32_t>{0});
  last.buffers[4].init = ir::Init::zero;
  CHECK(found(last, "c") == std::set<std::uint32_t>{0, 1});
  last = persistent({{5, 9}, {9, 9}, {9, 9}});
  last.buffers[4].init = ir::Init::zero;
  CHECK(found(last, "c") == std::set<std::uint32_t>{0});
  // A FIFO that is filled before the first boundary and emptied there.
  CHECK(found(persistent({{0, 2}, {2, 2}, {2, 9}}), "q") == std::set<std::uint32_t>{0, 1});
  CHECK(found(persistent({{0, 4}, {4, 4}, {4, 9}}), "q") == std::set<std::uint32_t>{0});
  CHECK(found(persistent({{4, 9}, {4, 4}, {0, 4}}), "q") == std::set<std::uint32_t>{0});
  // A buffer that is resident up to there.
  last = persistent({{5, 9}, {9, 9}, {9, 9}});
  last.buffers[4].lifetime = ir::Lifetime::resident;
  last.buffers[4].resident_from = ir::SectionId(1U);
  last.buffers[4].resident_to = ir::SectionId(2U);
  CHECK(found(last, "c") == std::set<std::uint32_t>{0, 1});
  // One that is resident there only, and begins with contents that no op touches: they must last
  // until the section that they are meant for.
  last.buffers[4].resident_from = ir::SectionId(2U);
  last.programs.front().spans[0].begin = last.programs.front().spans[0].end;
  CHECK(found(last, "c") == std::set<std::uint32_t>{0});
  last.buffers[4].init = ir::Init::external;
  CHECK(found(last, "c") == std::set<std::uint32_t>{0, 1});
}

TEST_CASE("occupancy: a FIFO is there where a page of it is only looked at") {
  // Reserved, pushed and fronted, each in a phase of its own, and never popped.
  Draft d("looked at");
  ir::Program p = d.fifo("q", 1).engine("load", {"reserve q", "push q", "front q"}).program();
  p.sections.assign(kSections, p.sections.front());
  p.programs.front().spans.clear();
  for (std::uint32_t s = 0; s < kSections; ++s) {
    if (s + 1 < kSections) p.boundaries.push_back({ir::SectionId(s), true});
    p.programs.front().spans.push_back({ir::SectionId(s), {}, s, s + 1});
  }
  CHECK(found(p, "q") == std::set<std::uint32_t>{0, 1, 2});
}

TEST_CASE("occupancy: a resident buffer lives from its first to its last section") {
  for (std::uint32_t closed = 0; closed < 4; ++closed) {
    for (std::uint32_t from = 0; from < kSections; ++from) {
      for (std::uint32_t to = from; to < kSections; ++to) {
        auto program = in_sections({{0, 9}}, closed);
        ir::Buffer& c = program.buffers[4];
        REQUIRE(c.name == "c");
        c.lifetime = ir::Lifetime::resident;
        // All ops are of section 0, and one of them uses c.
        std::set<std::uint32_t> all, some{phase_of(0, closed)};
        for (std::uint32_t s = 0; s < kSections; ++s) {
          all.insert(phase_of(s, closed));
          if (from <= s && s <= to) some.insert(phase_of(s, closed));
        }
        CHECK(found(program, "c") == all);
        c.resident_from = ir::SectionId(from);
        c.resident_to = ir::SectionId(to);
        CHECK(found(program, "c") == some);
      }
    }
  }
}

/// Buffers of 64 bytes at the address 0 of two sites and two spaces.
Draft apart() {
  Draft d("apart");
  d.member("target", R"({"name": "t", "mesh": [2, 1], "spaces": [{"name": "sram", "bytes": 64},
                         {"name": "dram", "bytes": 64}]})");
  return d.buffer("a").buffer("b").buffer("c").engine("load", {"run load > a"});
}

TEST_CASE("occupancy: sites and spaces have bytes of their own") {
  ir::Program program = apart().program();
  auto& buffers = program.buffers;
  for (ir::Buffer& b : buffers) b.address = 0;
  buffers[1].site.x = 1;
  buffers[2].space = ir::SpaceId(1U);
  CHECK(occupancies(program).size() == 3);
  Fixture f(program);
  const auto b = [](std::uint32_t n) { return ir::BufferId(n); };
  // By site, then space.
  const proofs::memory::Witness good{{{b(0)}, {b(2)}, {b(1)}}};
  CHECK(outcome(proofs::memory::check(f.subject, good)) == "accepted");
  for (const std::uint32_t moved : {0U, 1U, 2U}) {
    CAPTURE(moved);
    f.program.buffers[moved].address = 4;
    CHECK(outcome(proofs::memory::check(f.subject, good)) ==
          rejected(proofs::Rejected::Reason::out_of_range));
    f.program.buffers[moved].address = 0;
  }
}

TEST_CASE("replay: only buffers that are placed can be out of place") {
  Draft d("not placed");
  d.buffer("b").buffer("v", R"("page_bytes": 8, "view": {"of": "b", "offset": 2})");
  d.fifo("q", 1, R"("depth": "guaranteed", "address": 4094)").engine("load", {"run load > b"});
  const ir::Program program = d.program();
  Fixture f(program);
  CHECK(outcome(proofs::memory::check(f.subject, {{{ir::BufferId(0U)}}})) == "accepted");
  for (const auto kind : {proofs::Kind::misaligned, proofs::Kind::out_of_memory}) {
    for (const std::uint32_t b : {0U, 1U, 2U}) {
      proofs::Counterexample c;
      c.kind = kind;
      c.buffers = {ir::BufferId(b)};
      CHECK(replayed(program, c) != "reproduced");
    }
  }
}

TEST_CASE("replay: buffers of different phases share bytes without harm") {
  auto program = in_sections({{0, 5}, {5, 7}, {7, 9}}, 3);
  program.buffers[1].lifetime = ir::Lifetime::section;
  program.buffers[0].address = program.buffers[4].address;  // q and c
  proofs::Counterexample c;
  c.kind = proofs::Kind::overlap;
  c.buffers = {ir::BufferId(0U), ir::BufferId(4U)};
  c.value = static_cast<std::int64_t>(program.buffers[0].address);
  CHECK(replayed(program, c) != "reproduced");
  for (ir::Boundary& b : program.boundaries) b.closed = false;
  CHECK(replayed(program, c) == "reproduced");
}

}  // namespace
}  // namespace spatialcert::tests
