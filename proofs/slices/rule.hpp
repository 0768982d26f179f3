// slices: the slices of every full tensor tile it, and parts that belong together are cut alike.
//
// For every full tensor that the program names (ir::SlicedTensor): every index of the axis that is
// cut is in the slices of exactly `copies` parts, and in each of them once. For all that is cut
// along one dimension of the model: part p is on one chip, and tensors whose axes are equally long,
// in as many copies, have the same ranges in every part. How the axes of tensors of other lengths correspond (heads of
// keys and of queries) is declared by the dimension, not shown.
//
// All of it is about declarations: nothing depends on schedules. Z3 is asked, per way to cut an
// axis, for an index that is in another number of parts; the check sorts the ranges. A
// counterexample names an index and the parts that have it, and is recomputed.
#pragma once

#include "proofs/rules.hpp"

namespace spatialcert::smt {
struct Session;
}

namespace spatialcert::proofs::slices {

/// Recomputed from the program.
struct Witness {};

[[nodiscard]] Search<Witness> prove(const Subject& subject, smt::Session& session);
[[nodiscard]] Check check(const Subject& subject, const Witness& witness);

}  // namespace spatialcert::proofs::slices
