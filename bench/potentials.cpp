#include "bench/potentials.hpp"

#include <fmt/format.h>

#include <ctime>
#include <vector>

#include "proofs/find_subject.hpp"
#include "smt/query.hpp"

namespace spatialcert::bench {

Potentials potentials_by_one_query(const ir::Program& program) {
  const auto translated = proofs::find_subject(program);
  const auto* subject = std::get_if<proofs::Subject>(&translated);
  if (subject == nullptr) return {0, "not translated"};
  smt::Session session;
  session.limits.resource = 0xffffffffU;
  smt::Query query = session.query(smt::Logic::difference);
  std::vector<smt::Term> potential;
  for (std::uint32_t t = 0; t < subject->one.transitions(); ++t)
    potential.push_back(query.integer(fmt::format("r{}", t)));
  const smt::Term one = query.constant(1);
  const auto precedes = [&](std::uint32_t from, std::uint32_t to) {
    query.require(query.at_most(one, query.minus(potential[to], potential[from])));
  };
  for (std::uint32_t t = 1; t < subject->one.transitions(); ++t) {
    if (subject->one.program[t - 1] == subject->one.program[t]) precedes(t - 1, t);
  }
  for (const ir::Place& place : subject->net.places) {
    if (place.tokens == 0) precedes(place.from.value(), place.to.value());
  }
  const std::clock_t start = std::clock();
  const smt::Answer answer = session.solve(query);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  if (const auto* undecided = std::get_if<smt::Undecided>(&answer))
    return {seconds, undecided->reason};
  return {seconds, std::holds_alternative<smt::Satisfied>(answer) ? "found" : "none"};
}

}  // namespace spatialcert::bench
