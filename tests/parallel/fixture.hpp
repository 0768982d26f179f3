// Models split over chips, as the tests describe them.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "compose/parallel/allreduce.hpp"
#include "compose/parallel/manifest.hpp"
#include "compose/parallel/refusal.hpp"
#include "ir/machine/machine.hpp"
#include "ir/program.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::tests {

namespace parallel = compose::parallel;
using parallel::RefusalReason;

/// `chips` chips of 2 x 2 sites with 64 KiB each, a hand-off `noc` and, if `crossing`, `wire`.
[[nodiscard]] ir::Target chips(std::uint32_t count, bool crossing = true,
                               ir::DType float_type = ir::DType::f32);

/// x (spine) times w.c (of chip c) gives p.c, and h is the sum of them all, spelled as a chain.
[[nodiscard]] parallel::Manifest row_parallel(std::uint32_t chips);
/// The sum `h` of `row_parallel`, `rows` x `cols`.
[[nodiscard]] parallel::AllreduceDescription sum_of(std::uint32_t chips, std::uint64_t rows,
                                                    std::uint64_t cols, ir::DType dtype);

/// The value; the test fails if there is none.
template <typename T>
T accepted(parallel::Outcome<T> outcome) {
  if (const auto* refused = std::get_if<parallel::Refused>(&outcome))
    throw std::runtime_error(refused->message());
  return std::get<T>(std::move(outcome));
}

/// The test fails unless it is refused for this reason, in words that contain all of `words`.
void check_refusal(const std::optional<parallel::Refused>& refused, RefusalReason reason,
                   const std::vector<std::string>& words);
template <typename T>
void check_refusal(const parallel::Outcome<T>& outcome, RefusalReason reason,
                   const std::vector<std::string>& words) {
  const auto* refused = std::get_if<parallel::Refused>(&outcome);
  check_refusal(refused == nullptr ? std::nullopt : std::optional(*refused), reason, words);
}

/// Certified, with every rule that applies proved.
void check_certified(const ir::Program& program);
/// Refuted, by this rule among others.
void check_refuted(const ir::Program& program, proofs::Rule rule);
/// What the program leaves, under a random schedule.
[[nodiscard]] ir::machine::Machine finished(const ir::Program& program,
                                            const ir::machine::Inputs& inputs = {},
                                            std::uint64_t seed = 1);

}  // namespace spatialcert::tests
