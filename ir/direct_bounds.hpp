// An upper bound of a counter that one engine program raises and one lowers, from nothing but the
// places that lead directly from the one that lowers to the one that raises. Trusted.
//
// The value is largest right after an op p that raises it. Then the raiser has done what its text
// says, and the lowerer at least what comes before the source u of a place u -> v whose target v is
// p or comes before p: u has been performed, hence also what stands before it. So the value is at
// most
//
//     initial + (raised up to and including p) - max over v (lowered before u).
//
// Persistent programs raise and lower by the same G in every iteration. In iteration i the place
// says that iteration i - tokens of u has been performed, so that (i - tokens) G + (lowered before
// u) was lowered; raised were i G + (raised up to and including p), and i cancels out. A place
// whose target comes after p was passed in iteration i - 1, and counts as one with a token more. In
// the first iterations, where u or v of such an iteration does not exist, the formula claims no
// more than (lowered before u) - G or less, which is not positive, and nothing or more has been
// lowered. (With negative tokens that would not be so; such places are left out, and so are
// credits: a deeper FIFO gives them earlier.)
//
// One program that raises and lowers: its own text is all there is to know.
//
// Not promised: the least bound. Order that leads through a third engine program is not looked at,
// ir/known_order.hpp does that; its bound is never greater than this one, and takes memory that
// grows with transitions x engine programs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/counter_events.hpp"
#include "ir/counters.hpp"
#include "ir/net.hpp"
#include "ir/program.hpp"
#include "ir/unroll.hpp"

namespace spatialcert::ir {

struct DirectBound {
  std::int64_t largest = 0;
  TransitionId post;  ///< where it is reached; invalid if by the initial value
};

/// Of each of the counters `asked`; nothing if several engine programs raise it or several lower
/// it, if no place bounds it, or if a sum does not fit. `shares` and `net`: of one iteration.
/// Linear in places and events, but for logarithms.
[[nodiscard]] std::vector<std::optional<DirectBound>> direct_bounds(
    const Program& program, const Unrolled& one, const Net& net, const CounterShares& shares,
    const std::vector<CounterId>& asked);

}  // namespace spatialcert::ir
