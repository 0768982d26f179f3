// Programs whose growth is not one of op texts: trip counts of loops, sections, workers. Each is a
// program file as text.
#pragma once

#include <cstdint>
#include <string>

#include "ir/program.hpp"

namespace spatialcert::bench {

/// One section of load, compute and store over two FIFOs; every engine does `turns` turns.
[[nodiscard]] std::string turns_of_section(std::uint64_t turns);
/// A producer that pushes two pages a turn, and a consumer that pops one.
[[nodiscard]] std::string turns_of_unequal_rates(std::uint64_t turns);
/// The section with a loop in a loop, `turns` turns in all, which must be a power of ten.
[[nodiscard]] std::string turns_of_nest(std::uint64_t turns);

enum class Written : std::uint8_t { as_loop, as_text };
/// A chain of workers on one site, every one an engine program that hands on what the one before it
/// left in a buffer. Two neighbours share two semaphores: `full`, and `empty` back. Every worker
/// does `turns` turns: 2 (workers - 1) turns hand-offs.
[[nodiscard]] std::string workers(std::uint64_t workers, std::uint64_t turns, Written written);

/// Sections of 28 ops (load, compute and store on two sites, two turns each) that read each what
/// the one before wrote, joined as `compose` does it: with a rendezvous after every section but the
/// last.
[[nodiscard]] ir::Program chain_of_sections(std::uint32_t sections);

}  // namespace spatialcert::bench
