// How a chip's own data come to the spine, op by op. Untrusted: it is played.
#pragma once

#include <optional>

#include "proofs/counterexample.hpp"
#include "proofs/shard/misplaced.hpp"
#include "proofs/shard/rounds.hpp"

namespace spatialcert::proofs::shard {

/// The first wrong store of the first `rounds` rounds, if there is one. It can be played if it is
/// in the first token of a program that is run once.
struct Found {
  std::uint32_t round = 0;
  Counterexample counterexample;
};
[[nodiscard]] std::optional<Found> first_leak(const Subject& subject, const Round& round,
                                              std::uint32_t rounds);

/// Transition `t` of round `at`, where the counterexample lays out `at_most + 1` rounds.
[[nodiscard]] ir::TransitionId in_round(const Subject& subject, const Round& round, std::uint32_t t,
                                        std::uint32_t at, std::uint32_t at_most);
/// All that is performed up to transition `t` of round `at`, which is the last op of it.
[[nodiscard]] ir::Schedule schedule_to(const Subject& subject, const Round& round, std::uint32_t t,
                                       std::uint32_t at);

[[nodiscard]] Counterexample counterexample_of(const Subject& subject, const Misplaced& misplaced);

}  // namespace spatialcert::proofs::shard
