// Runs the built `recheck` as a child process.
#pragma once

#include <string>
#include <vector>

namespace spatialcert::tests {

struct Ran {
  int status = -1;  ///< exit status; -1 if a signal ended it
  std::string out;
  std::string err;
};

/// `more`: for the shell, behind the arguments, e.g. `>&-`.
[[nodiscard]] Ran recheck(const std::vector<std::string>& arguments, const std::string& more = "");

}  // namespace spatialcert::tests
