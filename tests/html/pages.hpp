// The pages that the browser opens, and what it has to see there.
//
// What the slider must show is worked out here from the token game alone, by playing the beginning
// of a schedule again for every step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "certify/report.hpp"
#include "ir/program.hpp"

namespace spatialcert::tests {

struct Certified {
  ir::Program program;
  certify::ProgramReport report;
  std::string file;
};
[[nodiscard]] Certified certified(ir::Program program, const std::string& file = "");

/// All goldens, by name.
[[nodiscard]] const std::vector<Certified>& goldens();
/// Kinds that no golden has: nonlinear, mismatch, gap, overlap of slices, missing and double terms
/// of an all-reduce.
[[nodiscard]] std::vector<Certified> sliced_programs();
/// A circle of `engines` engine programs on as many sites, each with `ops` ops before it.
[[nodiscard]] Certified ring(int engines, int ops);
/// One engine posts `rounds` times what `engines` others wait for in turn, and then for once more:
/// whenever one takes it, all others are blocked again.
[[nodiscard]] Certified crowd(int engines, int rounds);
/// One whose schedules have millions of steps.
[[nodiscard]] const Certified& long_loop();
/// Names that are markup, scripts, the end of a data block, or run from right to left.
[[nodiscard]] Certified hostile();

/// Steps of a schedule that the pages have at most.
inline constexpr std::uint32_t kMostSteps = 2'000;
/// A page of them.
[[nodiscard]] std::string page_of(const std::vector<Certified>& all);
/// What the browser has to see on it, as JSON: per program and rule, the values at some steps.
[[nodiscard]] std::string expectations(const std::vector<Certified>& all);

}  // namespace spatialcert::tests
