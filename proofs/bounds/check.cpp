#include <algorithm>

#include "ir/counter_bounds.hpp"
#include "proofs/bounds/rule.hpp"
#include "proofs/issues.hpp"

namespace spatialcert::proofs::bounds {
namespace {

/// Open pages at the producing and the consuming end of every buffer. An end belongs to one engine
/// program, so a walk program by program sees its windows as every schedule does.
class Windows {
 public:
  explicit Windows(const Subject& subject)
      : program_(*subject.program),
        counters_(program_),
        back_(program_.buffers.size(), 0),
        front_(program_.buffers.size(), 0) {}

  std::optional<WindowMisuse> step(ir::TransitionId t, const ir::Op& op) {
    switch (op.code) {
      case ir::OpCode::reserve:
        back_[op.object] = std::max(back_[op.object], op.count);
        return std::nullopt;
      case ir::OpCode::front:
        front_[op.object] = std::max(front_[op.object], op.count);
        return std::nullopt;
      case ir::OpCode::push:
        return close(t, op, back_[op.object], true);
      case ir::OpCode::pop:
        return close(t, op, front_[op.object], false);
      case ir::OpCode::run:
        return touch(t, op);
      default:
        return std::nullopt;
    }
  }

 private:
  [[nodiscard]] ir::CounterId counter(std::uint32_t buffer, bool back) const {
    return back ? counters_.free(ir::BufferId(buffer)) : counters_.filled(ir::BufferId(buffer));
  }
  std::optional<WindowMisuse> close(ir::TransitionId t, const ir::Op& op, std::int64_t& open,
                                    bool back) const {
    if (op.count > open) return WindowMisuse{t, counter(op.object, back), op.count, open};
    open -= op.count;
    return std::nullopt;
  }
  [[nodiscard]] std::optional<WindowMisuse> touch(ir::TransitionId t, const ir::Op& op) const {
    for (std::uint32_t a = 0; a < op.accesses; ++a) {
      const ir::Access& access = program_.accesses[op.first_access + a];
      if (access.region.kind != ir::RegionKind::page) continue;
      const std::int64_t open = (access.write ? back_ : front_)[access.region.object];
      if (access.region.page >= open) {
        return WindowMisuse{t, counter(access.region.object, access.write),
                            std::int64_t{access.region.page} + 1, open};
      }
    }
    return std::nullopt;
  }

  const ir::Program& program_;
  ir::Counters counters_;
  std::vector<std::int64_t> back_, front_;
};

}  // namespace

std::optional<WindowMisuse> window_misuse(const Subject& subject) {
  Windows windows(subject);
  for (std::uint32_t t = 0; t < subject.stretch.transitions(); ++t) {
    const ir::TransitionId id(t);
    if (auto misuse = windows.step(id, subject.stretch.op_of(*subject.program, id))) return misuse;
  }
  return std::nullopt;
}

Check check(const Subject& subject, const Witness&) {
  const auto place = [&](ir::TransitionId t) {
    return transition_text(*subject.program, subject.stretch, t);
  };
  if (!subject.net.exact()) {
    return Rejected{Rejected::Reason::inexact_test,
                    issue_text(subject, subject.net.issues.front())};
  }
  if (subject.accesses.limit)
    return Rejected{Rejected::Reason::missing_obligation, "too many accesses"};
  if (!subject.accesses.faults.empty()) {
    return Rejected{Rejected::Reason::misuse, place(subject.accesses.faults.front().transition)};
  }
  if (const auto misuse = window_misuse(subject))
    return Rejected{Rejected::Reason::misuse, place(misuse->transition)};
  for (const ir::SemaphoreBound& bound :
       ir::semaphore_bounds(*subject.program, subject.one, subject.net)) {
    const ir::Semaphore& semaphore = subject.program->semaphores[bound.semaphore.value()];
    if (!bound.largest || *bound.largest > semaphore.maximum) {
      return Rejected{Rejected::Reason::out_of_range, "semaphore " + semaphore.name};
    }
  }
  return Accepted{subject.accesses.accesses.size() + subject.program->semaphores.size() +
                  subject.program->buffers.size()};
}

}  // namespace spatialcert::proofs::bounds
