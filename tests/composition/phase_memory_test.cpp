// Memory of phases: against every byte of every buffer of every phase.
#include "compose/composition/phase_memory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <random>

#include "compose/composition/composer.hpp"
#include "ir/sections.hpp"
#include "ir/validate.hpp"
#include "tests/composition/section_maker.hpp"
#include "tests/counts.hpp"

namespace spatialcert::tests {
namespace {

using compose::MemoryUse;
using compose::RefusalReason;
using compose::separate_phase_memory;

constexpr ir::Site kA{0, 0, 0}, kB{0, 1, 0};

struct Piece {
  ir::Site site;
  std::uint64_t address = 0;
  std::uint64_t pages = 1;
};

/// A section that uses a scratch buffer per piece, and reads the resident buffers named.
SectionMaker using_memory(const std::string& name, const std::vector<Piece>& pieces) {
  SectionMaker m(name);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string buffer = fmt::format("{}.b{}", name, i);
    m.buffer(buffer, ir::BufferKind::scratch, pieces[i].site, pieces[i].address, pieces[i].pages);
    m.at(pieces[i].site, Engine::load)
        .run(fmt::format("{}.r{}", name, i), std::vector<std::string>{}, {buffer});
  }
  return m;
}

ir::Program together(const std::vector<ir::Program>& sections, std::vector<bool> barrier_after,
                     bool persistent = false) {
  compose::ComposeOptions options;
  if (persistent) options.execution = ir::Execution::persistent;
  return composed(compose_phased(sections, barrier_after, {}, options)).program;
}

std::vector<MemoryUse> separated(ir::Program& program) {
  const auto outcome = separate_phase_memory(program);
  if (const auto* refused = std::get_if<compose::Refused>(&outcome)) FAIL(refused->message());
  const ir::Status wrong = ir::validate(program);
  REQUIRE_MESSAGE(!wrong, wrong->message());
  return std::get<std::vector<MemoryUse>>(outcome);
}

std::uint64_t address(const ir::Program& program, const std::string& name) {
  for (const ir::Buffer& b : program.buffers) {
    if (b.name == name) return b.address;
  }
  FAIL("no buffer " << name);
  return 0;
}

TEST_CASE("the later section of a phase moves past the earlier one, as a whole") {
  const auto a = using_memory("a", {{kA, 0, 3}, {kB, 0, 1}}).section();
  const auto b = using_memory("b", {{kA, 64, 1}, {kA, 256, 1}, {kB, 640, 1}}).section();
  ir::Program program = together({a, b}, {false, false});
  const auto uses = separated(program);
  CHECK(address(program, "a.b0") == 0);
  CHECK(address(program, "b.b0") == 192);
  CHECK(address(program, "b.b1") == 384);  // the gap stays
  CHECK(address(program, "b.b2") == 640);  // past it already
  REQUIRE(uses.size() == 2);
  CHECK(uses[0].site == kA);
  CHECK(uses[0].bytes == 448);
  CHECK(uses[1].bytes == 704);
}

TEST_CASE("sections that a boundary separates, or that stand elsewhere, keep their layout") {
  const auto a = using_memory("a", {{kA, 0, 3}}).section();
  const auto b = using_memory("b", {{kA, 64, 1}}).section();
  const auto c = using_memory("c", {{kB, 0, 1}}).section();
  ir::Program program = together({a, b, c}, {true, false, false});
  const auto uses = separated(program);
  CHECK(address(program, "b.b0") == 64);
  CHECK(address(program, "c.b0") == 0);
  CHECK(uses[0].bytes == 192);
}

TEST_CASE("memories move apart from one another, and keep their alignment") {
  SectionMaker a = using_memory("a", {{kA, 0, 1}, {kA, 0, 1}});
  SectionMaker b = using_memory("b", {{kA, 0, 1}, {kA, 10, 1}});
  a.buffer_of("a.b1").space = b.buffer_of("b.b1").space = ir::SpaceId(std::uint32_t{1});
  a.buffer_of("a.b0").page_bytes = 65;
  a.raw().accesses[0].region.bound[1] = 65;
  ir::Program program = together({a.section(), b.section()}, {false, false});
  const auto uses = separated(program);
  CHECK(address(program, "b.b0") == 128);  // sram is aligned to 64
  CHECK(address(program, "b.b1") == 64);   // dram is not
  REQUIRE(uses.size() == 2);
  CHECK(uses[1].space == ir::SpaceId(std::uint32_t{1}));
}

TEST_CASE("resident bytes are kept clear and stay") {
  SectionMaker a = using_memory("a", {{kA, 0, 1}});
  a.resident("kv", kA, 64).at(kA, Engine::load).run("a.kv", {}, {"kv"});
  const auto b = using_memory("b", {{kA, 0, 2}}).section();  // collides with kv, phases later
  const auto c = using_memory("c", {{kA, 0, 1}}).section();
  const auto d = using_memory("d", {{kA, 0, 1}}).section();
  ir::Program program = together({a.section(), b, c, d}, {true, true, false, false});
  separated(program);
  CHECK(address(program, "kv") == 64);
  CHECK(address(program, "a.b0") == 0);
  CHECK(address(program, "b.b0") == 128);
  CHECK(address(program, "c.b0") == 0);    // does not collide
  CHECK(address(program, "d.b0") == 128);  // past c, and then past kv
}

TEST_CASE("a resident buffer is in the way only while it is alive") {
  SectionMaker a = using_memory("a", {{kA, 64, 1}}), b = using_memory("b", {{kA, 0, 1}});
  a.resident("kv", kA, 0);
  a.buffer_of("kv").resident_from = a.buffer_of("kv").resident_to = ir::SectionId(std::uint32_t{0});
  ir::Program program = together({a.section(), b.section()}, {true, false});
  separated(program);
  CHECK(address(program, "b.b0") == 0);
}

TEST_CASE("views follow their base") {
  SectionMaker b = using_memory("b", {{kA, 0, 4}});
  b.buffer("inner", ir::BufferKind::scratch, kA, 64, 2);
  b.buffer("innermost", ir::BufferKind::scratch, kA, 128);
  b.buffer_of("inner").view = ir::View<ir::BufferId>{ir::BufferId(std::uint32_t{0}), 64};
  b.buffer_of("innermost").view = ir::View<ir::BufferId>{ir::BufferId(std::uint32_t{1}), 64};
  ir::Program program =
      together({using_memory("a", {{kA, 0, 1}}).section(), b.section()}, {false, false});
  separated(program);
  CHECK(address(program, "b.b0") == 64);
  CHECK(address(program, "inner") == 128);
  CHECK(address(program, "innermost") == 192);
}

TEST_CASE("FIFOs move, and those of guaranteed depth have no address") {
  SectionMaker m("b");
  m.buffer("q", ir::BufferKind::fifo, kA, 0, 2).buffer("deep", ir::BufferKind::fifo, kA, 0, 2);
  m.buffer_of("deep").depth = ir::Depth::guaranteed;
  m.at(kA, Engine::store).op(ir::OpCode::reserve, "q").run("r", {}, {"q"});
  m.op(ir::OpCode::push, "q").op(ir::OpCode::reserve, "deep");
  ir::Program program =
      together({using_memory("a", {{kA, 0, 1}}).section(), m.section()}, {false, false});
  separated(program);
  CHECK(address(program, "q") == 64);
  CHECK(address(program, "deep") == 0);
}

TEST_CASE("memory that is too small is refused, and the program left alone") {
  const auto a = using_memory("a", {{kA, 0, 40}}).section();
  const auto b = using_memory("b", {{kA, 0, 25}}).section();
  ir::Program program = together({a, b}, {false, false});
  const auto outcome = separate_phase_memory(program);
  const auto* refused = std::get_if<compose::Refused>(&outcome);
  REQUIRE(refused != nullptr);
  CHECK(refused->reason == RefusalReason::memory_exhausted);
  CHECK(refused->what ==
        "sram of [0,0,0] must reach to byte 4160 for section \"b\", and it has 4096 bytes");
  CHECK(address(program, "b.b0") == 0);
  ir::Program apart = together({a, b}, {true, false});
  CHECK(separated(apart)[0].bytes == 2560);
  SectionMaker resident("r");
  resident.resident("kv", kA, 4096).at(kA, Engine::load).run("r", {}, {"kv"});
  ir::Program beyond = resident.section();
  CHECK(std::holds_alternative<compose::Refused>(separate_phase_memory(beyond)));
}

TEST_CASE("persistent without a closed wrap-around: the last phase is the first one") {
  const auto a = using_memory("a", {{kA, 0, 1}}).section();
  const auto b = using_memory("b", {{kA, 0, 2}}).section();
  const auto c = using_memory("c", {{kA, 0, 1}}).section();
  ir::Program open = together({a, b, c}, {true, true, false}, true);
  separated(open);
  CHECK(address(open, "a.b0") == 0);
  CHECK(address(open, "b.b0") == 0);
  CHECK(address(open, "c.b0") == 64);
  ir::Program closed = together({a, b, c}, {true, true, true}, true);
  separated(closed);
  CHECK(address(closed, "c.b0") == 0);
}

TEST_CASE("a buffer resident from the first to the last section is alive between them") {
  SectionMaker first = using_memory("a", {{kA, 64, 1}}), last = using_memory("c", {{kA, 64, 1}});
  for (SectionMaker* m : {&first, &last}) {
    m->resident("kv", kA, 0);
    ir::Buffer& kv = m->buffer_of("kv");
    kv.resident_from = kv.resident_to = ir::SectionId(std::uint32_t{0});
  }
  const auto b = using_memory("b", {{kA, 0, 1}}).section();
  for (const bool closed : {false, true}) {
    ir::Program program =
        together({first.section(), b, last.section()}, {true, true, closed}, true);
    separated(program);
    CHECK(address(program, "b.b0") == 64);
  }
}

/// Which phases a buffer is alive in, by the text: a section's own while that section runs,
/// residents from one section to another, what nothing touches always.
std::vector<bool> alive(const ir::Program& program, std::uint32_t buffer) {
  const ir::Phases phases = ir::phases_of(program);
  std::vector<bool> result(phases.count, false);
  const ir::Buffer& b = program.buffers[buffer];
  if (b.lifetime == ir::Lifetime::resident) {
    const std::uint32_t from = b.resident_from.valid() ? b.resident_from.value() : 0;
    const std::uint32_t to = b.resident_from.valid()
                                 ? b.resident_to.value()
                                 : static_cast<std::uint32_t>(phases.of.size() - 1);
    for (std::uint32_t s = from; s <= to; ++s) result[phases.of[s]] = true;
    return result;
  }
  bool touched = false;
  for (const auto& one : program.programs) {
    for (const ir::Span& span : one.spans) {
      for (std::uint32_t i = span.begin; i < span.end; ++i) {
        const ir::Op& op = one.ops[i];
        for (std::uint32_t a = 0; op.code == ir::OpCode::run && a < op.accesses; ++a) {
          const ir::Region& region = program.accesses[op.first_access + a].region;
          if (region.kind == ir::RegionKind::tensor || region.object != buffer) continue;
          result[phases.of[span.section.value()]] = true;
          touched = true;
        }
      }
    }
  }
  if (!touched) result.assign(phases.count, true);
  return result;
}

/// Two buffers that share a byte in some phase, and where; empty if there are none.
std::string collision(const ir::Program& program) {
  std::map<std::tuple<std::uint32_t, ir::Site, std::uint32_t, std::uint64_t>, std::string> owner;
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const ir::Buffer& buffer = program.buffers[b];
    const std::vector<bool> phases = alive(program, b);
    for (std::uint32_t p = 0; p < phases.size(); ++p) {
      // The units of these tests are 64 bytes.
      for (std::uint64_t at = buffer.address; phases[p] && at < buffer.address + buffer.bytes();
           at += 64) {
        const auto [it, is_new] =
            owner.emplace(std::tuple(p, buffer.site, buffer.space.value(), at), buffer.name);
        if (!is_new) return fmt::format("{} and {} in phase {}", it->second, buffer.name, p);
      }
    }
  }
  return {};
}

TEST_CASE("random sections: no byte is shared in a phase, and nothing moves without need") {
  std::mt19937_64 random(11);
  int moved = 0, exhausted = 0;
  constexpr int kRounds = 1500;
  for (int round = 0; round < kRounds; ++round) {
    const auto count = static_cast<std::uint32_t>(1 + random() % 6);
    const bool persistent = random() % 3 == 0;
    std::vector<ir::Program> sections;
    std::vector<bool> barrier_after;
    for (std::uint32_t s = 0; s < count; ++s) {
      std::vector<Piece> pieces;
      const std::uint64_t base = 64 * (random() % 4);
      std::map<std::uint32_t, std::uint64_t> next;
      for (std::uint64_t i = 0; i < 1 + random() % 3; ++i) {
        const auto x = static_cast<std::uint32_t>(random() % 2);
        const std::uint64_t pages = 1 + random() % 3;
        pieces.push_back({{0, x, 0}, base + next[x], pages});
        next[x] += 64 * (pages + random() % 2);
      }
      SectionMaker m = using_memory(fmt::format("s{}", s), pieces);
      if (random() % 3 == 0) {  // high up on its own line, so that residents do not collide
        const std::uint64_t line = 256 + 192 * s + 64 * (random() % 2);
        m.resident(fmt::format("kv{}", s), {0, static_cast<std::uint32_t>(random() % 2), 0}, line);
        ir::Buffer& kv = m.raw().buffers.back();
        if (random() % 2 == 0) kv.resident_from = kv.resident_to = ir::SectionId(std::uint32_t{0});
      }
      sections.push_back(m.section());
      barrier_after.push_back(random() % 2 == 0);
    }
    // Exactly one closed boundary would be doubled: another program than the one that is meant.
    if (persistent && std::count(barrier_after.begin(), barrier_after.end(), true) == 1)
      barrier_after.assign(count, false);
    ir::Program program = together(sections, barrier_after, persistent);
    for (ir::Buffer& b : program.buffers) {  // some live on for a while
      if (b.resident_from.valid() && random() % 2 == 0)
        b.resident_to = ir::SectionId(static_cast<std::uint32_t>(
            b.resident_from.value() + random() % (count - b.resident_from.value())));
    }
    const ir::Program before = program;
    const auto outcome = separate_phase_memory(program);
    if (std::holds_alternative<compose::Refused>(outcome)) {
      ++exhausted;
      continue;
    }
    CAPTURE(round);
    CHECK(collision(program) == "");
    bool same = true;
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
      same = same && program.buffers[b].address == before.buffers[b].address;
      CHECK(program.buffers[b].address >= before.buffers[b].address);
      CHECK(program.buffers[b].address % 64 == 0);
      if (program.buffers[b].lifetime == ir::Lifetime::resident)
        CHECK(program.buffers[b].address == before.buffers[b].address);
    }
    if (!same) ++moved;
    const ir::Program once = program;
    separated(program);  // again: nothing is left to move
    for (std::size_t b = 0; b < program.buffers.size(); ++b)
      CHECK(program.buffers[b].address == once.buffers[b].address);
    for (const MemoryUse& use : std::get<std::vector<MemoryUse>>(outcome)) {
      std::uint64_t highest = 0;
      for (const ir::Buffer& b : program.buffers) {
        if (b.site == use.site && b.space == use.space)
          highest = std::max(highest, b.address + b.bytes());
      }
      CHECK(use.bytes == highest);
    }
  }
  CHECK(moved > kRounds / 4);
  CHECK(exhausted < kRounds / 10);
  count("memory layouts compared byte by byte", kRounds);
}

}  // namespace
}  // namespace spatialcert::tests
