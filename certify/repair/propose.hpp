// Candidates: what might repair a counterexample, found from its kind and the program around it.
//
// One file per family of kinds. Nothing here is right because it was proposed: a candidate counts
// once the program with its edits is certified (certify/repair/repair.hpp). Every family says which
// ideas it tried, and what stood in the way, for the case that none of them helps.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "certify/names.hpp"
#include "certify/repair/edit.hpp"
#include "ir/program.hpp"
#include "ir/unroll.hpp"
#include "proofs/counterexample.hpp"

namespace spatialcert::certify::repair {

/// A counterexample to be repaired.
struct Case {
  Case(const ir::Program& p, const proofs::Counterexample& c)
      : program(p), counterexample(c), names(p, c.iterations) {}
  const ir::Program& program;
  const proofs::Counterexample& counterexample;
  OpNames names;

  [[nodiscard]] OpRef op_of(ir::TransitionId t) const {
    return {names.program_of(t), names.unrolled().op[t.value()]};
  }
  [[nodiscard]] const ir::Op& op(const OpRef& at) const {
    return program.programs[at.program.value()].ops[at.op];
  }
};

struct Candidate {
  Edits edits;
  std::string idea;  ///< what is done, in a few words
  /// Edits that change less and must not be enough: every FIFO with one page less.
  std::vector<Edits> smaller = {};
};

struct Proposals {
  std::vector<Candidate> candidates;   ///< cheap ones first
  std::vector<std::string> tried;      ///< ideas that candidates were looked for with
  std::vector<std::string> obstacles;  ///< why an idea led to none, with the numbers

  void add(Edits edits, std::string idea) {
    candidates.push_back({std::move(edits), std::move(idea), {}});
  }
};

/// All candidates for a counterexample, from the families that know its kind.
[[nodiscard]] Proposals propose(const Case& what);

/// `cycle`, `starved`, where an engine program waits for room in a FIFO: the least memory, in
/// deeper FIFOs, with which nobody waits so (Z3).
void propose_depths(const Case& what, Proposals& out);
/// `overlap`, `out_of_memory`, `misaligned`: buffers at other addresses.
void propose_addresses(const Case& what, Proposals& out);
/// `cycle`: a supply earlier, or a test later.
void propose_moves(const Case& what, Proposals& out);
/// `starved`, `leftover`, `overflow`, `misuse`: a supply or a test more or less.
void propose_counts(const Case& what, Proposals& out);
/// `race`: a hand-off between two accesses.
void propose_handoffs(const Case& what, Proposals& out);
/// `undefined_read` of what did not outlive its section.
void propose_lifetimes(const Case& what, Proposals& out);
/// `double_contribution`: an operand that an all-reduce takes twice.
void propose_operands(const Case& what, Proposals& out);

/// Moves the buffers that `grown` (edits that change depths) leaves without a place of their own.
/// False, and an obstacle with the numbers, if there is no room.
[[nodiscard]] bool place_buffers(const ir::Program& program, Edits& grown, Proposals& out);

}  // namespace spatialcert::certify::repair
