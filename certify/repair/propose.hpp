// Candidates: what might repair a counterexample, found from its kind and the program around it.
//
// One file per family of kinds. Nothing here is right because it was proposed: a candidate counts
// once the program with its edits is certified (certify/repair/repair.hpp). Every family says which
// ideas it tried, and what stood in the way, for the case that none of them helps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
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
  std::vector<Candidate> candidates;   ///< in any order: the search sorts them
  std::vector<std::string> tried;      ///< ideas that candidates were looked for with
  std::vector<std::string> obstacles;  ///< why an idea led to none, with the numbers

  /// Nothing if there are no edits.
  void add(Edits edits, std::string idea) {
    if (edits.empty()) return;
    candidates.push_back({std::move(edits), std::move(idea), {}});
  }
  /// Said once, however often it is met.
  void obstacle(std::string why) {
    if (std::find(obstacles.begin(), obstacles.end(), why) == obstacles.end())
      obstacles.push_back(std::move(why));
  }
};

/// All candidates for a counterexample, from the families that know its kind.
[[nodiscard]] Proposals propose(const Case& what);
/// Why none is known for such a counterexample; empty if some family looks for one.
[[nodiscard]] std::string_view none_known(const proofs::Counterexample& counterexample);

/// `cycle`, `starved`, where an engine program waits for room in a FIFO: the least memory, in
/// deeper FIFOs, with which nobody waits so (Z3).
void propose_depths(const Case& what, Proposals& out);
/// `overlap`, `out_of_memory`, `misaligned`: buffers at other addresses.
void propose_addresses(const Case& what, Proposals& out);
/// `cycle`: a supply earlier, or a test later.
void propose_moves(const Case& what, Proposals& out);
/// `starved`, `leftover`, `overflow`, `misuse`: a supply or a test more or less.
void propose_counts(const Case& what, Proposals& out);
/// A semaphore that several wait for, divided: nobody takes what was posted for others.
void propose_own_semaphores(const Case& what, Proposals& out);
/// `overflow` of a semaphore that nobody takes from: a wait where it is tested.
void propose_taking(const Case& what, std::uint32_t semaphore, Proposals& out);
/// `overflow`: who posts waits until there is room.
void propose_room(const Case& what, std::uint32_t semaphore, Proposals& out);
/// `race`: a hand-off between two accesses.
void propose_handoffs(const Case& what, Proposals& out);
/// A hand-off from one access to another one.
void propose_handoff(const Case& what, ir::TransitionId from, ir::TransitionId to, Proposals& out);
/// What closed boundaries lack of a rendezvous; `slip_through`, and whatever else comes of it.
void propose_rendezvous(const Case& what, Proposals& out);
/// `race`, `interference`: an open boundary between the two sections closed.
void propose_closing(const Case& what, Proposals& out);
void propose_closing(const Case& what, ir::TransitionId a, ir::TransitionId b, Proposals& out);
/// `overflow`: sections that run ahead of each other: the first boundaries that are open.
void propose_closing_any(const Case& what, Proposals& out);
/// `wrong_order`: a section before another one.
void propose_order(const Case& what, Proposals& out);
/// `interference`: a hand-off that is meant to join two sections; buffers that meet in memory.
void propose_isolation(const Case& what, Proposals& out);
/// `undefined_read` of what did not outlive its section.
void propose_lifetimes(const Case& what, Proposals& out);
/// `undefined_read`, `wrong_producer`: the write that was meant, before the read.
void propose_producers(const Case& what, Proposals& out);
/// `missing_chip`, `double_contribution`: operands of an all-reduce, more or less; `leak`: a sum
/// that is one, and a tensor that belongs to another chip.
void propose_operands(const Case& what, Proposals& out);
/// `gap`, `overlap`, `mismatch` of slices: the ranges that tile, and that others have.
void propose_slices(const Case& what, Proposals& out);

/// Numbers of a program may be as large as they come: sums and products end at the largest.
inline constexpr std::int64_t kTooMany = std::numeric_limits<std::int64_t>::max();
[[nodiscard]] inline std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? kTooMany : out;
}
[[nodiscard]] inline std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? kTooMany : out;
}

/// How often an op text is performed in one iteration.
[[nodiscard]] std::int64_t executions(const Case& what, const OpRef& at);
/// The first hand-off of the target that crosses chips.
[[nodiscard]] std::optional<ir::HandoffId> crossing_handoff(const ir::Program& program);
/// `base`, or with a number behind it: a name that no semaphore has, those of `edits` included.
[[nodiscard]] std::string unused_name(const ir::Program& program, const Edits& edits,
                                      const std::string& base);
/// Has the site one more semaphore, beside those of `edits`? Otherwise an obstacle.
[[nodiscard]] bool has_room(const ir::Program& program, const Edits& edits, const ir::Site& site,
                            Proposals& out);
/// Addresses at which `buffers`, and what else is in the way, do not meet.
void add_addresses(const Case& what, const std::vector<ir::BufferId>& buffers, Proposals& out);

/// Moves the buffers that `grown` (edits that change depths) leaves without a place of their own.
/// False, and an obstacle with the numbers, if there is no room.
[[nodiscard]] bool place_buffers(const ir::Program& program, Edits& grown, Proposals& out);

}  // namespace spatialcert::certify::repair
