// Regions: nothing overlaps, nothing leaves the mesh, and what fits row by row is placed.
#include "compose/composition/placement.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

#include "tests/composition/section_maker.hpp"

namespace spatialcert::tests {
namespace {

using compose::Offset;
using compose::Placement;

/// A section with an engine program in two corners of a rectangle, on each of the chips.
ir::Program rectangle(const std::string& name, std::uint32_t width, std::uint32_t height,
                      const std::vector<std::uint32_t>& chips) {
  SectionMaker m(name);
  int run = 0;
  for (const std::uint32_t chip : chips) {
    for (const ir::Site site : {ir::Site{chip, 0, 0}, ir::Site{chip, width - 1, height - 1}})
      m.at(site, Engine::load).run(name + std::to_string(run++), {}, {});
  }
  return m.section();
}

std::vector<Offset> placed(const std::vector<ir::Program>& sections, const Placement& placement) {
  const auto outcome = compose::place_sections(sections, placement);
  REQUIRE(std::holds_alternative<std::vector<Offset>>(outcome));
  return std::get<std::vector<Offset>>(outcome);
}

TEST_CASE("regions are packed row by row") {
  const std::vector<ir::Program> sections{rectangle("a", 2, 1, {0}), rectangle("b", 2, 2, {0}),
                                          rectangle("c", 1, 1, {0}), rectangle("d", 1, 1, {1}),
                                          rectangle("e", 3, 1, {0, 1})};
  const auto at = placed(sections, {Placement::Kind::own_regions, 0});
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> expected{
      {0, 0}, {2, 0}, {0, 2}, {0, 0}, {1, 2}};
  for (std::size_t s = 0; s < sections.size(); ++s) {
    CAPTURE(s);
    CHECK(at[s].x == expected[s].first);
    CHECK(at[s].y == expected[s].second);
  }
}

TEST_CASE("sections take turns in regions that are as large as the largest of theirs") {
  const std::vector<ir::Program> sections{rectangle("a", 1, 1, {0}), rectangle("b", 1, 1, {0}),
                                          rectangle("c", 3, 1, {0}), rectangle("d", 2, 1, {1}),
                                          rectangle("e", 1, 2, {0})};
  const auto at = placed(sections, {Placement::Kind::round_robin_regions, 2});
  for (const std::size_t s : {0U, 2U, 4U}) CHECK((at[s].x == 0 && at[s].y == 0));
  // The first region is 3 x 2, the second 2 x 1: they do not stand in one row of 4.
  for (const std::size_t s : {1U, 3U}) CHECK((at[s].x == 0 && at[s].y == 2));
  const auto few = placed({sections[0], sections[1]}, {Placement::Kind::round_robin_regions, 9});
  CHECK(few[1].x == 1);
}

TEST_CASE("everything of a section moves: programs, buffers, semaphores") {
  const auto result = composed(compose::compose(
      {pipeline_section("p", "x", "h", {1, 0, 0}), pipeline_section("q", "h", "y", {1, 0, 0})},
      {Placement::Kind::own_regions, 0}));
  CHECK(result.program.programs.size() == 6);
  CHECK(result.program.programs[3].site == ir::Site{1, 1, 0});
  CHECK(result.program.buffers[0].site == ir::Site{1, 0, 0});
  CHECK(result.program.buffers[2].site == ir::Site{1, 1, 0});
  SectionMaker m("s");
  m.semaphore("go", {0, 0, 0}).at({0, 0, 0}, Engine::load).run("s", {}, {});
  const auto moved = composed(compose::compose({rectangle("a", 2, 1, {0}), m.section()},
                                               {Placement::Kind::own_regions, 0}));
  CHECK(moved.program.semaphores[0].site == ir::Site{0, 2, 0});
}

TEST_CASE("own regions never share a site and stay in the mesh") {
  std::mt19937_64 random(5);
  int fits = 0;
  for (int round = 0; round < 600; ++round) {
    std::vector<ir::Program> sections;
    struct Box {
      std::uint32_t width, height;
      std::vector<std::uint32_t> chips;
    };
    std::vector<Box> boxes;
    const auto many = 1 + random() % 6;
    for (std::uint64_t s = 0; s < many; ++s) {
      Box box{static_cast<std::uint32_t>(1 + random() % 3),
              static_cast<std::uint32_t>(1 + random() % 3),
              {}};
      for (std::uint32_t chip = 0; chip < 4; ++chip) {
        if (random() % 3 == 0) box.chips.push_back(chip);
      }
      if (box.chips.empty()) box.chips.push_back(0);
      sections.push_back(rectangle("s" + std::to_string(s), box.width, box.height, box.chips));
      boxes.push_back(box);
    }
    const auto outcome = compose::place_sections(sections, {Placement::Kind::own_regions, 0});
    if (!std::holds_alternative<std::vector<Offset>>(outcome)) continue;
    ++fits;
    std::map<ir::Site, std::size_t> taken;
    for (std::size_t s = 0; s < boxes.size(); ++s) {
      const Offset at = std::get<std::vector<Offset>>(outcome)[s];
      for (const std::uint32_t chip : boxes[s].chips) {
        for (std::uint32_t x = at.x; x < at.x + boxes[s].width; ++x) {
          for (std::uint32_t y = at.y; y < at.y + boxes[s].height; ++y) {
            REQUIRE(x < 4);
            REQUIRE(y < 4);
            REQUIRE(taken.emplace(ir::Site{chip, x, y}, s).second);
          }
        }
      }
    }
  }
  CHECK(fits > 100);
}

}  // namespace
}  // namespace spatialcert::tests
