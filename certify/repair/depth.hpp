// The least memory in deeper FIFOs with which a program does not get stuck.
//
// A play that gets stuck is played the same by deeper FIFOs, so some engine program that waits for
// room, among those that only wait for each other, must get what it needs: a clause on depths, of
// which at least one alternative must hold. Z3 finds the cheapest depths that satisfy all clauses
// so far, these are played, and the next stuck state gives the next clause. Every clause being
// necessary, the first depths that do not get stuck are the cheapest ones there are.
//
// Of a program of which more than one play matters (no marked graph) other plays may still get
// stuck: certification decides.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "ir/program.hpp"

namespace spatialcert::certify::repair {

/// FIFO (BufferId value) -> pages, only those that become deeper.
using Depths = std::map<std::uint32_t, std::uint64_t>;

struct NoDepths {
  std::string why;
};

/// Plays `iterations` iterations of a persistent program. `why` also where a limit was passed.
[[nodiscard]] std::variant<Depths, NoDepths> least_depths(const ir::Program& program,
                                                          std::uint32_t iterations);

}  // namespace spatialcert::certify::repair
