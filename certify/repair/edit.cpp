#include "certify/repair/edit.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "ir/validate.hpp"

namespace spatialcert::certify::repair {
namespace {

/// Removal, insertions and changes beside the ops of one engine program.
struct OpEdits {
  std::map<std::uint32_t, std::vector<ir::Op>> before, after;
  std::map<std::uint32_t, bool> gone;
  std::map<std::uint32_t, std::int64_t> count;
  std::map<std::uint32_t, std::vector<ir::Op>> boundary;  ///< by the section before it

  [[nodiscard]] bool empty() const {
    return before.empty() && after.empty() && gone.empty() && count.empty() && boundary.empty();
  }
};

/// Writes the ops of one engine program anew. Bodies and spans follow.
class Rewriter {
 public:
  Rewriter(const ir::EngineProgram& from, const std::vector<ir::Boundary>& boundaries,
           const OpEdits& edits)
      : from_(from), boundaries_(boundaries), edits_(edits) {}

  ir::EngineProgram run() {
    to_.site = from_.site;
    to_.engine = from_.engine;
    auto next = edits_.boundary.begin();
    for (ir::Span span : from_.spans) {
      // The boundary after a section comes before all sections behind it.
      const std::uint32_t section =
          span.section.valid() ? span.section.value() : after(span.boundary);
      for (; next != edits_.boundary.end() &&
             (next->first < section || (span.boundary.valid() && next->first == section));
           ++next)
        meet(*next);
      if (span.boundary.valid() && edits_.boundary.contains(section)) continue;
      const auto begin = static_cast<std::uint32_t>(out_.size());
      write(span.begin, span.end);
      add(span, begin);
    }
    for (; next != edits_.boundary.end(); ++next) meet(*next);
    to_.ops = std::move(out_);
    return std::move(to_);
  }

 private:
  [[nodiscard]] std::uint32_t after(ir::BoundaryId id) const {
    return boundaries_[id.value()].after.value();
  }
  void add(ir::Span span, std::uint32_t begin) {
    span.begin = begin;
    span.end = static_cast<std::uint32_t>(out_.size());
    if (span.begin != span.end) to_.spans.push_back(span);
  }
  void meet(const std::pair<const std::uint32_t, std::vector<ir::Op>>& at) {
    const auto begin = static_cast<std::uint32_t>(out_.size());
    out_.insert(out_.end(), at.second.begin(), at.second.end());
    for (std::uint32_t b = 0; b < boundaries_.size(); ++b) {
      if (after(ir::BoundaryId(b)) == at.first)
        return add({ir::SectionId(), ir::BoundaryId(b), 0, 0}, begin);
    }
    out_.resize(begin);  // there is no such boundary: the edits do not fit together
  }
  void insert(const std::map<std::uint32_t, std::vector<ir::Op>>& where, std::uint32_t at) {
    const auto found = where.find(at);
    if (found != where.end()) out_.insert(out_.end(), found->second.begin(), found->second.end());
  }
  void write(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end; i += 1 + from_.ops[i].body) {
      insert(edits_.before, i);
      if (!edits_.gone.contains(i)) {
        const std::size_t at = out_.size();
        out_.push_back(from_.ops[i]);
        const auto count = edits_.count.find(i);
        if (count != edits_.count.end()) out_.back().count = count->second;
        write(i + 1, i + 1 + from_.ops[i].body);
        out_[at].body = static_cast<std::uint32_t>(out_.size() - at - 1);
      }
      insert(edits_.after, i);
    }
  }

  const ir::EngineProgram& from_;
  const std::vector<ir::Boundary>& boundaries_;
  const OpEdits& edits_;
  ir::EngineProgram to_;
  std::vector<ir::Op> out_;
};

/// Accesses of all ops stand one behind the other, in the order of the ops.
/// `change(op reference, reads and writes of the op)`, for every run.
template <typename Change>
void rewrite_accesses(ir::Program& program, const Change& change) {
  std::vector<ir::Access> accesses;
  for (std::uint32_t p = 0; p < program.programs.size(); ++p) {
    auto& ops = program.programs[p].ops;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      if (ops[i].code != ir::OpCode::run) continue;
      const auto first = program.accesses.begin() + ops[i].first_access;
      std::vector<ir::Access> own(first, first + ops[i].accesses);
      change(OpRef{ir::ProgramId(p), i}, own);
      ops[i].first_access = static_cast<std::uint32_t>(accesses.size());
      ops[i].accesses = static_cast<std::uint32_t>(own.size());
      accesses.insert(accesses.end(), own.begin(), own.end());
    }
  }
  program.accesses = std::move(accesses);
}

/// The sections of `program` in the order `order`, and the ops of every engine program with them.
bool reorder(ir::Program& program, const std::vector<ir::SectionId>& order) {
  std::vector<ir::SectionId> place(program.sections.size());  // by the number it had
  if (order.size() != place.size()) return false;
  for (std::size_t to = 0; to < order.size(); ++to) {
    if (order[to].value() >= place.size() || place[order[to].value()].valid()) return false;
    place[order[to].value()] = ir::SectionId(to);
  }
  std::vector<ir::Section> sections;
  for (const ir::SectionId from : order) sections.push_back(program.sections[from.value()]);
  program.sections = std::move(sections);
  for (ir::Stage& stage : program.stages) stage.section = place[stage.section.value()];
  for (ir::Buffer& buffer : program.buffers) {
    if (!buffer.resident_from.valid()) continue;
    // All sections that it lived in, and those that now stand between them.
    std::vector<ir::SectionId> now;
    for (auto s = buffer.resident_from.value(); s <= buffer.resident_to.value(); ++s)
      now.push_back(place[s]);
    buffer.resident_from = *std::min_element(now.begin(), now.end());
    buffer.resident_to = *std::max_element(now.begin(), now.end());
  }
  for (ir::EngineProgram& one : program.programs) {
    std::vector<ir::Span> spans = one.spans;
    const auto rank = [&](const ir::Span& span) {
      return span.section.valid() ? 2 * place[span.section.value()].value()
                                  : 2 * program.boundaries[span.boundary.value()].after.value() + 1;
    };
    std::stable_sort(spans.begin(), spans.end(),
                     [&](const ir::Span& a, const ir::Span& b) { return rank(a) < rank(b); });
    std::vector<ir::Op> ops;
    for (ir::Span& span : spans) {
      const auto begin = static_cast<std::uint32_t>(ops.size());
      ops.insert(ops.end(), one.ops.begin() + span.begin, one.ops.begin() + span.end);
      span.begin = begin;
      span.end = static_cast<std::uint32_t>(ops.size());
      if (span.section.valid()) span.section = place[span.section.value()];
    }
    one.ops = std::move(ops);
    one.spans = std::move(spans);
  }
  rewrite_accesses(program, [](const OpRef&, std::vector<ir::Access>&) {});
  return true;
}

class Application {
 public:
  Application(const ir::Program& program, const Edits& edits)
      : before_(program), edits_(edits), program_(program), ops_(program.programs.size()) {}

  std::optional<ir::Program> run() {
    Freedom freedom;
    for (const Edit& edit : edits_) {
      if (!std::visit([&](const auto& e) { return take(e); }, edit)) return std::nullopt;
      freedom.operands |=
          std::holds_alternative<RemoveOperand>(edit) || std::holds_alternative<AddOperand>(edit);
      freedom.sections |= std::holds_alternative<MoveSection>(edit);
    }
    if (!added_.empty() || !removed_.empty()) change_operands();
    for (std::size_t p = 0; p < ops_.size(); ++p) {
      if (!ops_[p].empty())
        program_.programs[p] = Rewriter(program_.programs[p], program_.boundaries, ops_[p]).run();
    }
    if (ir::validate(program_)) return std::nullopt;
    if (!same_runs(before_, program_, freedom)) return std::nullopt;
    return std::move(program_);
  }

 private:
  const ir::Op* op_at(const OpRef& at) const {
    if (at.program.value() >= before_.programs.size()) return nullptr;
    const auto& ops = before_.programs[at.program.value()].ops;
    return at.op < ops.size() ? &ops[at.op] : nullptr;
  }
  bool is_synchronisation(const OpRef& at) const {
    const ir::Op* op = op_at(at);
    return op != nullptr && op->code != ir::OpCode::run && op->code != ir::OpCode::repeat;
  }
  bool put(const Beside& where, const ir::Op& op) {
    if (op_at(where.anchor) == nullptr) return false;
    OpEdits& e = ops_[where.anchor.program.value()];
    (where.after ? e.after : e.before)[where.anchor.op].push_back(op);
    return true;
  }

  bool take(const InsertOp& e) {
    return e.op.code != ir::OpCode::run && e.op.code != ir::OpCode::repeat && put(e.where, e.op);
  }
  bool take(const RemoveOp& e) {
    return is_synchronisation(e.at) &&
           ops_[e.at.program.value()].gone.emplace(e.at.op, true).second;
  }
  bool take(const MoveOp& e) {
    return take(RemoveOp{e.from}) && e.from.program == e.to.anchor.program &&
           put(e.to, *op_at(e.from));
  }
  bool take(const ChangeCount& e) {
    return e.count > 0 && is_synchronisation(e.at) &&
           ops_[e.at.program.value()].count.emplace(e.at.op, e.count).second;
  }
  bool take(const ChangeDepth& e) {
    program_.buffers.at(e.fifo.value()).pages = e.pages;
    return true;
  }
  bool take(const MoveBuffer& e) {
    program_.buffers.at(e.buffer.value()).address = e.address;
    return true;
  }
  bool take(const KeepBuffer& e) {
    ir::Buffer& buffer = program_.buffers.at(e.buffer.value());
    buffer.lifetime = ir::Lifetime::resident;
    buffer.resident_from = e.from;
    buffer.resident_to = e.to;
    return true;
  }
  bool take(const AddSemaphore& e) {
    program_.semaphores.push_back(e.semaphore);
    return true;
  }
  bool take(const ChangeMaximum& e) {
    program_.semaphores.at(e.semaphore.value()).maximum = e.maximum;
    return true;
  }
  bool is_allreduce(const OpRef& at) const {
    const ir::Op* op = op_at(at);
    return op != nullptr && op->code == ir::OpCode::run &&
           before_.stages[op->object].kind == ir::StageKind::allreduce;
  }
  bool take(const RemoveOperand& e) {
    if (!is_allreduce(e.at) || e.operand >= op_at(e.at)->accesses ||
        before_.accesses[op_at(e.at)->first_access + e.operand].write)
      return false;
    removed_[e.at].push_back(e.operand);
    return true;
  }
  bool take(const AddOperand& e) {
    if (!is_allreduce(e.at)) return false;
    added_[e.at].push_back(e.region);
    return true;
  }
  bool take(const CloseBoundary& e) {
    auto& all = program_.boundaries;
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const ir::Boundary& b) { return !(b.after < e.after); });
    if (at != all.end() && at->after == e.after) {
      at->closed = true;
      return true;
    }
    const auto number = static_cast<std::uint32_t>(at - all.begin());
    all.insert(at, {e.after, true});
    for (ir::EngineProgram& one : program_.programs) {
      for (ir::Span& span : one.spans) {
        if (span.boundary.valid() && span.boundary.value() >= number)
          span.boundary = ir::BoundaryId(span.boundary.value() + 1);
      }
    }
    return true;
  }
  bool take(const BoundaryOps& e) {
    return std::none_of(e.ops.begin(), e.ops.end(),
                        [](const ir::Op& op) {
                          return op.code == ir::OpCode::run || op.code == ir::OpCode::repeat;
                        }) &&
           ops_.at(e.program.value()).boundary.emplace(e.after.value(), e.ops).second;
  }
  bool take(const MoveSection& e) {
    if (edits_.size() != 1 || !(e.before < e.section)) return false;
    std::vector<ir::SectionId> order;
    for (std::uint32_t s = 0; s < program_.sections.size(); ++s) {
      if (ir::SectionId(s) == e.before) order.push_back(e.section);
      if (ir::SectionId(s) != e.section) order.emplace_back(s);
    }
    return reorder(program_, order);
  }
  bool take(const MakeAllreduce& e) {
    program_.stages.at(e.stage.value()).kind = ir::StageKind::allreduce;
    return true;
  }
  bool take(const MoveTensor& e) {
    program_.tensors.at(e.tensor.value()).owner = e.chip;
    return true;
  }
  bool take(const FillTensor& e) {
    program_.tensors.at(e.tensor.value()).init = ir::Init::external;
    return true;
  }
  bool take(const ClearBuffer& e) {
    program_.buffers.at(e.buffer.value()).init = ir::Init::zero;
    return true;
  }
  bool take(const DeclareLink& e) {
    program_.links.push_back(e.link);
    return true;
  }
  bool take(const DeclareEdge& e) {
    program_.edges.push_back(e.edge);
    return true;
  }
  bool take(const ChangeRanges& e) {
    program_.sliced.at(e.sliced).slices.at(e.part).ranges = e.ranges;
    return true;
  }

  void change_operands() {
    rewrite_accesses(program_, [&](const OpRef& at, std::vector<ir::Access>& own) {
      if (const auto gone = removed_.find(at); gone != removed_.end()) {
        std::sort(gone->second.rbegin(), gone->second.rend());
        for (const std::uint32_t operand : gone->second) own.erase(own.begin() + operand);
      }
      const auto more = added_.find(at);
      if (more == added_.end()) return;
      const auto writes = std::find_if(own.begin(), own.end(),
                                       [](const ir::Access& access) { return access.write; });
      std::vector<ir::Access> reads;
      for (const ir::Region& region : more->second) reads.push_back({region, false});
      own.insert(writes, reads.begin(), reads.end());
    });
  }

  const ir::Program& before_;
  const Edits& edits_;
  ir::Program program_;
  std::vector<OpEdits> ops_;
  std::map<OpRef, std::vector<std::uint32_t>> removed_;
  std::map<OpRef, std::vector<ir::Region>> added_;
};

}  // namespace

std::optional<ir::Program> edited(const ir::Program& program, const Edits& edits) {
  return Application(program, edits).run();
}

}  // namespace spatialcert::certify::repair
