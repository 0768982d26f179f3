// Edits of a program: what a repair may change.
//
// A repair adds, moves or removes synchronisation, closes boundaries, moves or enlarges storage,
// gives operands to all-reduces that they lack and takes those that they have twice, performs
// sections in another order, and, last of all, declares something else. Runs stay: every engine
// program performs the same runs, in each section in the same order, and they read and write what
// they did (but for the operands of an all-reduce that an edit names). Untrusted: whatever comes
// out is validated and certified like any program.
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

/// One operand more of an all-reduce, behind its other reads.
struct AddOperand {
  OpRef at;
  ir::Region region;
};
/// The boundary after a section is closed; what its rendezvous consists of is said by BoundaryOps.
struct CloseBoundary {
  ir::SectionId after;
};
/// All that an engine program does at a closed boundary, in place of what it did there. Other edits
/// name no op of that boundary in that engine program.
struct BoundaryOps {
  ir::SectionId after;
  ir::ProgramId program;
  std::vector<ir::Op> ops;
};
/// A section, with all that is its own, is performed before another one that it follows; boundaries
/// stay between the same places. Stands alone.
struct MoveSection {
  ir::SectionId section;
  ir::SectionId before;
};

// What follows declares something else and changes no op: it is right if the declaration was wrong.

/// A stage that adds up operands of several chips is an all-reduce.
struct MakeAllreduce {
  ir::StageId stage;
};
/// The host places the tensor on another chip.
struct MoveTensor {
  ir::TensorId tensor;
  std::uint32_t chip = 0;
};
/// The host fills the tensor.
struct FillTensor {
  ir::TensorId tensor;
};
/// The buffer holds zeros at the start.
struct ClearBuffer {
  ir::BufferId buffer;
};
/// Joins the sections of a phase that use it.
struct DeclareLink {
  ir::Link link;
};
struct DeclareEdge {
  ir::Edge edge;
};
/// Which indices of a full tensor a part holds.
struct ChangeRanges {
  std::uint32_t sliced = 0;  ///< into Program::sliced
  std::uint32_t part = 0;
  std::vector<ir::IndexRange> ranges;
};

using Edit = std::variant<InsertOp, RemoveOp, MoveOp, ChangeCount, ChangeDepth, MoveBuffer,
                          KeepBuffer, AddSemaphore, ChangeMaximum, RemoveOperand, AddOperand,
                          CloseBoundary, BoundaryOps, MoveSection, MakeAllreduce, MoveTensor,
                          FillTensor, ClearBuffer, DeclareLink, DeclareEdge, ChangeRanges>;
using Edits = std::vector<Edit>;

/// What kind of repair edits are together. Those that change less of what was written come first.
enum class Nature : std::uint8_t {
  storage,       ///< ops stay as they are
  form,          ///< a rendezvous gets the form that others have, with the semaphores that it uses
  more,          ///< synchronisation or operands are added, or stand elsewhere
  less,          ///< synchronisation is taken away
  order,         ///< sections are performed in another order
  declarations,  ///< no op changes, but what is said of them
};
[[nodiscard]] Nature nature_of(const ir::Program& program, const Edits& edits);

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

/// What runs need not have in common.
struct Freedom {
  bool operands = false;  ///< of all-reduces
  bool sections = false;  ///< their order; within each of them all runs stay in order
};
/// Does every engine program perform the same runs in the same loops, and does each of them touch
/// the same regions?
[[nodiscard]] bool same_runs(const ir::Program& before, const ir::Program& after,
                             const Freedom& freedom);

/// The ops that an engine program has of the boundary after a section.
[[nodiscard]] std::vector<ir::Op> boundary_ops(const ir::Program& program, ir::ProgramId one,
                                               ir::SectionId after);

/// What an edit does, in one line, and where: by the names the user wrote.
[[nodiscard]] std::string edit_text(const ir::Program& program, const Edits& edits,
                                    const Edit& edit);
/// `64 bytes of memory, 1 FIFO page`; `nothing` if it costs nothing.
[[nodiscard]] std::string cost_text(const Cost& cost);
/// Name of the kind of an edit in JSON: `insert-op`, `change-depth`, ...
[[nodiscard]] const char* kind_name(const Edit& edit);
/// The op text that an edit is about or stands beside; nothing if it is about another object.
[[nodiscard]] std::optional<OpRef> place_of(const Edit& edit);
/// The engine program whose ops an edit changes.
[[nodiscard]] std::optional<ir::ProgramId> program_of(const Edit& edit);

}  // namespace spatialcert::certify::repair
