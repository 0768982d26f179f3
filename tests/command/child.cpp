#include "tests/command/child.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace spatialcert::command::test {
namespace {

const std::string kBinary = std::string(SPATIALCERT_BINARY_DIR) + "/bin/spatialcert";

int create(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// In the child, between fork and exec.
void redirect(const std::string& out, const std::string& err, Output output) {
  ::dup2(create(err), STDERR_FILENO);
  int target = -1;
  int ends[2] = {-1, -1};
  switch (output) {
    case Output::captured:
      target = create(out);
      break;
    case Output::full_disk:
      target = ::open("/dev/full", O_WRONLY);
      break;
    case Output::closed:
      ::close(STDOUT_FILENO);
      return;
    case Output::broken_pipe:
      if (::pipe(ends) != 0) ::_exit(126);
      ::close(ends[0]);
      target = ends[1];
      break;
  }
  ::dup2(target, STDOUT_FILENO);
}

struct Circumstances {
  Output output = Output::captured;
  std::uint64_t most_file_bytes = 0;    ///< 0: no limit
  std::uint64_t kill_microseconds = 0;  ///< 0: never
};

ChildResult run_in(const std::vector<std::string>& arguments, const Circumstances& where) {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  const std::string err = folder / "err";
  std::vector<std::string> all{kBinary};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& argument : all) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) {
    const rlimit limit{kMostCpuSeconds, kMostCpuSeconds};
    ::setrlimit(RLIMIT_CPU, &limit);
    if (where.most_file_bytes != 0) {
      const rlimit most{where.most_file_bytes, where.most_file_bytes};
      ::setrlimit(RLIMIT_FSIZE, &most);
    }
    redirect(out, err, where.output);
    ::execv(kBinary.c_str(), argv.data());
    ::_exit(127);
  }
  if (where.kill_microseconds != 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(where.kill_microseconds));
    ::kill(child, SIGKILL);
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  ChildResult result;
  result.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  result.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  if (where.output == Output::captured) result.out = read_file(out);
  result.err = read_file(err);
  return result;
}

}  // namespace

ChildResult run(const std::vector<std::string>& arguments, Output output) {
  return run_in(arguments, {output});
}

ChildResult run_with_small_files(const std::vector<std::string>& arguments,
                                 std::uint64_t most_bytes) {
  return run_in(arguments, {Output::captured, most_bytes});
}

ChildResult run_and_kill(const std::vector<std::string>& arguments, std::uint64_t microseconds) {
  return run_in(arguments, {Output::captured, 0, microseconds});
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "spatialcert.XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::string golden(const std::string& name) {
  return std::string(SPATIALCERT_SOURCE_DIR) + "/tests/golden/" + name + ".json";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace spatialcert::command::test
