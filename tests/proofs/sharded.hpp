// Random programs of several chips, with data of their own, reductions over all of them, and
// mistakes.
//
// The ops of a program are drawn one after the other, each for one chip, and performed in this
// order: a baton (a semaphore per pair of chips) goes from each op to the next one's chip.
#pragma once

#include <cstdint>

#include "tests/proofs/draft.hpp"

namespace spatialcert::tests {

[[nodiscard]] Draft sharded_program(std::uint64_t seed);

}  // namespace spatialcert::tests
