#include <fmt/format.h>

#include "proofs/issues.hpp"
#include "proofs/liveness/rule.hpp"

namespace spatialcert::proofs::liveness {

Check check(const Subject& subject, const Witness& witness) {
  const ir::Unrolled& u = subject.one;
  if (witness.potential.size() != u.transitions()) {
    return Rejected{Rejected::Reason::wrong_size, "one potential per transition"};
  }
  if (!subject.net.exact()) {
    return Rejected{Rejected::Reason::inexact_test,
                    issue_text(subject, subject.net.issues.front())};
  }
  const auto grows = [&](std::uint32_t from, std::uint32_t to) {
    return witness.potential[from] < witness.potential[to];
  };
  std::uint64_t obligations = 0;
  for (std::uint32_t t = 0; t + 1 < u.transitions(); ++t) {
    if (u.program[t] != u.program[t + 1]) continue;
    if (!grows(t, t + 1))
      return Rejected{Rejected::Reason::not_increasing, transition_text(subject, t + 1)};
    ++obligations;
  }
  for (const ir::Place& place : subject.net.places) {
    if (place.tokens > 0) continue;
    if (!grows(place.from.value(), place.to.value())) {
      return Rejected{Rejected::Reason::not_increasing, transition_text(subject, place.to.value())};
    }
    ++obligations;
  }
  return Accepted{obligations};
}

}  // namespace spatialcert::proofs::liveness
