#include "labels.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace spatialcert::tests {

namespace fs = std::filesystem;

fs::path corpus_folder() {
  const char* const chosen = std::getenv("SPATIALCERT_CORPUS");
  return fs::path(chosen != nullptr ? chosen : SPATIALCERT_CORPUS_DEFAULT) / "msccl";
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(at); end != std::string::npos; end = text.find(at, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::vector<Label> labels(const fs::path& folder) {
  std::vector<Label> all;
  std::ifstream lines(folder / "expected.tsv");
  std::string line;
  if (!std::getline(lines, line)) return all;
  const auto columns = split(line, '\t');
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), name) -
                                    columns.begin());
  };
  const std::size_t file = column("file"), steps = column("steps");
  const std::size_t per_step = column("one transfer per step"),
                    any_size = column("any message size");
  while (std::getline(lines, line)) {
    const auto cells = split(line, '\t');
    REQUIRE(std::max({file, per_step, any_size}) < cells.size());
    const bool sized = steps < cells.size() && !cells[steps].empty();
    all.push_back({folder / cells[file],
                   sized ? std::strtoull(cells[steps].c_str(), nullptr, 10) : 0, cells[per_step],
                   cells[any_size]});
  }
  return all;
}

}  // namespace spatialcert::tests
