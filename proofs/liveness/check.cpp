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
  if (witness.period <= 0) return Rejected{Rejected::Reason::not_increasing, "the period"};
  std::uint64_t obligations = 0;
  const auto grows = [&](std::uint32_t from, std::uint32_t to, std::int64_t tokens) {
    ++obligations;
    if (tokens == 0) return witness.potential[from] < witness.potential[to];
    std::int64_t shift = 0, difference = 0;
    return !__builtin_mul_overflow(witness.period, tokens, &shift) &&
           !__builtin_sub_overflow(witness.potential[to], witness.potential[from], &difference) &&
           !__builtin_add_overflow(difference, shift, &difference) && difference >= 1;
  };
  const auto reject = [&](std::uint32_t t) {
    return Rejected{Rejected::Reason::not_increasing, transition_text(subject, t)};
  };
  for (std::uint32_t t = 0; t + 1 < u.transitions(); ++t) {
    if (u.program[t] == u.program[t + 1] && !grows(t, t + 1, 0)) return reject(t + 1);
  }
  for (std::uint32_t p = 0; subject.persistent() && p + 1 < u.begin.size(); ++p) {
    if (u.begin[p] == u.begin[p + 1]) continue;
    if (!grows(u.begin[p + 1] - 1, u.begin[p], 1)) return reject(u.begin[p]);
  }
  for (const ir::Place& place : subject.net.places) {
    const std::uint32_t to = place.to.value();
    if (!grows(place.from.value(), to, place.tokens)) return reject(to);
  }
  return Accepted{obligations};
}

}  // namespace spatialcert::proofs::liveness
