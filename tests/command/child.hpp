// Runs the built command as a child process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spatialcert::command::test {

struct ChildResult {
  int status = -1;  ///< exit status; -1 if a signal ended it
  std::string out;
  std::string err;
  std::uint64_t peak_bytes = 0;  ///< of resident memory
  double cpu_seconds = 0;
};

/// Where the child's standard output goes.
enum class Output { captured, full_disk, closed, broken_pipe };

/// A child that uses more than kMostCpuSeconds is ended by a signal.
inline constexpr unsigned kMostCpuSeconds = 120;
[[nodiscard]] ChildResult run(const std::vector<std::string>& arguments,
                              Output output = Output::captured);
/// The same where no file, captured output included, can grow beyond `most_bytes`.
[[nodiscard]] ChildResult run_with_small_files(const std::vector<std::string>& arguments,
                                               std::uint64_t most_bytes);
/// The same, ended by SIGKILL after `microseconds` if it is still running; status -1 if so.
[[nodiscard]] ChildResult run_and_kill(const std::vector<std::string>& arguments,
                                       std::uint64_t microseconds);

/// A fresh folder that is removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

[[nodiscard]] std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& content);
/// Path of tests/golden/NAME.json.
[[nodiscard]] std::string golden(const std::string& name);
[[nodiscard]] bool contains(const std::string& text, const std::string& part);

}  // namespace spatialcert::command::test
