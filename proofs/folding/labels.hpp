// Do labels and types of contents carry over from a folded program to the whole one?
//
// `shard` and the types of `reduction` do if, in every round that the witness speaks of,
//
//   1. what a run of a segment writes has the label that it has in the segment before;
//   2. what is written to tensors whose accesses were widened has one label in all trips of an
//      execution of the loops;
//   3. every operand that a run of the loops reads from a tensor has one label;
//   4. no `allreduce` stage has an access that was widened (fold() sees to it).
//
// Then by induction over the runs of the whole program each of them writes what its like in the
// folded program writes: by proofs/folding/check.hpp it reads what the like of its writer left,
// that has the same label by 1, or 2 if it stands in a widened region; and by 3 it does not matter
// which part of a widened region a trip really reads. Labels are compared for equality, as in
// `shard` itself: clearing is not monotone. For types read "type" for "label"; of operands the
// values need not be one, because a value is that of all of what a loop reads there.
#pragma once

#include <optional>
#include <string>

#include "ir/folding.hpp"
#include "proofs/reduction/rule.hpp"
#include "proofs/shard/rule.hpp"
#include "proofs/subject.hpp"

namespace spatialcert::proofs::folding {

/// Where it does not, in a sentence; nothing if it does. `reduced` is the subject of
/// `folded.program`, of which the witness has been accepted.
[[nodiscard]] std::optional<std::string> labels_change(const ir::Folding& folding,
                                                       const ir::Folded& folded,
                                                       const Subject& reduced,
                                                       const shard::Witness& witness);

[[nodiscard]] std::optional<std::string> types_change(const ir::Folding& folding,
                                                      const ir::Folded& folded,
                                                      const Subject& reduced,
                                                      const reduction::Typing& witness);

}  // namespace spatialcert::proofs::folding
