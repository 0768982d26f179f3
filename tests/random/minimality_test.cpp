// Counterexamples are as short as they can be: no schedule shows the same failure in fewer steps,
// according to all interleavings. (That a cycle has the fewest hand-offs is in
// tests/proofs/cycle_test.cpp.)
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "certify/pipeline.hpp"
#include "tests/counts.hpp"
#include "tests/oracle/explorer.hpp"
#include "tests/oracle/generator.hpp"

namespace spatialcert::tests {
namespace {

using proofs::Kind;

std::uint32_t steps_of(const ir::Schedule& schedule) {
  return std::accumulate(
      schedule.begin(), schedule.end(), 0U,
      [](std::uint32_t sum, const ir::ScheduleRun& run) { return sum + run.steps; });
}

/// All interleavings of the iterations that a counterexample speaks of.
class Interleavings {
 public:
  Interleavings(const ir::Program& program, std::uint32_t iterations)
      : unrolled_(std::get<ir::Unrolled>(ir::unroll(program, iterations))),
        game_(program, unrolled_),
        explored_(game_, 100'000) {}

  [[nodiscard]] bool complete() const { return explored_.complete; }

  /// Fewest steps after which `last` can be performed and, if given, `first` has been.
  [[nodiscard]] std::optional<std::uint32_t> fewest_before(std::uint32_t last,
                                                           std::optional<std::uint32_t> first) {
    std::optional<std::uint32_t> best;
    for (std::size_t i = 0; i < explored_.states.size(); ++i) {
      const Front& at = explored_.states[i];
      const std::uint32_t p = unrolled_.program[last];
      if (at[p] != step(last) || (explored_.enabled[i] >> p & 1U) == 0) continue;
      if (first && at[unrolled_.program[*first]] <= step(*first)) continue;
      std::uint32_t steps = 0;
      for (std::size_t q = 0; q + 1 < unrolled_.begin.size(); ++q) steps += at[q];
      best = best ? std::min(*best, steps) : steps;
    }
    return best;
  }

 private:
  [[nodiscard]] std::uint32_t step(std::uint32_t t) const {
    return t - unrolled_.begin[unrolled_.program[t]];
  }

  ir::Unrolled unrolled_;
  ir::TokenGame game_;
  Exploration explored_;
};

/// Compares the counterexample's schedules with the shortest ones; false if there is nothing to
/// compare.
bool compare(const ir::Program& program, const proofs::Counterexample& c) {
  if (!c.deeper.empty() || (c.kind != Kind::race && c.kind != Kind::undefined_read)) return false;
  Interleavings all(program, c.iterations);
  if (!all.complete()) return false;
  const std::uint32_t a = c.accesses[0].transition.value();
  if (c.kind == Kind::undefined_read) {
    CHECK(steps_of(c.schedules[0]) == all.fewest_before(a, std::nullopt));
    return true;
  }
  const std::uint32_t b = c.accesses[1].transition.value();
  CHECK(steps_of(c.schedules[0]) - 1 == all.fewest_before(b, a));
  CHECK(steps_of(c.schedules[1]) - 1 == all.fewest_before(a, b));
  return true;
}

TEST_CASE("schedules of races and of undefined reads have the fewest steps") {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 1'500; ++seed) {
    const Sample sample = generate(seed);
    if (sample.fault == Fault::none) continue;
    const auto report = certify::certify(sample.program);
    const bool exact = std::any_of(report.rules.begin(), report.rules.end(), [](const auto& rule) {
      return rule.rule == proofs::Rule::liveness && rule.verdict == certify::Verdict::certified;
    });
    if (!exact) continue;  // outside the class a race is found by playing
    for (const certify::RuleReport& rule : report.rules) {
      CAPTURE(seed);
      if (rule.counterexample && compare(sample.program, *rule.counterexample)) ++compared;
    }
  }
  MESSAGE(compared << " counterexamples compared with the shortest");
  count("counterexamples compared with the shortest", compared);
  CHECK(compared >= 100);
}

}  // namespace
}  // namespace spatialcert::tests
