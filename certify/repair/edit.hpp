// Edits of a program: what a repair may change.
//
// A repair adds, moves or removes synchronisation, moves or enlarges storage, and takes operands
// from all-reduces that they take twice. Runs stay: every engine program performs the same runs
// in the same order, and they read and write what they did (but for the operands of an all-reduce
// that an edit names). Untrusted: whatever comes out is validated and certified like any program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/program.hpp"

namespace spatialcert::certify::repair {

/// An op text: index into EngineProgram::ops of the program before the edits.
struct OpRef {
  ir::ProgramId program;
  std::uint32_t op = 0;
  friend constexpr auto operator<=>(const OpRef&, const OpRef&) = default;
};

/// Beside an op, in the same loop body and the same section; after a loop means after all of it.
struct Beside {
  OpRef anchor;
  bool after = false;
};

/// A new op, no `run` and no `repeat`. A semaphore may be one that an AddSemaphore of the same
/// edits adds.
struct InsertOp {
  Beside where;
  ir::Op op;
};
/// Removes an op, no `run` and no `repeat`.
struct RemoveOp {
  OpRef at;
};
/// The same op at another place of its engine program.
struct MoveOp {
  OpRef from;
  Beside to;
};
/// How much a test or a supply counts.
struct ChangeCount {
  OpRef at;
  std::int64_t count = 0;
};
struct ChangeDepth {
  ir::BufferId fifo;
  std::uint64_t pages = 0;
};
struct MoveBuffer {
  ir::BufferId buffer;
  std::uint64_t address = 0;
};
/// The contents of the buffer outlive sections, from the first to the last of these.
struct KeepBuffer {
  ir::BufferId buffer;
  ir::SectionId from;
  ir::SectionId to;
};
/// Becomes the semaphore after the last one.
struct AddSemaphore {
  ir::Semaphore semaphore;
};
struct ChangeMaximum {
  ir::SemaphoreId semaphore;
  std::int64_t maximum = 0;
};
/// One operand less of an all-reduce.
struct RemoveOperand {
  OpRef at;
  std::uint32_t operand = 0;  ///< among the accesses of the op
};

using Edit = std::variant<InsertOp, RemoveOp, MoveOp, ChangeCount, ChangeDepth, MoveBuffer,
                          KeepBuffer, AddSemaphore, ChangeMaximum, RemoveOperand>;
using Edits = std::vector<Edit>;

/// What a program has more (or, negative, less) after edits.
struct Cost {
  std::int64_t bytes = 0;  ///< of memory spaces, by FIFOs that became deeper
  std::int64_t semaphores = 0;
  std::int64_t pages = 0;     ///< of FIFOs
  std::int64_t ops = 0;       ///< op texts
  std::int64_t operands = 0;  ///< of all-reduces
  friend bool operator==(const Cost&, const Cost&) = default;
};
[[nodiscard]] Cost cost_of(const ir::Program& program, const Edits& edits);
Cost& operator+=(Cost& to, const Cost& more);

/// A copy of `program` with all edits, which refer to it as it is before them. Nothing if they do
/// not fit together, the result is not well-formed (ir/validate.hpp), or it would perform other
/// runs.
[[nodiscard]] std::optional<ir::Program> edited(const ir::Program& program, const Edits& edits);

/// Does every engine program perform the same runs in the same loops, and does each of them touch
/// the same regions? Operands of all-reduces are not compared where `operands` allows it.
[[nodiscard]] bool same_runs(const ir::Program& before, const ir::Program& after, bool operands);

/// What an edit does, in one line, and where: by the names the user wrote.
[[nodiscard]] std::string edit_text(const ir::Program& program, const Edits& edits,
                                    const Edit& edit);
/// `64 bytes of memory, 1 FIFO page`; `nothing` if it costs nothing.
[[nodiscard]] std::string cost_text(const Cost& cost);
/// Name of the kind of an edit in JSON: `insert-op`, `change-depth`, ...
[[nodiscard]] const char* kind_name(const Edit& edit);
/// The op text that an edit is about or stands beside; nothing if it is about another object.
[[nodiscard]] std::optional<OpRef> place_of(const Edit& edit);

}  // namespace spatialcert::certify::repair
