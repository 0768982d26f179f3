// Random sections, composed as a manifest would: in every schedule, what conflicts happens in
// source order.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "compose/composition/composer.hpp"
#include "ir/token_game.hpp"
#include "ir/unroll.hpp"
#include "tests/composition/section_maker.hpp"
#include "tests/counts.hpp"
#include "tests/oracle/explorer.hpp"
#include "tests/oracle/findings.hpp"

namespace spatialcert::tests {
namespace {

const TestPlace kPlaces[] = {{{0, 0, 0}, Engine::load},
                             {{0, 0, 0}, Engine::store},
                             {{1, 0, 0}, Engine::load},
                             {{3, 2, 1}, Engine::compute}};

/// Some engines each read and write tensors of a pool of six, without conflict among themselves.
ir::Program random_section(std::mt19937_64& random, std::uint32_t number) {
  SectionMaker m(fmt::format("s{}", number));
  constexpr std::uint32_t kPool = 6;
  for (std::uint32_t t = 0; t < kPool; ++t)
    m.tensor(fmt::format("t{}", t), ir::TensorRole::state, ir::Init::external);
  std::vector<std::uint32_t> reads(kPool, 0), writers(kPool, 0);  // bit per place
  const std::uint64_t some = 1 + random() % 15, others = 1 + random() % 15;
  const std::uint64_t chosen = (some & others) != 0 ? some & others : some;
  for (std::uint32_t p = 0; p < 4; ++p) {
    if ((chosen >> p & 1U) == 0) continue;
    std::vector<std::string> in, out;
    for (std::uint32_t t = 0; t < kPool; ++t) {
      const std::uint32_t not_p = ~(1U << p);
      const auto what = random() % 6;
      if (what == 0 && (writers[t] & not_p) == 0) {
        reads[t] |= 1U << p;
        in.push_back(fmt::format("t{}", t));
      }
      if (what == 1 && ((writers[t] | reads[t]) & not_p) == 0) {
        writers[t] |= 1U << p;
        out.push_back(fmt::format("t{}", t));
      }
    }
    m.at(kPlaces[p].site, kPlaces[p].engine).run(fmt::format("s{}.{}", number, p), in, out);
  }
  return m.section();
}

struct Performed {
  std::uint32_t transition = 0;
  std::uint32_t source = 0;
  const ir::Op* op = nullptr;
};

std::vector<Performed> runs_of(const ir::Program& program, const ir::Unrolled& unrolled) {
  std::vector<Performed> runs;
  for (std::uint32_t t = 0; t < unrolled.transitions(); ++t) {
    const ir::Op& op = unrolled.op_of(program, ir::TransitionId(t));
    if (op.code != ir::OpCode::run) continue;
    for (const ir::Span& span : program.programs[unrolled.program[t]].spans) {
      if (span.begin <= unrolled.op[t] && unrolled.op[t] < span.end)
        runs.push_back({t, program.sections[span.section.value()].source_index, &op});
    }
  }
  return runs;
}

bool conflict(const ir::Program& program, const ir::Op& a, const ir::Op& b) {
  for (std::uint32_t i = 0; i < a.accesses; ++i) {
    for (std::uint32_t j = 0; j < b.accesses; ++j) {
      const ir::Access& x = program.accesses[a.first_access + i];
      const ir::Access& y = program.accesses[b.first_access + j];
      if (x.region.object == y.region.object && (x.write || y.write)) return true;
    }
  }
  return false;
}

TEST_CASE("composed random sections keep source order in every schedule") {
  std::mt19937_64 random(77);
  std::uint64_t pairs = 0, side_by_side = 0;
  constexpr int kRounds = 250;
  for (int round = 0; round < kRounds; ++round) {
    const auto many = static_cast<std::uint32_t>(1 + random() % 6);
    std::vector<ir::Program> sections;
    for (std::uint32_t s = 0; s < many; ++s) sections.push_back(random_section(random, s));
    compose::ComposeOptions options;
    for (int t = 0; t < 6; ++t) options.carried.push_back(fmt::format("t{}", t));
    const compose::PhaseOrder order = compose::phases_of(sections);
    const auto result = composed(compose::compose_ordered(sections, order, {}, options));
    side_by_side += many - 1 - result.rendezvous_count;

    const Findings found = examine(result.program);
    CAPTURE(round);
    INFO(found.text());
    REQUIRE(found.complete);
    CHECK_FALSE(found.fails());
    CHECK(found.in_class);

    const auto unrolled = std::get<ir::Unrolled>(ir::unroll(result.program));
    const ir::TokenGame game(result.program, unrolled);
    const Exploration exploration(game, 200'000);
    REQUIRE(exploration.complete);
    const auto runs = runs_of(result.program, unrolled);
    for (const Performed& early : runs) {
      for (const Performed& late : runs) {
        if (early.source >= late.source || !conflict(result.program, *early.op, *late.op)) continue;
        ++pairs;
        CHECK_FALSE(exploration.separates(late.transition, early.transition));
      }
    }
  }
  CHECK(pairs > 1000);
  CHECK(side_by_side > 50);
  count("random compositions explored", kRounds);
}

TEST_CASE("composed random sections that wrap around have no failing schedule") {
  std::mt19937_64 random(78);
  int complete = 0;
  constexpr int kRounds = 60;
  for (int round = 0; round < kRounds; ++round) {
    const auto many = static_cast<std::uint32_t>(1 + random() % 3);
    std::vector<ir::Program> sections;
    for (std::uint32_t s = 0; s < many; ++s) sections.push_back(random_section(random, s));
    compose::ComposeOptions options;
    options.execution = ir::Execution::persistent;
    for (int t = 0; t < 6; ++t) options.carried.push_back(fmt::format("t{}", t));
    compose::PhaseOrder order = compose::phases_of(sections);
    order.barrier_after.back() = true;
    const auto result = composed(compose::compose_ordered(sections, order, {}, options));
    const Findings found = examine(result.program);
    CAPTURE(round);
    INFO(found.text());
    if (!found.complete) continue;
    ++complete;
    CHECK_FALSE(found.fails());
  }
  CHECK(complete > kRounds / 2);
  count("random compositions explored", static_cast<std::uint64_t>(complete));
}

}  // namespace
}  // namespace spatialcert::tests
