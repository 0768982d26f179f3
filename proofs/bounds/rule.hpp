// bounds: no semaphore passes its maximum, no op leaves its FIFO window, no region leaves its
// object.
//
// Premises: per engine program, pages pushed, popped and touched lie in the window its own reserves
// and fronts have opened; every resolved region lies in its object; for every semaphore, initial
// value plus all posts stays within the maximum, or the largest value that known order allows does
// (ir/counter_bounds.hpp). Conclusion: the token game meets no overflow and no misuse. FIFOs cannot
// overflow: a push stays in a window that a reserve found free.
// Credits of guaranteed FIFOs are not used: a deeper FIFO would let more posts through.
//
// The windows depend on one engine program only, so they are the same in every schedule. Z3 is
// asked, for every semaphore whose posts alone exceed the maximum, for a reachable state in which
// its value does; window by window where the program is cut, because what lies in other windows has
// then been performed or has not.
#pragma once

#include <optional>

#include "proofs/rules.hpp"

namespace spatialcert::smt {
struct Session;
}
namespace spatialcert::proofs {
struct Cuts;
}

namespace spatialcert::proofs::bounds {

/// All facts are recomputed from the net.
struct Witness {};

[[nodiscard]] Search<Witness> prove(const Subject& subject,
                                    const std::vector<std::uint32_t>& position,
                                    smt::Session& session);
[[nodiscard]] Search<Witness> prove(const Subject& subject,
                                    const std::vector<std::uint32_t>& position,
                                    smt::Session& session, const Cuts& cuts);
[[nodiscard]] Check check(const Subject& subject, const Witness& witness);

/// The first op of the stretch, in transition order, that leaves its program's own window.
struct WindowMisuse {
  ir::TransitionId transition;
  ir::CounterId counter;
  std::int64_t asked = 0;
  std::int64_t open = 0;
};
[[nodiscard]] std::optional<WindowMisuse> window_misuse(const Subject& subject);

}  // namespace spatialcert::proofs::bounds
