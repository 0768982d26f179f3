// The search for the places of a net that known order justifies. Untrusted: what is found is
// checked by check_net.
#pragma once

#include <vector>

#include "ir/net.hpp"

namespace spatialcert::ir {

struct Justification {
  std::vector<Place> places;  ///< in order of justification
  std::vector<TestIssue>
      issues;  ///< what the search knows of the tests that it could not make exact
};

/// Of one iteration; `one.iterations` must be 1.
[[nodiscard]] Justification justify(const Program& program, const Unrolled& one);

/// What the search says of a test takes the place of what the check says of it.
void explain(Net& net, const std::vector<TestIssue>& searched);

/// The net of one iteration, searched for, checked and explained.
[[nodiscard]] Net build_net(const Program& program, const Unrolled& one);

}  // namespace spatialcert::ir
