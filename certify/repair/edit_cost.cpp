// What edits are about: where they are, what kind of change they make, and what it costs.
#include <variant>
#include <vector>

#include "certify/repair/edit.hpp"

namespace spatialcert::certify::repair {
namespace {

std::int64_t reads_of(const ir::Program& program, ir::StageId stage) {
  std::int64_t count = 0;
  for (const ir::EngineProgram& one : program.programs) {
    for (const ir::Op& op : one.ops) {
      if (op.code != ir::OpCode::run || op.object != stage.value()) continue;
      for (std::uint32_t a = op.first_access; a < op.first_access + op.accesses; ++a)
        count += program.accesses[a].write ? 0 : 1;
    }
  }
  return count;
}

bool asks_for_less(const ir::Program& program, const ChangeCount& e) {
  return e.count < program.programs[e.at.program.value()].ops[e.at.op].count;
}

}  // namespace

std::vector<ir::Op> boundary_ops(const ir::Program& program, ir::ProgramId one,
                                 ir::SectionId after) {
  std::vector<ir::Op> out;
  const ir::EngineProgram& from = program.programs[one.value()];
  for (const ir::Span& span : from.spans) {
    if (span.boundary.valid() && program.boundaries[span.boundary.value()].after == after)
      out.insert(out.end(), from.ops.begin() + span.begin, from.ops.begin() + span.end);
  }
  return out;
}

Nature nature_of(const ir::Program& program, const Edits& edits) {
  bool ops = false, form = false, more = false, order = false, declares = false;
  for (const Edit& edit : edits) {
    const auto* count = std::get_if<ChangeCount>(&edit);
    const bool less = std::holds_alternative<RemoveOp>(edit) ||
                      (count != nullptr && asks_for_less(program, *count));
    const bool storage =
        std::holds_alternative<ChangeDepth>(edit) || std::holds_alternative<MoveBuffer>(edit) ||
        std::holds_alternative<KeepBuffer>(edit) || std::holds_alternative<ChangeMaximum>(edit);
    // As the variant lists them.
    const bool declaration = edit.index() >= Edit(MakeAllreduce{}).index();
    order |= std::holds_alternative<MoveSection>(edit);
    declares |= declaration;
    ops |= less;
    const bool meets = std::holds_alternative<BoundaryOps>(edit);
    form |= meets;
    more |= !less && !storage && !declaration && !meets;
  }
  if (declares) return Nature::declarations;
  if (order) return Nature::order;
  if (more) return Nature::more;
  if (form) return Nature::form;
  return ops ? Nature::less : Nature::storage;
}

Cost& operator+=(Cost& to, const Cost& more) {
  to.bytes += more.bytes;
  to.semaphores += more.semaphores;
  to.pages += more.pages;
  to.ops += more.ops;
  to.operands += more.operands;
  return to;
}

Cost cost_of(const ir::Program& program, const Edits& edits) {
  Cost cost;
  for (const Edit& edit : edits) {
    if (std::holds_alternative<InsertOp>(edit)) ++cost.ops;
    if (std::holds_alternative<RemoveOp>(edit)) --cost.ops;
    if (std::holds_alternative<AddSemaphore>(edit)) ++cost.semaphores;
    if (std::holds_alternative<RemoveOperand>(edit)) --cost.operands;
    if (std::holds_alternative<AddOperand>(edit)) ++cost.operands;
    if (const auto* whole = std::get_if<MakeAllreduce>(&edit))
      cost.operands += reads_of(program, whole->stage);
    if (const auto* meets = std::get_if<BoundaryOps>(&edit)) {
      cost.ops +=
          static_cast<std::int64_t>(meets->ops.size()) -
          static_cast<std::int64_t>(boundary_ops(program, meets->program, meets->after).size());
    }
    if (const auto* deeper = std::get_if<ChangeDepth>(&edit)) {
      const ir::Buffer& fifo = program.buffers[deeper->fifo.value()];
      const auto more = static_cast<std::int64_t>(deeper->pages - fifo.pages);
      cost.pages += more;
      cost.bytes += more * static_cast<std::int64_t>(fifo.page_bytes);
    }
  }
  return cost;
}

std::optional<OpRef> place_of(const Edit& edit) {
  if (const auto* e = std::get_if<InsertOp>(&edit)) return e->where.anchor;
  if (const auto* e = std::get_if<RemoveOp>(&edit)) return e->at;
  if (const auto* e = std::get_if<MoveOp>(&edit)) return e->from;
  if (const auto* e = std::get_if<ChangeCount>(&edit)) return e->at;
  if (const auto* e = std::get_if<RemoveOperand>(&edit)) return e->at;
  if (const auto* e = std::get_if<AddOperand>(&edit)) return e->at;
  return std::nullopt;
}

std::optional<ir::ProgramId> program_of(const Edit& edit) {
  if (const auto* e = std::get_if<BoundaryOps>(&edit)) return e->program;
  if (const auto at = place_of(edit)) return at->program;
  return std::nullopt;
}

}  // namespace spatialcert::certify::repair
