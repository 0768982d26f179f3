#include "tests/proofs/fixture.hpp"

#include "proofs/find_subject.hpp"

namespace spatialcert::tests {

Fixture::Fixture(ir::Program p)
    : program(std::move(p)), subject(std::get<proofs::Subject>(proofs::find_subject(program))) {
  if (auto order = proofs::linear_extension(subject)) position = std::move(*order);
}

ir::TransitionId Fixture::at(std::uint32_t engine, std::uint32_t op,
                             std::uint32_t iteration) const {
  const ir::Unrolled& u = subject.stretch;
  return ir::TransitionId(u.begin[engine] + iteration * u.length(ir::ProgramId(engine)) + op);
}

std::string outcome(const proofs::Check& check) {
  const auto* no = std::get_if<proofs::Rejected>(&check);
  return no == nullptr ? "accepted" : rejected(no->reason);
}

std::string rejected(proofs::Rejected::Reason reason) {
  return "rejected: " + std::string(proofs::to_string(reason));
}

std::string replayed(const ir::Program& program, const proofs::Counterexample& c) {
  const auto result = proofs::replay(program, c);
  const auto* no = std::get_if<proofs::NotReproduced>(&result);
  return no == nullptr ? "reproduced" : no->why;
}

}  // namespace spatialcert::tests
