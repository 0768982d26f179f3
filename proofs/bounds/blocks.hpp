// A semaphore's maximum, asked about block by block.
//
// Every state has performed some number of the ops of one engine program on the semaphore. What the
// net orders before and after them fixes most of what the others have performed, so a state that
// exceeds the maximum is looked for within a block of those ops and what they leave open, in the
// engine programs of the semaphore alone. Leaving places out only allows more states: if no block
// has such a state, there is none. If one has, that says nothing yet.
//
// Untrusted, and costs what the blocks hold: linear in the semaphore's own engine programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "proofs/subject.hpp"

namespace spatialcert::smt {
struct Session;
}

namespace spatialcert::proofs::bounds {

/// Ops of the leading engine program in one block.
inline constexpr std::size_t kBlock = 32;

/// Z3: is it impossible that the semaphore exceeds `maximum`? It holds `base` before `events`, its
/// posts and waits, by transition. False: not shown.
[[nodiscard]] bool fits_in_blocks(const Subject& subject,
                                  const std::vector<std::uint32_t>& position, std::int64_t base,
                                  std::int64_t maximum, const std::vector<std::uint32_t>& events,
                                  smt::Session& session, std::size_t ops_of_block = kBlock);

}  // namespace spatialcert::proofs::bounds
