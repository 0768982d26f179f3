#include <limits>

#include "proofs/issues.hpp"
#include "proofs/quiescence/rule.hpp"

namespace spatialcert::proofs::quiescence {
namespace {

/// Adds; a sum that does not fit stays at the largest value, which no later addition changes.
void add(std::int64_t& sum, std::int64_t delta) {
  constexpr auto kTop = std::numeric_limits<std::int64_t>::max();
  if (sum == kTop || __builtin_add_overflow(sum, delta, &sum)) sum = kTop;
}

}  // namespace

std::vector<std::int64_t> balance(const Subject& subject) {
  const ir::Counters counters(*subject.program);
  std::vector<std::int64_t> sum(counters.size(), 0);
  for (std::uint32_t t = 0; t < subject.one.transitions(); ++t) {
    const ir::Op& op = subject.one.op_of(*subject.program, ir::TransitionId(t));
    switch (op.code) {
      case ir::OpCode::post:
        add(sum[counters.of(ir::SemaphoreId(op.object)).value()], op.count);
        break;
      case ir::OpCode::wait:
        add(sum[counters.of(ir::SemaphoreId(op.object)).value()], -op.count);
        break;
      case ir::OpCode::push:
        add(sum[counters.filled(ir::BufferId(op.object)).value()], op.count);
        break;
      case ir::OpCode::pop:
        add(sum[counters.filled(ir::BufferId(op.object)).value()], -op.count);
        break;
      default:
        break;
    }
  }
  return sum;
}

bool must_return(const ir::Program& program, const ir::Counter& counter) {
  switch (counter.kind) {
    case ir::CounterKind::filled:
      return true;
    case ir::CounterKind::free:
      return false;  // pages less filled: nothing of its own
    case ir::CounterKind::semaphore:
      break;
  }
  return program.execution == ir::Execution::persistent ||
         program.semaphores[counter.object].restart == ir::Restart::keep;
}

Check check(const Subject& subject, const Witness&) {
  if (!subject.net.exact()) {
    return Rejected{Rejected::Reason::inexact_test,
                    issue_text(subject, subject.net.issues.front())};
  }
  const ir::Counters counters(*subject.program);
  const auto sum = balance(subject);
  std::uint64_t obligations = 0;
  for (std::uint32_t c = 0; c < counters.size(); ++c) {
    if (!must_return(*subject.program, counters[ir::CounterId(c)])) continue;
    if (sum[c] != 0)
      return Rejected{Rejected::Reason::unbalanced,
                      counter_text(*subject.program, ir::CounterId(c))};
    ++obligations;
  }
  return Accepted{obligations};
}

}  // namespace spatialcert::proofs::quiescence
