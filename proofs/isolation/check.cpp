#include "proofs/isolation/rule.hpp"
#include "proofs/issues.hpp"

namespace spatialcert::proofs::isolation {

Check check(const Subject& subject, const Witness&) {
  if (subject.accesses.limit)
    return Rejected{Rejected::Reason::missing_obligation, "too many accesses"};
  const Sharing found = sharing(*subject.program, subject.one, subject.stretch, subject.accesses);
  if (found.first) {
    return Rejected{Rejected::Reason::interference,
                    transition_text(subject, found.first->second.value())};
  }
  return Accepted{found.uses};
}

}  // namespace spatialcert::proofs::isolation
