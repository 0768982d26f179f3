// Random programs whose loops run a few dozen trips: enough for most of them to be folded, and few
// enough to be looked at trip by trip as well.
//
// A program has one or two phases. In each of them some engine programs run a loop each and pass
// pages or tokens on, at rates that may differ, with trips taken out of the loops, windows that
// slide, credits or none, nests; they read and write tensors that move with the loops, tiles
// that meet, overlap or leave gaps, in place or not, some of them of one chip. Between the phases
// stand the motifs of the other random programs (tests/oracle/). Half of the programs are damaged.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/program.hpp"

namespace spatialcert::tests {

/// The program of a seed, validated; nothing if the damage made it malformed.
[[nodiscard]] std::optional<ir::Program> generate_loops(std::uint64_t seed);

/// One to be composed: performed once, and not damaged.
[[nodiscard]] ir::Program generate_loop_section(std::uint64_t seed);

}  // namespace spatialcert::tests
