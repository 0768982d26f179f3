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
  std::string operator()(const AddOperand& e) const {
    return fmt::format("add operand {} to {}", region_text(program_, e.region), place(e.at));
  }
  std::string operator()(const CloseBoundary& e) const {
    return fmt::format("close the boundary after section {}", section(e.after));
  }
  std::string operator()(const BoundaryOps& e) const {
    const std::vector<ir::Op> old = boundary_ops(program_, e.program, e.after);
    const std::vector<ir::Op>& now = e.ops;
    // What both begin and end with is not said again.
    std::size_t begin = 0, end = 0;
    const std::size_t least = std::min(old.size(), now.size());
    while (begin < least && same(old[begin], now[begin])) ++begin;
    while (end < least - begin && same(old[old.size() - 1 - end], now[now.size() - 1 - end])) ++end;
    const std::string less = ops_text(old, begin, old.size() - end);
    const std::string more = ops_text(now, begin, now.size() - end);
    std::string change;
    if (less.empty()) {
      change = old.empty() ? more
               : begin > 0 ? fmt::format("{} after {}", more, ops_text(old, begin - 1, begin))
                           : fmt::format("{} before {}", more, ops_text(old, 0, 1));
    } else {
      change =
          more.empty() ? fmt::format("no {}", less) : fmt::format("{} instead of {}", more, less);
    }
    return fmt::format("at the boundary after section {}, {} does {}", section(e.after),
                       engine_text(program_, e.program), change);
  }
  std::string operator()(const MoveSection& e) const {
    return fmt::format("perform section {} before section {}", section(e.section),
                       section(e.before));
  }
  std::string operator()(const MakeAllreduce& e) const {
    const ir::Stage& stage = program_.stages[e.stage.value()];
    return fmt::format("stage {} is an all-reduce instead of {}{}", stage.name,
                       to_string(stage.kind), located(stage.location));
  }
  std::string operator()(const MoveTensor& e) const {
    const ir::Tensor& tensor = program_.tensors[e.tensor.value()];
    return fmt::format("tensor {} belongs to chip {} instead of {}{}", tensor.name, e.chip,
                       tensor.owner ? fmt::format("chip {}", *tensor.owner) : "none",
                       located(tensor.location));
  }
  std::string operator()(const FillTensor& e) const {
    const ir::Tensor& tensor = program_.tensors[e.tensor.value()];
    return fmt::format("tensor {} is filled by the host: init external{}", tensor.name,
                       located(tensor.location));
  }
  std::string operator()(const ClearBuffer& e) const {
    const ir::Buffer& buffer = program_.buffers[e.buffer.value()];
    return fmt::format("buffer {} at {} holds zeros at the start: init zero{}", buffer.name,
                       site_text(program_, buffer.site), located(buffer.location));
  }
  std::string operator()(const DeclareLink& e) const {
    return fmt::format("declare {} {} as a link", e.link.is_fifo ? "fifo" : "semaphore",
                       e.link.is_fifo ? named_.buffers[e.link.object].name
                                      : named_.semaphores[e.link.object].name);
  }
  std::string operator()(const DeclareEdge& e) const {
    return fmt::format("declare the edge {} -> {} through {}",
                       program_.stages[e.edge.producer.value()].name,
                       program_.stages[e.edge.consumer.value()].name,
                       program_.buffers[e.edge.buffer.value()].name);
  }
  std::string operator()(const ChangeRanges& e) const {
    const ir::SlicedTensor& sliced = program_.sliced[e.sliced];
    const ir::Slice& slice = sliced.slices[e.part];
    return fmt::format("part {} of {}, tensor {}, holds {} {} instead of {}", e.part, sliced.name,
                       program_.tensors[slice.tensor.value()].name, to_string(sliced.axis),
                       ranges_text(e.ranges), ranges_text(slice.ranges));
  }

 private:
  static std::string ranges_text(const std::vector<ir::IndexRange>& ranges) {
    std::string text;
    for (const ir::IndexRange& range : ranges)
      text += fmt::format("{}[{}, {})", text.empty() ? "" : " and ", range.begin, range.end);
    return text;
  }
  static bool same(const ir::Op& a, const ir::Op& b) {
    return a.code == b.code && a.object == b.object && a.count == b.count;
  }
  [[nodiscard]] std::string ops_text(const std::vector<ir::Op>& ops, std::size_t begin,
                                     std::size_t end) const {
    std::string text;
    for (std::size_t i = begin; i < end; ++i)
      text += fmt::format("{}{}", text.empty() ? "" : "; ", op_text(named_, ops[i]));
    return text.empty() ? text : fmt::format("`{}`", text);
  }
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
      "insert-op",    "remove-op",      "move-op",       "change-count",   "change-depth",
      "move-buffer",  "keep-buffer",    "add-semaphore", "change-maximum", "remove-operand",
      "add-operand",  "close-boundary", "boundary-ops",  "move-section",   "make-allreduce",
      "move-tensor",  "fill-tensor",    "clear-buffer",  "declare-link",   "declare-edge",
      "change-ranges"};
  static_assert(std::size(kNames) == std::variant_size_v<Edit>);
  return kNames[edit.index()];
}

}  // namespace spatialcert::certify::repair
