// The composer: phase_order on sections of shapes that make a search for free phases long, and
// everything that `compose` does with sections that have been read.
#include "compose/composition/composer.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "bench/measure.hpp"
#include "bench/sections.hpp"
#include "compose/composition/phase_memory.hpp"
#include "compose/composition/phases.hpp"
#include "ir/program_file.hpp"
#include "ir/require.hpp"

namespace spatialcert::bench {
namespace {

using compose::Touches;

constexpr std::uint32_t kChips = 8;

/// Layers of a model on every chip: each section reads what its chip's last one writes, and one in
/// sixteen gathers from all chips.
std::vector<Touches> layers(std::uint32_t sections) {
  std::vector<Touches> touches(sections);
  for (std::uint32_t s = 0; s < sections; ++s) {
    const std::uint32_t chip = s % kChips;
    touches[s] = {{chip}, {chip}, {chip}};
    if (s % 16 != 15) continue;
    for (std::uint32_t c = 0; c < kChips; ++c) touches[s].reads.push_back(c);
    touches[s].writes.push_back(kChips);
    touches[s].chips.push_back((chip + 1) % kChips);
  }
  return touches;
}

/// One section on all chips, then independent sequences that all start past its phase.
std::vector<Touches> sequences(std::uint32_t sections) {
  std::vector<Touches> touches(sections);
  touches[0] = {{}, {0}, {}};
  for (std::uint32_t c = 0; c < kChips; ++c) touches[0].chips.push_back(c);
  for (std::uint32_t s = 1; s < sections; ++s) touches[s] = {{0}, {s}, {s % kChips}};
  return touches;
}

/// Two chips are busy in turns for half of the sections; the others need both, and nothing else.
std::vector<Touches> turns(std::uint32_t sections) {
  std::vector<Touches> touches(sections);
  for (std::uint32_t s = 0; s < sections; ++s) {
    touches[s] = s < sections / 2 ? Touches{{0}, {0}, {s % 2}} : Touches{{}, {s}, {0, 1}};
  }
  return touches;
}

const int kCompose = [] {
  benchmark::RegisterBenchmark(
      "compose/chains",
      [](benchmark::State& state) {
        const auto& sections = chained_sections(state.range(0));
        std::uint64_t ops = 0;
        measure(state, [&] {
          auto outcome = compose::compose_ordered(sections, compose::phases_of(sections));
          auto* composed = std::get_if<compose::Composed>(&outcome);
          if (composed == nullptr || std::holds_alternative<compose::Refused>(
                                         compose::separate_phase_memory(composed->program))) {
            return state.SkipWithError("refused");
          }
          ops = ir::op_count(composed->program);
        });
        state.SetComplexityN(static_cast<std::int64_t>(ops));
        state.counters["ops"] = static_cast<double>(ops);
      })
      ->Arg(1000)
      ->Arg(3000)
      ->Arg(10'000)
      ->Arg(30'000)
      ->Arg(100'000)
      ->Arg(300'000)
      ->Arg(1'000'000)
      ->Unit(benchmark::kMillisecond)
      ->Complexity();
  return 0;
}();

int declare_shape(const char* name, std::vector<Touches> (*make)(std::uint32_t)) {
  benchmark::RegisterBenchmark(
      name,
      [make](benchmark::State& state) {
        const auto touches = make(static_cast<std::uint32_t>(state.range(0)));
        state.SetComplexityN(state.range(0));
        state.counters["ops"] = static_cast<double>(state.range(0));  // sections
        measure(state,
                [&] { benchmark::DoNotOptimize(compose::phase_order(touches).order.data()); });
      })
      ->Arg(1000)
      ->Arg(3000)
      ->Arg(10'000)
      ->Arg(30'000)
      ->Arg(100'000)
      ->Arg(300'000)
      ->Arg(1'000'000)
      ->Unit(benchmark::kMillisecond)
      ->Complexity();
  return 0;
}

const int kLayers = declare_shape("phase_order/layers", layers);
const int kSequences = declare_shape("phase_order/sequences", sequences);
const int kTurns = declare_shape("phase_order/turns", turns);

}  // namespace
}  // namespace spatialcert::bench
