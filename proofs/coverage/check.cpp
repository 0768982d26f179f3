#include <fmt/format.h>

#include <vector>

#include "proofs/coverage/rule.hpp"

namespace spatialcert::proofs::coverage {
namespace {

Witness count_ops(const ir::Program& program) {
  Witness w;
  for (const ir::EngineProgram& p : program.programs) {
    for (const ir::Op& op : p.ops) {
      switch (op.code) {
        case ir::OpCode::wait:
        case ir::OpCode::await:
        case ir::OpCode::reserve:
        case ir::OpCode::front:
          ++w.tests;
          break;
        case ir::OpCode::post:
        case ir::OpCode::push:
        case ir::OpCode::pop:
          ++w.supplies;
          break;
        case ir::OpCode::run:
          ++w.runs;
          break;
        case ir::OpCode::repeat:
          ++w.loops;
          break;
      }
    }
  }
  return w;
}

/// Is every op of every engine program in exactly one span?
bool spans_cover(const ir::Program& program) {
  for (const ir::EngineProgram& p : program.programs) {
    std::uint32_t at = 0;
    for (const ir::Span& span : p.spans) {
      if (span.begin != at || span.end < span.begin ||
          span.section.valid() == span.boundary.valid())
        return false;
      at = span.end;
    }
    if (at != p.ops.size()) return false;
  }
  return true;
}

/// Ops inside loops that run zero times, or in loops of loops that do, have no instance and no
/// obligation.
bool every_op_has_an_instance(const Subject& subject) {
  for (std::uint32_t p = 0; p < subject.program->programs.size(); ++p) {
    const auto& ops = subject.program->programs[p].ops;
    std::vector<char> seen(ops.size(), 0);
    for (std::uint32_t t = subject.one.begin[p]; t < subject.one.begin[p + 1]; ++t)
      seen[subject.one.op[t]] = 1;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (ops[i].code != ir::OpCode::repeat && seen[i] == 0) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<std::string> uncovered(const Subject& subject) {
  const ir::Program& program = *subject.program;
  if (subject.one.transitions() == 0) return "the program has no ops";
  for (const ir::Buffer& b : program.buffers) {
    const bool fifo = b.kind == ir::BufferKind::fifo;
    if (b.view && (fifo || program.buffers[b.view->base.value()].kind == ir::BufferKind::fifo)) {
      return fmt::format("buffer {} shares its bytes with a FIFO", b.name);
    }
  }
  if (!spans_cover(program)) return "an op belongs to no section";
  if (!every_op_has_an_instance(subject)) return "an op is never performed";
  if (subject.accesses.limit) return "the accesses exceed the limit of the analysis";
  return std::nullopt;
}

Check check(const Subject& subject, const Witness& witness) {
  if (const auto what = uncovered(subject)) return Rejected{Rejected::Reason::uncovered, *what};
  const Witness w = count_ops(*subject.program);
  if (w.tests != witness.tests || w.supplies != witness.supplies || w.runs != witness.runs ||
      w.loops != witness.loops) {
    return Rejected{Rejected::Reason::wrong_size, "the counts of ops"};
  }
  return Accepted{w.tests + w.supplies + w.runs + w.loops};
}

}  // namespace spatialcert::proofs::coverage
