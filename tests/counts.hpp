// What a test run did, summed over its executables.
//
// Where SPATIALCERT_TEST_COUNTS names a file, every executable adds a line `NUMBER WHAT` per kind
// of thing it counted when it ends; scripts/test adds them up and prints them.
#pragma once

#include <cstdint>
#include <string>

namespace spatialcert::tests {

/// Adds `number` to what this executable did, e.g. count("counterexamples replayed", 3).
void count(const std::string& what, std::uint64_t number);

}  // namespace spatialcert::tests
