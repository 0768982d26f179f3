#include "proofs/issues.hpp"
#include "proofs/ordering/rule.hpp"

namespace spatialcert::proofs::ordering {

Check check(const Subject& subject, const Witness& witness) {
  const auto position = linear_extension(subject);
  if (!position)
    return Rejected{Rejected::Reason::missing_obligation, "the net has a token-free cycle"};
  if (subject.accesses.limit)
    return Rejected{Rejected::Reason::missing_obligation, "too many accesses"};
  const auto pairs = conflicting_pairs(subject, *position);
  if (witness.begin.size() != pairs.size() + 1 || witness.begin.front() != 0 ||
      witness.begin.back() != witness.places.size()) {
    return Rejected{Rejected::Reason::wrong_size, "one path per pair"};
  }
  if (const auto wrong = against_sections(subject, *position)) {
    const ir::TransitionId t = subject.accesses.accesses[wrong->later].transition;
    return Rejected{Rejected::Reason::wrong_order,
                    transition_text(*subject.program, subject.stretch, t)};
  }
  const auto& program = subject.stretch.program;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const ir::TransitionId first = subject.accesses.accesses[pairs[i].earlier].transition;
    const ir::TransitionId last = subject.accesses.accesses[pairs[i].later].transition;
    const auto reject = [&](Rejected::Reason reason) {
      return Rejected{reason, transition_text(*subject.program, subject.stretch, last)};
    };
    if (witness.begin[i] > witness.begin[i + 1] || witness.begin[i + 1] > witness.places.size()) {
      return reject(Rejected::Reason::wrong_size);
    }
    ir::TransitionId at = first;
    const auto reaches = [&](ir::TransitionId to) {
      return program[at.value()] == program[to.value()] && at <= to;
    };
    for (std::uint32_t k = witness.begin[i]; k < witness.begin[i + 1]; ++k) {
      if (witness.places[k] >= subject.places.size()) return reject(Rejected::Reason::wrong_size);
      const ir::Place& place = subject.places[witness.places[k]];
      if (place.credit || !reaches(place.from)) return reject(Rejected::Reason::broken_path);
      at = place.to;
    }
    if (!reaches(last)) return reject(Rejected::Reason::wrong_ends);
  }
  return Accepted{pairs.size()};
}

}  // namespace spatialcert::proofs::ordering
