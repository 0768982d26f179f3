// Do units of one phase touch something in common that one of them writes? As questions to Z3.
// Untrusted: the answers are recomputed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "smt/query.hpp"

namespace spatialcert::proofs::isolation {

/// A unit touches locations [low, high) of a line during a phase. What lies in different lines has
/// nothing in common.
struct Interval {
  std::uint32_t phase = 0;
  std::uint32_t line = 0;
  std::uint32_t unit = 0;
  bool writes = false;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// Asks, per phase and line, for a location that two units hold, one of which writes it. Equal sets
/// of intervals are one question, whatever they are sets of. Nothing if there is no such location;
/// otherwise the first answer that is not `Impossible`.
[[nodiscard]] std::optional<smt::Answer> ask_apart(std::vector<Interval> all,
                                                   smt::Session& session);

}  // namespace spatialcert::proofs::isolation
