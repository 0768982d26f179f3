// The parts that reports of counterexamples are made of. Private to the reports.
//
// Every function appends whole lines; the caller indents them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "certify/names.hpp"
#include "proofs/counterexample.hpp"

namespace spatialcert::certify {

using Lines = std::vector<std::string>;

/// `cycle`, `starved`: the numbered chain.
void deadlock_lines(const OpNames& names, const proofs::Counterexample& counterexample, Lines& out);
/// The part of `deadlock_lines` that says why nothing satisfies the last link of a chain.
void starved_lines(const OpNames& names, const proofs::Counterexample& counterexample, Lines& out);
/// The links in order; the first introduces itself, the others as who would have helped the one
/// before.
void chain_lines(const OpNames& names, const std::vector<proofs::WaitLink>& chain, bool circle,
                 Lines& out);
/// `race`, `wrong_order`, `undefined_read`, `wrong_producer`: the accesses and their schedules.
void access_lines(const OpNames& names, const proofs::Counterexample& counterexample, Lines& out);
/// `slip_through`, `interference`: what happens between sections.
void composition_lines(const OpNames& names, const proofs::Counterexample& counterexample,
                       Lines& out);
/// `leftover`, `overflow`, `misuse`.
void counter_lines(const OpNames& names, const proofs::Counterexample& counterexample, Lines& out);
/// `overlap`, `out_of_memory`, `misaligned`.
void memory_lines(const ir::Program& program, const proofs::Counterexample& counterexample,
                  Lines& out);
/// An op on the way of data, and what it does with them: `reads w0, writes y`.
struct WayStep {
  ir::TransitionId op;
  std::string does;
};
/// The way from its first op on, numbered. Trips of one op that follow one another are one item; of
/// a long way only both ends are printed.
void way_lines(const OpNames& names, const std::vector<WayStep>& way, Lines& out);
/// `leak`, `missing_chip`, `double_contribution`: the way of a chip's own data to the spine.
void shard_lines(const OpNames& names, const proofs::Counterexample& counterexample, Lines& out);
/// Of `reduction`: the op that the types stop at, and the way of the partial sum that it meets.
void type_lines(const OpNames& names, const proofs::Counterexample& counterexample, Lines& out);
/// Of `slices`: parts that do not tile, or do not belong together.
void slice_lines(const ir::Program& program, const proofs::Counterexample& counterexample,
                 Lines& out);

/// Steps that a schedule takes.
[[nodiscard]] std::uint64_t step_count(const ir::Schedule& schedule);
/// `after 17 steps of the token game`.
[[nodiscard]] std::string after_steps(const ir::Schedule& schedule);

/// Who raises and who lowers a counter, per engine program.
struct CounterUse {
  ir::ProgramId program;
  std::int64_t amount = 0;
  std::uint64_t ops = 0;  ///< op instances
  ir::TransitionId first;
  ir::TransitionId last;
};
struct CounterUses {
  std::vector<CounterUse> raising;
  std::vector<CounterUse> lowering;
};
/// In one iteration.
[[nodiscard]] CounterUses uses_of(const OpNames& names, ir::CounterId counter);
/// In the course of a schedule.
[[nodiscard]] CounterUses uses_in(const OpNames& names, ir::CounterId counter,
                                  const ir::Schedule& schedule);
/// `post`, `push`, `pop`.
[[nodiscard]] const char* supplying_verb(ir::CounterKind kind);
/// `posts`, `pushes`, `pops` and their opposites.
[[nodiscard]] const char* raising_verb(ir::CounterKind kind);
[[nodiscard]] const char* lowering_verb(ir::CounterKind kind);

}  // namespace spatialcert::certify
