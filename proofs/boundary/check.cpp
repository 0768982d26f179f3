#include <fmt/format.h>

#include <algorithm>

#include "proofs/boundary/rule.hpp"
#include "proofs/issues.hpp"

namespace spatialcert::proofs::boundary {
namespace {

/// The first of `wanted` that is not in `found`; both ascend.
std::optional<std::uint32_t> missing(const std::vector<std::uint32_t>& wanted,
                                     const std::vector<std::uint32_t>& found) {
  for (const std::uint32_t p : wanted) {
    if (!std::binary_search(found.begin(), found.end(), p)) return p;
  }
  return std::nullopt;
}

}  // namespace

Check check(const Subject& subject, const Witness& witness) {
  Meetings meetings(subject);
  if (witness.centre.size() != meetings.size())
    return Rejected{Rejected::Reason::wrong_size, "one centre per closed boundary"};
  for (const std::uint32_t centre : witness.centre) {
    if (centre >= subject.one.transitions())
      return Rejected{Rejected::Reason::wrong_size, "a centre that is no op"};
  }
  std::uint64_t obligations = 0;
  for (std::size_t k = 0; k < meetings.size(); ++k) {
    const std::uint32_t centre = witness.centre[k];
    const auto reject = [&](std::uint32_t program, const char* how) {
      return Rejected{Rejected::Reason::slip_through,
                      fmt::format("closed boundary {}: {} {} {}", k, program_text(subject, program),
                                  how, transition_text(subject, centre))};
    };
    const auto gathered = meetings.gathered(k, centre);
    if (const auto p = missing(meetings.before(k), gathered)) return reject(*p, "does not lead to");
    if (const auto p = missing(meetings.after(k), meetings.released(k, centre)))
      return reject(*p, "does not wait for");
    if (const auto previous = meetings.previous(k)) {
      const std::uint32_t p = subject.one.program[witness.centre[*previous]];
      if (const auto absent = missing({p}, gathered)) return reject(*absent, "does not lead to");
    }
    obligations += meetings.before(k).size() + meetings.after(k).size();
  }
  return Accepted{obligations};
}

}  // namespace spatialcert::proofs::boundary
