// What the corpus says about its files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace spatialcert::tests {

/// One line of an expected.tsv.
struct Label {
  std::filesystem::path file;
  std::uint64_t steps = 0;  ///< 0 if it does not say
  std::string per_step;     ///< verdict with every step as one transfer
  std::string any_size;     ///< verdict with every chunk as one transfer
};

/// Folder msccl of the corpus: environment SPATIALCERT_CORPUS, or what the build was configured
/// with.
[[nodiscard]] std::filesystem::path corpus_folder();
/// Lines of `folder`/expected.tsv; none if there is no such file.
[[nodiscard]] std::vector<Label> labels(const std::filesystem::path& folder);

[[nodiscard]] std::vector<std::string> split(const std::string& text, char at);

}  // namespace spatialcert::tests
