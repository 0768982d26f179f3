// quiescence: at the end every kept semaphore and every FIFO is at its initial value.
//
// Premises: per counter, what all ops of one run (of one iteration, if persistent) add and subtract
// cancels. Semaphores that the host resets between tokens are exempt in a `once` program.
// Conclusion: the next token (iteration) begins where this one began; nothing is in flight.
//
// Every op is performed exactly once per run (liveness), so the balance of the text is the balance
// of every schedule.
#pragma once

#include <cstdint>
#include <vector>

#include "proofs/rules.hpp"

namespace spatialcert::smt {
struct Session;
}

namespace spatialcert::proofs::quiescence {

struct Witness {};

/// What one run adds to every counter, by CounterId; saturating, so that a balance is never
/// mistaken for zero.
[[nodiscard]] std::vector<std::int64_t> balance(const Subject& subject);
/// Must `counter` be back at its initial value?
[[nodiscard]] bool must_return(const ir::Program& program, const ir::Counter& counter);

[[nodiscard]] Search<Witness> prove(const Subject& subject, smt::Session& session);
[[nodiscard]] Check check(const Subject& subject, const Witness& witness);

}  // namespace spatialcert::proofs::quiescence
