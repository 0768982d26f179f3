#include "proofs/slices/rule.hpp"
#include "proofs/slices/tiling.hpp"

namespace spatialcert::proofs::slices {

Check check(const Subject& subject, const Witness&) {
  const ir::Program& program = *subject.text;
  std::uint64_t parts = 0;
  for (std::uint32_t s = 0; s < program.sliced.size(); ++s) {
    parts += program.sliced[s].slices.size();
    if (const auto fault = untiled(program, s)) {
      return Rejected{
          fault->kind == Kind::gap ? Rejected::Reason::gap : Rejected::Reason::overlapping,
          program.sliced[s].name};
    }
  }
  if (const auto fault = mismatched(program))
    return Rejected{Rejected::Reason::mismatch, program.sliced[fault->slices[1].sliced].name};
  return Accepted{parts};
}

}  // namespace spatialcert::proofs::slices
