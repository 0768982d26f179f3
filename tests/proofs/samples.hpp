// Programs that are right, one per kind of hand-off. Every one is certified as it stands.
#pragma once

#include <vector>

#include "tests/proofs/draft.hpp"

namespace spatialcert::tests {

/// Two FIFOs of two pages, four items, load to compute to store.
[[nodiscard]] Draft fifo_pipeline();
/// A buffer handed from load to compute by one semaphore and back by another, twice.
[[nodiscard]] Draft semaphore_handoff();
/// Every program arrives, the first one waits for all and releases them: gather and release.
[[nodiscard]] Draft rendezvous();
/// Two buffers filled and emptied in turn, guarded by counted semaphores.
[[nodiscard]] Draft double_buffer();
/// One flag, awaited by two programs.
[[nodiscard]] Draft awaited_flag();
/// A FIFO pipeline that wraps around.
[[nodiscard]] Draft persistent_pipeline();
/// y = x0 + x1, through a FIFO and a buffer.
[[nodiscard]] Draft added_up();

[[nodiscard]] std::vector<Draft> all_samples();

}  // namespace spatialcert::tests
