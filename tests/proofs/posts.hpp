// Programs of posts and waits that several engines share, for the tests of known order.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/proofs/draft.hpp"
#include "tests/proofs/small_programs.hpp"

namespace spatialcert::tests {

/// Engine programs with these ops.
[[nodiscard]] Draft posts(const char* name, bool persistent, const std::vector<Ops>& engines);

/// A persistent program, what it starts with, and how many iterations show what is wrong with it.
struct Sly {
  Draft draft;
  std::uint32_t iterations;
};
/// Programs whose engines run far ahead of each other, or lag far behind: each is made for one
/// condition of the check on what lies before or after its window.
[[nodiscard]] std::vector<Sly> sly_programs();

/// Engine programs of random posts and waits of a few semaphores, balanced if persistent.
[[nodiscard]] Draft random_posts(std::uint64_t seed);

}  // namespace spatialcert::tests
