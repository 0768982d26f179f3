// The program with its loops unrolled: one op instance (a transition of the net) per execution.
//
// Transitions of one engine program are contiguous and in program order. A `persistent` program is
// laid out `iterations` times, one after the other; a `once` program exactly once.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "ir/program.hpp"

namespace spatialcert::ir {

/// The loop indices in force at an op instance: a path in a tree of loop iterations.
struct LoopContext {
  std::uint32_t parent = 0;  ///< context 0 is "outside every loop" and its own parent
  std::uint32_t depth = 0;   ///< number of enclosing loops
  std::int64_t index = 0;    ///< iteration of the innermost loop, from 0
};

struct Unrolled {
  std::uint32_t iterations = 1;
  std::vector<std::uint32_t>
      begin;  ///< first transition of each engine program; one more at the end
  std::vector<std::uint32_t> program;  ///< transition -> ProgramId value
  std::vector<std::uint32_t> op;       ///< transition -> index into EngineProgram::ops
  std::vector<std::uint32_t> context;  ///< transition -> index into contexts
  std::vector<LoopContext> contexts;

  [[nodiscard]] std::uint32_t transitions() const { return static_cast<std::uint32_t>(op.size()); }
  /// Transitions of one iteration of a program.
  [[nodiscard]] std::uint32_t length(ProgramId p) const {
    return (begin[p.value() + 1] - begin[p.value()]) / iterations;
  }
  [[nodiscard]] std::uint32_t iteration(TransitionId t) const {
    const ProgramId p(program[t.value()]);
    const std::uint32_t n = length(p);
    return n == 0 ? 0 : (t.value() - begin[p.value()]) / n;
  }
  [[nodiscard]] const Op& op_of(const Program& program_model, TransitionId t) const {
    return program_model.programs[program[t.value()]].ops[op[t.value()]];
  }
};

/// The program would unroll to more transitions than allowed.
struct UnrollLimit {
  ProgramId program;
  std::uint32_t op = 0;  ///< the outermost `repeat` at which the limit was passed
  std::uint64_t limit = 0;
};

inline constexpr std::uint64_t kUnrollLimit = 30'000'000;

/// Unrolls; linear in the result. `iterations` >= 1 is the number of copies of a persistent
/// program.
[[nodiscard]] std::variant<Unrolled, UnrollLimit> unroll(const Program& program,
                                                         std::uint32_t iterations = 1,
                                                         std::uint64_t limit = kUnrollLimit);

/// Value of bound `which` of `region` under a loop context; nothing on overflow.
[[nodiscard]] std::optional<std::int64_t> bound_value(const Program& program,
                                                      const Unrolled& unrolled,
                                                      const Region& region, std::uint32_t context,
                                                      int which);

}  // namespace spatialcert::ir
