#include "tests/composed/ragged.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/require.hpp"

namespace spatialcert::tests {
namespace {

constexpr std::uint32_t kChips = 2, kWidth = 8, kHeight = 4, kEngines = 64;
constexpr std::uint32_t kSites = kChips * kWidth * kHeight;

ir::Site site_number(std::uint32_t n) {
  return {n / (kWidth * kHeight), n / kHeight % kWidth, n % kHeight};
}

template <typename Items>
void shuffle(Random& random, Items& items) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

/// `chosen` of the numbers below `of`, in no order.
std::vector<std::uint32_t> some_of(Random& random, std::uint32_t of, std::uint32_t chosen) {
  std::vector<std::uint32_t> all(of);
  for (std::uint32_t i = 0; i < of; ++i) all[i] = i;
  shuffle(random, all);
  all.resize(chosen);
  return all;
}

/// One element, so that nothing but the ops takes time.
void declare(SectionMaker& m, const std::string& name, bool output) {
  output ? m.output(name) : m.input(name);
  m.tensor_of(name).rows = m.tensor_of(name).cols = 1;
}

}  // namespace

ir::Target wide_target() {
  ir::Target target = test_target();
  target.name = "wide";
  target.chips = kChips;
  target.mesh_width = kWidth;
  target.mesh_height = kHeight;
  target.engines.clear();
  for (std::uint32_t e = 0; e < kEngines; ++e) target.engines.push_back(fmt::format("e{}", e));
  target.semaphore_maximum = 127;
  return target;
}

std::vector<TestPlace> ragged_places(Random& random, std::uint32_t programs, std::uint32_t sites) {
  SPATIALCERT_REQUIRE(sites >= 1 && sites <= programs && programs <= kEngines && sites <= kSites,
                      "there is a program on every site");
  std::vector<std::uint32_t> on(sites, 1);
  for (std::uint32_t p = sites; p < programs; ++p) ++on[random.below(sites)];
  std::vector<TestPlace> places;
  const auto where = some_of(random, kSites, sites);
  for (std::uint32_t s = 0; s < sites; ++s) {
    for (const std::uint32_t engine : some_of(random, kEngines, on[s]))
      places.push_back({site_number(where[s]), static_cast<Engine>(engine)});
  }
  shuffle(random, places);
  return places;
}

std::vector<ir::Program> ragged_chain(Random& random, const std::vector<TestPlace>& places,
                                      std::uint32_t sections) {
  const auto many = static_cast<std::uint32_t>(places.size());
  std::vector<std::vector<char>> takes_part(sections, std::vector<char>(many, 0));
  for (std::uint32_t p = 0; p < many; ++p) {
    for (auto& part : takes_part) part[p] = random.chance(60) ? 1 : 0;
    takes_part[random.below(sections)][p] = 1;
  }
  for (auto& part : takes_part) part[random.below(many)] = 1;
  std::vector<ir::Program> out;
  std::vector<std::string> inputs{"x"};
  for (std::uint32_t s = 0; s < sections; ++s) {
    const std::string name(1, static_cast<char>('a' + s));
    SectionMaker m(name, wide_target());
    for (const std::string& input : inputs) declare(m, input, false);
    std::vector<std::string> outputs;
    for (std::uint32_t p = 0; p < many; ++p) {
      if (takes_part[s][p] == 0) continue;
      outputs.push_back(fmt::format("{}.{}", name, p));
      declare(m, outputs.back(), true);
      m.at(places[p].site, places[p].engine);
      m.run(fmt::format("{}.run{}", name, p), inputs, {outputs.back()});
    }
    out.push_back(m.section());
    inputs = std::move(outputs);
  }
  return out;
}

}  // namespace spatialcert::tests
