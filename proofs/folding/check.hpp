// Does a folded program stand for the whole one?
//
// Premises, all of them computed from the folded program F and its net, per group of loops with k
// segments in every execution (an *instance*):
//
//   1. Every counter that the loops touch is raised by one engine program and lowered and tested by
//      one, both with a loop in the group, and is raised in a segment as often as it is lowered.
//      So its places come from counting, and those of one segment are those of the next, shifted.
//   2. Inside the segments no place leads to an earlier segment. Places from outside, and tests
//      that need nothing from inside yet, are in the first E segments, places to outside in the
//      last T. Between them (`interior`) all segments have the same places.
//   3. Joined to one node per instance, the segments are on no circuit without tokens: nothing
//      outside is both after one op of the segments and before another one.
//   4. FIFO windows are at the start of one interior segment as at the start of the next.
//   5. Every semaphore of the group is held back: what raises it in the last interior segment is
//      known to come after something of an interior segment that lowers it.
//   6. Accesses do not move with the loops: fold() has widened those that did. Joined to one node
//      per instance, the whole loops with the plain ops beside them, which touch no tensor that a
//      widened access writes, are on no circuit without tokens. So whoever else touches
//      such a tensor does so before all trips or after all of them.
//   7. k >= E + T + D + 1, where D is longer than E and T, than the longest place, and than the
//      distance at which two ends of a FIFO can touch one page.
//
// Conclusion: if F satisfies every rule, so does the whole program W, which has more segments; of
// `shard` and the types of `reduction` see also proofs/folding/labels.hpp. Take one group, the
// others as they are.
//
// *Order.* By 3, what is outside is either never after a segment or never before one. A path of F
// that has an op (o, s) of an interior segment is one of W when the way from (o, s) on is moved by
// the K - k segments that W has more, for program order joins (o, s) to (o, s + K - k); by 7 a path
// that passes through all segments has such an op. Other paths touch the first k - T segments or
// the last k - E, and are in W as they are. So W orders what F orders.
// *Liveness.* A circuit without tokens in W would, by 2 and 3, be in one segment, in the first ones
// with what is before, or in the last ones with what is behind. F has all of these.
// *Counters.* By 1 they are at the end of W's loops what they are at the end of F's. The value of a
// semaphore after a post is bounded by what is known to have lowered it, and by 5 both grow alike
// from the last interior segment on. Known order between ops outside is that of F or more.
// *Conflicts.* Two ops of segments at most D apart are a pair that F has too. Farther apart, they
// conflict only if they do in neighbouring segments (pages by 7 not at all), and there F orders
// them, by 2 forwards; program order does the rest. An op outside and one inside: as in the first
// or last segments that F has.
// *Flow.* Order and conflicts being those of F, so is the last write before a read; where writes
// were widened, by 6 every trip's write comes before the read or none does.
// *Persistent* programs: places with tokens are places from or to outside; none may have negative
// ones.
// Loops within folded loops: the inner ones are unfolded first, in every instance; the places of
// the outer ones stay what they are, because the inner ones' counters are balanced.
//
// Not carried over: the results of `reduction`, which follow values through all segments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/folding.hpp"
#include "proofs/subject.hpp"

namespace spatialcert::proofs::folding {

struct Objection {
  enum class Kind : std::uint8_t {
    values,       ///< a rule applies whose verdict does not carry over
    counter,      ///< premise 1
    uneven,       ///< loops of the group are not executed equally often
    backwards,    ///< premise 2, or negative tokens
    circular,     ///< premise 3
    window,       ///< premise 4
    unbounded,    ///< premise 5
    interleaved,  ///< premise 6
    too_few       ///< premise 7
  };
  std::uint32_t group = 0;
  Kind kind = Kind::values;
  std::int64_t segments = 0;  ///< too_few: how many are needed
  std::string why;
};

/// Empty if every premise holds; otherwise what the first premise that does not is violated by.
/// `reduced` is the subject of `folded.program`. Linear.
[[nodiscard]] std::vector<Objection> check(const ir::Folding& folding, const ir::Folded& folded,
                                           const Subject& reduced);

}  // namespace spatialcert::proofs::folding
