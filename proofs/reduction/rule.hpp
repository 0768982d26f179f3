// reduction: two kinds of obligations about what contents are.
//
// **Results.** Every output holds exactly the declared combination of initial contents, each
// contribution exactly as often as declared, in every schedule.
// Premises: the program is determinate (every test exact, `liveness`, `ordering`, `flow`:
// DESIGN 13.9), and in one symbolic run every byte of every postcondition's region is the sum of
// the terms' bytes. Conclusion: so it is in every run, because a determinate program has one
// outcome. Z3 is given the equations of the run, with an integer unknown per initial content, and
// asked for contents for which an output differs from its declared sum. The check counts
// contributions by walking the sums. A floating-point sum is judged as a sum of terms, not by its
// rounding.
//
// **Types.** Where the program names full tensors and their slices (ir::SlicedTensor): what chips
// compute of slices is what the unsharded model computes of full tensors (DESIGN 13.8, after
// Megatron [Shoeybi et al. 2019]). Every content is replicated, a slice or a partial sum
// (proofs/reduction/types.hpp), from the actual accesses and ops; a partial sum meets linear ops
// only before its all-reduce; an all-reduce takes every part's term of one sum exactly once; what
// is contracted is of one part; what is stored to the spine is replicated.
// Premises: (a) as for results; (b) from the initial types on, over the first `rounds` rounds, no
// run shows a fault; (c) the types at the start of round `first` are those after round `rounds`.
// Conclusion: no run of any round shows one. Why: as for `shard` (proofs/shard/rule.hpp), the types
// that a run writes being a function of those that it reads. At the start of a round what the model
// keeps is taken to be new, if the chips' slices of it were of one content.
// For every kind of step that the program has, Z3 is asked for values for which the parts' results
// are not related to the unsharded result as the type says.
//
// Taken from the declarations, not shown: what is cut and how, and which axes are stacked. Left to
// the section: which elements of a tensor its runs touch, and rounding (its numerics claim).
//
// **Accumulators.** An all-reduce of integers has room: the largest sum of its operands, whose
// values are as declared (ir::Tensor::values) or any of their type, fits the type of the result.
// Z3 is asked for values that do not, as bit-vectors of that width.
#pragma once

#include <cstdint>
#include <optional>

#include "proofs/reduction/values.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::smt {
struct Session;
}

namespace spatialcert::proofs::reduction {

/// The types before round `first` are those after round `rounds` (both counted from the start).
struct Typing {
  std::uint32_t first = 0;
  std::uint32_t rounds = 1;
};

/// Of types if the program has any; all else is recomputed from the program.
struct Witness {
  std::optional<Typing> typing;
};

/// Has the program postconditions, or slices of full tensors?
[[nodiscard]] bool applies(const ir::Program& program);

[[nodiscard]] Search<Witness> prove(const Subject& subject,
                                    const std::vector<std::uint32_t>& position,
                                    smt::Session& session);
[[nodiscard]] Check check(const Subject& subject, const Witness& witness);

/// Does the combination equal the obligation's expectation?
[[nodiscard]] bool meets(const Combination& combination, const Obligation& obligation);

}  // namespace spatialcert::proofs::reduction
