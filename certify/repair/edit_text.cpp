// Edits and what they cost, in words.
#include <fmt/format.h>

#include <algorithm>

#include "certify/names.hpp"
#include "certify/repair/edit.hpp"
#include "certify/report.hpp"

namespace spatialcert::certify::repair {
namespace {

class Words {
 public:
  Words(const ir::Program& program, const Edits& edits) : program_(program) {
    named_.semaphores = program.semaphores;
    named_.buffers = program.buffers;
    for (const Edit& edit : edits) {
      if (const auto* added = std::get_if<AddSemaphore>(&edit))
        named_.semaphores.push_back(added->semaphore);
    }
  }

  std::string operator()(const InsertOp& e) const {
    return fmt::format("insert `{}` {} {}", op_text(named_, e.op), side(e.where),
                       place(e.where.anchor));
  }
  std::string operator()(const RemoveOp& e) const { return "remove " + place(e.at); }
  std::string operator()(const MoveOp& e) const {
    return fmt::format("move {} {} op {} `{}`", place(e.from), side(e.to), e.to.anchor.op,
                       op_text(program_, op(e.to.anchor)));
  }
  std::string operator()(const ChangeCount& e) const {
    ir::Op changed = op(e.at);
    changed.count = e.count;
    return fmt::format("{} becomes `{}`", place(e.at), op_text(program_, changed));
  }
  std::string operator()(const ChangeDepth& e) const {
    const ir::Buffer& fifo = program_.buffers[e.fifo.value()];
    return fmt::format(
        "fifo {} at {}: {} instead of {}{}", fifo.name, site_text(program_, fifo.site),
        count_text(static_cast<std::int64_t>(e.pages), "page"), fifo.pages, located(fifo.location));
  }
  std::string operator()(const MoveBuffer& e) const {
    const ir::Buffer& buffer = program_.buffers[e.buffer.value()];
    return fmt::format("buffer {} at {}: address {} of {} instead of {}{}", buffer.name,
                       site_text(program_, buffer.site), e.address,
                       program_.target.spaces[buffer.space.value()].name, buffer.address,
                       located(buffer.location));
  }
  std::string operator()(const KeepBuffer& e) const {
    const ir::Buffer& buffer = program_.buffers[e.buffer.value()];
    return fmt::format("buffer {} at {}: resident from section {} to section {}{}", buffer.name,
                       site_text(program_, buffer.site), section(e.from), section(e.to),
                       located(buffer.location));
  }
  std::string operator()(const AddSemaphore& e) const {
    return fmt::format("add semaphore {} at {}, initially {}, at most {}", e.semaphore.name,
                       site_text(program_, e.semaphore.site), e.semaphore.initial,
                       e.semaphore.maximum);
  }
  std::string operator()(const ChangeMaximum& e) const {
    const ir::Semaphore& semaphore = program_.semaphores[e.semaphore.value()];
    return fmt::format("semaphore {} at {}: maximum {} instead of {}", semaphore.name,
                       site_text(program_, semaphore.site), e.maximum, semaphore.maximum);
  }
  std::string operator()(const RemoveOperand& e) const {
    return fmt::format(
        "remove operand {}, {}, from {}", e.operand,
        region_text(program_, program_.accesses[op(e.at).first_access + e.operand].region),
        place(e.at));
  }

 private:
  [[nodiscard]] const ir::Op& op(const OpRef& at) const {
    return program_.programs[at.program.value()].ops[at.op];
  }
  [[nodiscard]] const std::string& section(ir::SectionId id) const {
    return program_.sections[id.value()].name;
  }
  static const char* side(const Beside& where) { return where.after ? "after" : "before"; }
  [[nodiscard]] std::string located(ir::LocationIndex location) const {
    const std::string source = source_text(program_, location);
    return source.empty() ? source : " [" + source + "]";
  }
  [[nodiscard]] std::string place(const OpRef& at) const {
    return fmt::format("op {} `{}` of {}, {}{}", at.op, op_text(program_, op(at)),
                       engine_text(program_, at.program), part_text(program_, at.program, at.op),
                       located(op(at).location));
  }

  const ir::Program& program_;
  /// Names of semaphores, those that are added included.
  ir::Program named_;
};

}  // namespace

std::string edit_text(const ir::Program& program, const Edits& edits, const Edit& edit) {
  return std::visit(Words(program, edits), edit);
}

std::string cost_text(const Cost& cost) {
  std::string text;
  const auto add = [&](std::int64_t count, const char* what, const char* of) {
    if (count == 0) return;
    if (!text.empty()) text += ", ";
    text += fmt::format("{}{}{}", count < 0 ? "-" : "", count_text(std::abs(count), what), of);
  };
  add(cost.bytes, "byte", " of memory");
  add(cost.pages, "FIFO page", "");
  add(cost.semaphores, "semaphore", "");
  add(cost.ops, "op", "");
  add(cost.operands, "operand", "");
  return text.empty() ? "nothing" : text;
}

const char* kind_name(const Edit& edit) {
  constexpr const char* kNames[] = {
      "insert-op",   "remove-op",   "move-op",       "change-count",   "change-depth",
      "move-buffer", "keep-buffer", "add-semaphore", "change-maximum", "remove-operand"};
  static_assert(std::size(kNames) == std::variant_size_v<Edit>);
  return kNames[edit.index()];
}

}  // namespace spatialcert::certify::repair
