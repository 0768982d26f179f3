// shard: nothing that derives from one chip's own data is stored to the spine, except through an
// all-reduce over every chip.
//
// A chip's own data are the initial contents of the tensors that it owns and of the buffers on it
// that the host fills. The *label* of a content (proofs/shard/labels.hpp) is the set of chips from
// whose own data it derives, by whatever ops, with nothing cleared but by all-reduces: the
// `allreduce` stage that makes a content of operands whose labels are disjoint and together are all
// chips of the target clears it. Fewer chips leave their union (so that reductions inside groups
// and then across the groups are right); labels that meet leave a content that no all-reduce
// clears, as it contains a chip's data twice.
//
// Premises: (a) every access of a tensor stands where it may (proofs/shard/misplaced.hpp); (b) from
// the initial labels on, over the first `rounds` rounds, no run writes a content with a label that
// is not empty to a tensor without an owner; (c) the labels at the start of round `first` are those
// after round `rounds`; (d) every test is exact, and `liveness`, `bounds`, `ordering` and `flow`
// hold, and `memory`, so that no page of a FIFO lies in another buffer. Conclusion: in no round of
// any schedule is such a content written.
//
// Why. By (d) which write a read sees is the same in every schedule, so the labels of one schedule
// are those of all, and the one is chosen that performs the rounds one after the other
// (proofs/shard/rounds.hpp says when there is such a schedule; otherwise nothing is shown). In it
// every round is the same function of the contents that the round before it left, so the labels at
// the start of a round determine those of all later ones: by (c) rounds `first` to `rounds` repeat
// for ever, and all that was seen in them is all there is to see. Clearing is not monotone: a label
// with more chips may be cleared where one with fewer is not. So it would not do to look at some
// iterations, nor to take unions over them; the labels are exact and the repetition is one of
// states.
//
// A round of a persistent program is an iteration: tensors and resident buffers keep their contents
// for the next. A round of a program that is run once is a token: tensors of role `state`, carried
// ones and resident buffers keep them, all others begin anew.
//
// Not shown: that what a clearing all-reduce adds up are the partial values of one product, that
// all of its parts use one and the same operation, or that what was cleared was linear before. That
// is `reduction`'s. A run without reads is a constant, even where the host performs it. On a target
// with one chip, an all-reduce over every chip has one operand.
//
// Z3 is given the labels of a stretch of runs as booleans per content and chip, and asked for a
// store of a content whose label is not empty.
#pragma once

#include <cstdint>
#include <vector>

#include "proofs/rules.hpp"

namespace spatialcert::smt {
struct Session;
}

namespace spatialcert::proofs::shard {

/// A witness of more rounds is not accepted, nor is one looked for.
inline constexpr std::uint32_t kMostRounds = 60;

/// The labels before round `first` are those after round `rounds` (both counted from the start).
struct Witness {
  std::uint32_t first = 0;
  std::uint32_t rounds = 1;
};

/// Is there anything to show? Some tensor has an owner, or the host fills buffers of several chips
/// and some run writes a tensor.
[[nodiscard]] bool applies(const ir::Program& program);

[[nodiscard]] Search<Witness> prove(const Subject& subject, smt::Session& session);
[[nodiscard]] Check check(const Subject& subject, const Witness& witness);

}  // namespace spatialcert::proofs::shard
