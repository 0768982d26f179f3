#include "proofs/issues.hpp"

#include <fmt/format.h>

namespace spatialcert::proofs {

std::string transition_text(const ir::Program& program, const ir::Unrolled& unrolled,
                            ir::TransitionId t) {
  const ir::EngineProgram& p = program.programs[unrolled.program[t.value()]];
  const ir::Op& op = unrolled.op_of(program, t);
  std::string object;
  switch (op.code) {
    case ir::OpCode::wait:
    case ir::OpCode::await:
    case ir::OpCode::post:
      object = program.semaphores[op.object].name;
      break;
    case ir::OpCode::run:
      object = program.stages[op.object].name;
      break;
    default:
      object = program.buffers[op.object].name;
  }
  const std::string count = op.code == ir::OpCode::run ? "" : fmt::format(" {}", op.count);
  return fmt::format("{} at chip {} ({},{}) op {} `{} {}{}`",
                     program.target.engines[p.engine.value()], p.site.chip, p.site.x, p.site.y,
                     unrolled.op[t.value()], ir::to_string(op.code), object, count);
}

std::string transition_text(const Subject& subject, std::uint32_t t) {
  return transition_text(*subject.program, subject.one, ir::TransitionId(t));
}

std::string program_text(const Subject& subject, std::uint32_t program) {
  const ir::EngineProgram& p = subject.program->programs[program];
  return fmt::format("{} at chip {} ({},{})", subject.program->target.engines[p.engine.value()],
                     p.site.chip, p.site.x, p.site.y);
}

std::string counter_text(const ir::Program& program, ir::CounterId counter) {
  const ir::Counters counters(program);
  const ir::Counter& c = counters[counter];
  if (c.kind == ir::CounterKind::semaphore)
    return fmt::format("semaphore {}", program.semaphores[c.object].name);
  const char* which = c.kind == ir::CounterKind::filled ? "filled" : "free";
  return fmt::format("{} pages of fifo {}", which, program.buffers[c.object].name);
}

std::string issue_text(const Subject& subject, const ir::TestIssue& issue) {
  using Kind = ir::TestIssue::Kind;
  const std::string counter = issue.counter.valid() ? counter_text(*subject.program, issue.counter)
                                                    : std::string("a counter");
  const std::string test = issue.transition.valid()
                               ? transition_text(subject, issue.transition.value())
                               : std::string("its tests");
  switch (issue.kind) {
    case Kind::starved:
      return fmt::format("{} is never satisfied: {} never reaches its demand", test, counter);
    case Kind::inexact:
      return fmt::format(
          "{} is no marked-graph test: which ops satisfy it depends on the schedule ({})", test,
          counter);
    case Kind::unbalanced:
      return fmt::format("{} changes by {} in every iteration of a persistent program", counter,
                         issue.demand);
    case Kind::later_iteration:
      return fmt::format("{} needs supply of a later iteration ({})", test, counter);
    case Kind::unjustified:
      return fmt::format("a place into {} is not justified ({})", test, counter);
    case Kind::limit:
      return fmt::format("the analysis of {} exceeds its limits", counter);
  }
  return counter;
}

}  // namespace spatialcert::proofs
