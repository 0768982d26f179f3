// phase_order against its definition.
#include "compose/composition/phases.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/composition/section_maker.hpp"
#include "tests/counts.hpp"

namespace spatialcert::tests {
namespace {

using compose::PhaseOrder;
using compose::Touches;

bool meet(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](auto x) { return std::find(b.begin(), b.end(), x) != b.end(); });
}

bool depends(const Touches& later, const Touches& earlier) {
  return meet(later.reads, earlier.writes) || meet(later.writes, earlier.reads) ||
         meet(later.writes, earlier.writes);
}

/// The phase of every section, word by word from the definition.
std::vector<std::uint32_t> phases_by_definition(const std::vector<Touches>& touches) {
  std::vector<std::uint32_t> phase;
  for (std::size_t s = 0; s < touches.size(); ++s) {
    for (std::uint32_t candidate = 0;; ++candidate) {
      bool possible = true;
      for (std::size_t e = 0; e < s && possible; ++e) {
        if (depends(touches[s], touches[e])) possible = phase[e] < candidate;
        if (phase[e] == candidate) possible = possible && !meet(touches[s].chips, touches[e].chips);
      }
      if (!possible) continue;
      phase.push_back(candidate);
      break;
    }
  }
  return phase;
}

PhaseOrder by_definition(const std::vector<Touches>& touches) {
  const std::vector<std::uint32_t> phase = phases_by_definition(touches);
  PhaseOrder result;
  for (std::uint32_t s = 0; s < touches.size(); ++s) result.order.push_back(s);
  std::stable_sort(result.order.begin(), result.order.end(),
                   [&](auto a, auto b) { return phase[a] < phase[b]; });
  for (std::size_t i = 0; i < result.order.size(); ++i) {
    result.barrier_after.push_back(i + 1 < result.order.size() &&
                                   phase[result.order[i]] != phase[result.order[i + 1]]);
  }
  return result;
}

std::vector<std::uint32_t> some(std::mt19937_64& random, std::uint32_t most, std::uint32_t kinds) {
  std::vector<std::uint32_t> list(random() % (most + 1));
  for (std::uint32_t& item : list) item = static_cast<std::uint32_t>(random() % kinds);
  return list;
}

TEST_CASE("phase_order does what its definition says") {
  std::mt19937_64 random(20);
  std::uint64_t phases = 0;
  constexpr int kRounds = 6000;
  for (int round = 0; round < kRounds; ++round) {
    const auto names = static_cast<std::uint32_t>(1 + random() % 12);
    const auto chips = static_cast<std::uint32_t>(1 + random() % 5);
    std::vector<Touches> touches(random() % 24);
    for (Touches& t : touches)
      t = {some(random, 3, names), some(random, 2, names), some(random, 3, chips)};
    const PhaseOrder expected = by_definition(touches);
    const PhaseOrder found = compose::phase_order(touches);
    REQUIRE(found.order == expected.order);
    REQUIRE(found.barrier_after == expected.barrier_after);
    phases += static_cast<std::uint64_t>(
        std::count(found.barrier_after.begin(), found.barrier_after.end(), true));
  }
  CHECK(phases > kRounds);
  count("phase orders compared with their definition", kRounds);
}

TEST_CASE("independent sequences that start past the same phase share its phases") {
  // One section on all chips, then on every chip a sequence of its own that depends on it.
  constexpr std::uint32_t kChips = 5, kLength = 7;
  std::vector<Touches> touches{{{}, {0}, {0, 1, 2, 3, 4}}};
  for (std::uint32_t chip = 0; chip < kChips; ++chip) {
    for (std::uint32_t i = 0; i < kLength; ++i) {
      const std::uint32_t own = 1 + chip;
      touches.push_back({{0, own}, {own}, {chip}});
    }
  }
  const PhaseOrder found = compose::phase_order(touches);
  CHECK(found.order == by_definition(touches).order);
  CHECK(std::count(found.barrier_after.begin(), found.barrier_after.end(), true) == kLength);
  for (std::uint32_t i = 0; i < kLength; ++i) {  // phase i + 1: the i-th of every chip
    for (std::uint32_t chip = 0; chip < kChips; ++chip)
      CHECK(found.order[1 + i * kChips + chip] == 1 + chip * kLength + i);
  }
}

TEST_CASE("chips that are free in turns do not make the search start anew") {
  // Chips 0 and 1 alternate for n phases; then sections that need both, all independent.
  std::vector<Touches> touches;
  for (std::uint32_t i = 0; i < 40; ++i) touches.push_back({{0}, {0}, {i % 2}});
  for (std::uint32_t i = 0; i < 40; ++i) touches.push_back({{}, {1 + i}, {1, 0, 1}});
  CHECK(compose::phase_order(touches).order == by_definition(touches).order);
}

TEST_CASE("no sections, and sections without chips or names") {
  CHECK(compose::phase_order({}).order.empty());
  const PhaseOrder found = compose::phase_order({{}, {}, {{3}, {}, {}}, {{}, {3}, {}}});
  CHECK(found.order == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(found.barrier_after == std::vector<bool>{false, false, true, false});
}

TEST_CASE("what a section touches is what its ops touch") {
  SectionMaker m("one");
  const ir::Site here{0, 0, 0}, there{2, 1, 0};
  m.input("x").output("y").output("unused");
  m.tensor("part", ir::TensorRole::input);
  m.tensor_of("part").rows = 2;
  m.tensor_of("part").view = ir::View<ir::TensorId>{ir::TensorId(std::uint32_t{0}), 0};
  m.resident("kv", here, 0).buffer("q", ir::BufferKind::fifo, here, 64);
  m.semaphore("s", there).semaphore("idle", here);
  m.raw().semaphores[0].handoff = ir::HandoffId(std::uint32_t{1});
  m.at(here, Engine::load).op(ir::OpCode::reserve, "q").run("r", {"part", "kv"}, {"q", "y"});
  m.op(ir::OpCode::post, "s");
  m.at({3, 0, 0}, Engine::load);  // an engine program without ops
  compose::TouchNames names;
  using Kind = compose::TouchNames::Kind;
  const Touches touches = compose::touches_of(m.section(), names);
  const auto set = [](std::vector<std::uint32_t> list) {
    return std::set<std::uint32_t>(list.begin(), list.end());
  };
  CHECK(set(touches.reads) ==
        set({names.number(Kind::tensor, "x"), names.number(Kind::buffer, "kv")}));
  CHECK(set(touches.writes) ==
        set({names.number(Kind::tensor, "y"), names.number(Kind::buffer, "q"),
             names.number(Kind::semaphore, "s")}));
  CHECK(set(touches.chips) == set({0, 2}));
  CHECK(names.number(Kind::tensor, "s") != names.number(Kind::semaphore, "s"));
}

}  // namespace
}  // namespace spatialcert::tests
