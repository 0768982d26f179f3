#include "certify/repair/edit.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "ir/require.hpp"
#include "ir/validate.hpp"

namespace spatialcert::certify::repair {
namespace {

/// Removal, insertions and changes beside the ops of one engine program.
struct OpEdits {
  std::map<std::uint32_t, std::vector<ir::Op>> before, after;
  std::map<std::uint32_t, bool> gone;
  std::map<std::uint32_t, std::int64_t> count;
};

/// Writes the ops of one engine program anew. Bodies and spans follow.
class Rewriter {
 public:
  Rewriter(const ir::EngineProgram& from, const OpEdits& edits) : from_(from), edits_(edits) {}

  ir::EngineProgram run() {
    ir::EngineProgram to;
    to.site = from_.site;
    to.engine = from_.engine;
    for (ir::Span span : from_.spans) {
      const auto begin = static_cast<std::uint32_t>(out_.size());
      write(span.begin, span.end);
      span.begin = begin;
      span.end = static_cast<std::uint32_t>(out_.size());
      if (span.begin != span.end) to.spans.push_back(span);
    }
    to.ops = std::move(out_);
    return to;
  }

 private:
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
  const OpEdits& edits_;
  std::vector<ir::Op> out_;
};

class Application {
 public:
  Application(const ir::Program& program, const Edits& edits)
      : before_(program), edits_(edits), program_(program), ops_(program.programs.size()) {}

  std::optional<ir::Program> run() {
    bool operands = false;
    for (const Edit& edit : edits_) {
      if (!std::visit([&](const auto& e) { return take(e); }, edit)) return std::nullopt;
      operands |= std::holds_alternative<RemoveOperand>(edit);
    }
    for (std::size_t p = 0; p < ops_.size(); ++p) {
      const OpEdits& e = ops_[p];
      if (e.before.empty() && e.after.empty() && e.gone.empty() && e.count.empty()) continue;
      program_.programs[p] = Rewriter(program_.programs[p], e).run();
    }
    if (ir::validate(program_)) return std::nullopt;
    if (!same_runs(before_, program_, operands)) return std::nullopt;
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
  bool take(const RemoveOperand& e) {
    return operands(e.at, [&](std::vector<ir::Access>& all) {
      if (e.operand < all.size() && !all[e.operand].write)
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(e.operand));
    });
  }

  /// Accesses of all ops stand one behind the other, in order.
  template <typename Change>
  bool operands(const OpRef& at, Change change) {
    std::vector<ir::Access> accesses;
    for (std::uint32_t p = 0; p < program_.programs.size(); ++p) {
      auto& ops = program_.programs[p].ops;
      for (std::uint32_t i = 0; i < ops.size(); ++i) {
        if (ops[i].code != ir::OpCode::run) continue;
        const auto first = program_.accesses.begin() + ops[i].first_access;
        std::vector<ir::Access> own(first, first + ops[i].accesses);
        if (at == OpRef{ir::ProgramId(p), i}) {
          if (program_.stages[ops[i].object].kind != ir::StageKind::allreduce) return false;
          change(own);
        }
        ops[i].first_access = static_cast<std::uint32_t>(accesses.size());
        ops[i].accesses = static_cast<std::uint32_t>(own.size());
        accesses.insert(accesses.end(), own.begin(), own.end());
      }
    }
    program_.accesses = std::move(accesses);
    return true;
  }

  const ir::Program& before_;
  const Edits& edits_;
  ir::Program program_;
  std::vector<OpEdits> ops_;
};

/// A run with the loops around it, as something to compare.
using Run = std::vector<std::int64_t>;

std::vector<Run> runs_of(const ir::Program& program, const ir::EngineProgram& one, bool operands) {
  std::vector<Run> out;
  std::vector<std::pair<std::size_t, std::pair<std::int64_t, std::int64_t>>> open;  // end: loop
  std::int64_t loops = 0;
  for (std::size_t i = 0; i < one.ops.size(); ++i) {
    while (!open.empty() && open.back().first <= i) open.pop_back();
    const ir::Op& op = one.ops[i];
    if (op.code == ir::OpCode::repeat) {
      // A loop without a run in it does not count.
      const auto end = one.ops.begin() + static_cast<std::ptrdiff_t>(i + 1 + op.body);
      const bool runs = std::any_of(one.ops.begin() + static_cast<std::ptrdiff_t>(i), end,
                                    [](const ir::Op& o) { return o.code == ir::OpCode::run; });
      open.push_back({i + 1 + op.body, {runs ? loops++ : -1, op.count}});
    }
    if (op.code != ir::OpCode::run) continue;
    Run& run = out.emplace_back();
    run.push_back(op.object);
    for (const auto& [end, loop] : open) {
      run.push_back(loop.first);
      run.push_back(loop.second);
    }
    const bool skip = operands && program.stages[op.object].kind == ir::StageKind::allreduce;
    for (std::uint32_t a = op.first_access; a < op.first_access + op.accesses; ++a) {
      const ir::Access& access = program.accesses[a];
      if (skip && !access.write) continue;
      const ir::Region& r = access.region;
      run.insert(run.end(), {access.write ? 1 : 0, static_cast<std::int64_t>(r.kind), r.object,
                             r.page, r.bound[0], r.bound[1], r.bound[2], r.bound[3]});
      for (std::uint32_t t = r.first_term; t < r.first_term + r.terms; ++t) {
        const ir::AffineTerm& term = program.affine_terms[t];
        run.insert(run.end(), {term.bound, term.level, term.coefficient});
      }
    }
  }
  return out;
}

}  // namespace

std::optional<ir::Program> edited(const ir::Program& program, const Edits& edits) {
  return Application(program, edits).run();
}

bool same_runs(const ir::Program& before, const ir::Program& after, bool operands) {
  if (before.programs.size() != after.programs.size()) return false;
  for (std::size_t p = 0; p < before.programs.size(); ++p) {
    if (runs_of(before, before.programs[p], operands) !=
        runs_of(after, after.programs[p], operands))
      return false;
  }
  return true;
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
  return std::nullopt;
}

}  // namespace spatialcert::certify::repair
