// A program with fewer turns of some of its loops, that stands for it.
//
// Loops that exchange tokens with one another form a *group*. Each of them takes `turns` trips to
// one *segment*, so many that in a segment of all of them every counter is raised as often as it is
// lowered (the repetition vector of synchronous dataflow, [Lee, Messerschmitt 1987]). `fold` takes
// the same number of segments away from all loops of a group. What remains is a program of the same
// text; whether it stands for the whole one is for proofs/folding/ to show, from its net.
//
// Accesses that move with a folded loop would move less far. They become everything that they touch
// in all trips of the whole program: they are *widened*. For a read, and for the order of accesses,
// that only asks for more. A write is widened only if the trips' own regions leave no gap, and if
// no other op of the group's loops touches any of it; that nobody else touches it between two trips
// is for proofs/folding/ to show, too.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ir/program.hpp"

namespace spatialcert::ir {

struct FoldedLoop {
  std::uint32_t program = 0;  ///< ProgramId value
  std::uint32_t op = 0;       ///< its `repeat`
  std::int64_t turns = 1;     ///< trips to a segment
  std::int64_t skip = 0;      ///< trips before the first segment
};

struct FoldedGroup {
  std::int64_t removed = 0;       ///< segments that are taken away
  std::vector<FoldedLoop> loops;  ///< by program, one of each at most
};

/// No groups: nothing is folded.
using Folding = std::vector<FoldedGroup>;

struct Folded {
  Program program;
  std::vector<std::uint32_t> depth;    ///< per group: number of loops around its loops
  std::vector<std::int64_t> segments;  ///< per group: how many remain
  /// Per group: tensors that its loops write in widened accesses.
  std::vector<std::vector<TensorId>> widened;
};

/// Why a group cannot be folded.
struct Unfoldable {
  std::uint32_t group = 0;
  std::string why;
};

/// Linear in the program's text (up to sorting); independent of trip counts. `program` must be
/// validated; `folding` may be anything.
[[nodiscard]] std::variant<Folded, Unfoldable> fold(const Program& program, const Folding& folding);

/// Op instances of one iteration of the program, saturating at 2^63 - 1.
[[nodiscard]] std::uint64_t op_instances(const Program& program);

}  // namespace spatialcert::ir
