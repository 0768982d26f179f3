// Shared by the benchmarks: names, sizes, and the counts that stand beside the times.
#pragma once

#include <benchmark/benchmark.h>

#include <string>

#include "bench/allocations.hpp"
#include "bench/programs.hpp"

namespace spatialcert::bench {

/// Declares NAME/FAMILY/OPS for both families and all sizes. Each runs `body(state, sample)`.
template <typename Body>
int declare(const std::string& name, Body body) {
  for (const auto& [family, label] :
       {std::pair{Family::ring, "ring"}, std::pair{Family::pipeline, "pipeline"},
        std::pair{Family::composed, "composed"}}) {
    benchmark::RegisterBenchmark(
        (name + "/" + label).c_str(),
        [family = family, body](benchmark::State& state) {
          const Sample& s = sample(family, state.range(0));
          state.SetComplexityN(static_cast<std::int64_t>(ir::op_count(s.program)));
          state.counters["ops"] = static_cast<double>(ir::op_count(s.program));
          body(state, s);
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
  }
  return 0;
}

/// Runs `step` as often as the framework asks, and counts what one run allocates.
template <typename Step>
void measure(benchmark::State& state, Step step) {
  Allocations before, after;
  for (auto _ : state) {
    before = allocations();
    step();
    after = allocations();
  }
  state.counters["allocations"] = static_cast<double>(after.count - before.count);
  state.counters["allocated"] = static_cast<double>(after.bytes - before.bytes);
}

}  // namespace spatialcert::bench
