#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>

#include "tests/counts.hpp"

namespace {

std::mutex counting;
std::map<std::string, std::uint64_t>& counts() {
  static std::map<std::string, std::uint64_t> all;
  return all;
}

void write_counts() {
  const char* const path = std::getenv("SPATIALCERT_TEST_COUNTS");
  if (path == nullptr) return;
  std::string lines;
  for (const auto& [what, number] : counts()) lines += std::to_string(number) + " " + what + "\n";
  std::ofstream(path, std::ios::app) << lines;  // one short write: executables run side by side
}

}  // namespace

void spatialcert::tests::count(const std::string& what, std::uint64_t number) {
  const std::lock_guard lock(counting);
  counts()[what] += number;
}

int main(int argc, char** argv) {
  const int result = doctest::Context(argc, argv).run();
  write_counts();
  return result;
}
