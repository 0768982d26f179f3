// What can be changed in a program behind the back of its certificate.
#pragma once

#include <string>
#include <vector>

#include "tests/oracle/sketch.hpp"

namespace spatialcert::tests {

struct Change {
  std::string what;
  Sketch sketch;
};

/// Every op dropped, doubled, exchanged with its neighbour, turned into another, counts and regions
/// shifted; every object changed in each way; execution, results, edges, sections. Not all of them
/// assemble to programs that validate.
[[nodiscard]] std::vector<Change> all_changes(const Sketch& sketch);

}  // namespace spatialcert::tests
