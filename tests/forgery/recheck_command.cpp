#include "tests/forgery/recheck_command.hpp"

#include <sys/wait.h>

#include <cstdlib>

#include "tests/command/child.hpp"

namespace spatialcert::tests {

Ran recheck(const std::vector<std::string>& arguments, const std::string& more) {
  const command::test::TemporaryFolder folder;
  std::string line = std::string("'") + SPATIALCERT_BINARY_DIR + "/bin/recheck'";
  for (const std::string& argument : arguments) line += " '" + argument + "'";
  line += " >'" + folder / "out" + "' 2>'" + folder / "err" + "' " + more;
  const int status = std::system(line.c_str());
  Ran out;
  if (WIFEXITED(status)) out.status = WEXITSTATUS(status);
  out.out = command::test::read_file(folder / "out");
  out.err = command::test::read_file(folder / "err");
  return out;
}

}  // namespace spatialcert::tests
