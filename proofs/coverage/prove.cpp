#include "proofs/coverage/rule.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs::coverage {

/// Counting needs no solver: what is not covered is a matter of the text. The counts are the
/// witness, and the check makes its own.
Search<Witness> prove(const Subject& subject, smt::Session&) {
  if (auto what = uncovered(subject)) return Unknown{std::move(*what)};
  Witness w;
  for (const ir::EngineProgram& p : subject.program->programs) {
    for (const ir::Op& op : p.ops) {
      const bool test = op.code == ir::OpCode::wait || op.code == ir::OpCode::await ||
                        op.code == ir::OpCode::reserve || op.code == ir::OpCode::front;
      const bool run = op.code == ir::OpCode::run, loop = op.code == ir::OpCode::repeat;
      ++(test ? w.tests : run ? w.runs : loop ? w.loops : w.supplies);
    }
  }
  return Proved<Witness>{w};
}

}  // namespace spatialcert::proofs::coverage
