#include <fmt/format.h>

#include "proofs/boundary/rule.hpp"
#include "proofs/issues.hpp"

namespace spatialcert::proofs::boundary {

Check check(const Subject& subject, const Witness& witness) {
  Meetings meetings(subject);
  if (witness.centre.size() != meetings.size())
    return Rejected{Rejected::Reason::wrong_size, "one centre per closed boundary"};
  for (const std::uint32_t centre : witness.centre) {
    if (centre != kNone && centre >= subject.one.transitions())
      return Rejected{Rejected::Reason::wrong_size, "a centre that is no op"};
  }
  std::uint64_t obligations = 0;
  for (std::size_t k = 0; k < meetings.size(); ++k) {
    if (const auto gap = meetings.gap(k, witness.centre)) {
      return Rejected{
          Rejected::Reason::slip_through,
          fmt::format("closed boundary {}: {} does not lead to {}", k,
                      program_text(subject, gap->before), program_text(subject, gap->after))};
    }
    const std::uint64_t before = meetings.before(k).size(), after = meetings.after(k).size();
    obligations += witness.centre[k] == kNone ? before * after : before + after;
  }
  return Accepted{obligations};
}

}  // namespace spatialcert::proofs::boundary
