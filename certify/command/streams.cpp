#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "certify/command/command.hpp"

namespace spatialcert::command {
namespace {

[[noreturn]] void fail_output() {
  throw OutputError(fmt::format("standard output could not be written: {}", std::strerror(errno)));
}

}  // namespace

bool is_folder(const std::string& path) {
  std::error_code error;
  return path.ends_with('/') || std::filesystem::is_directory(path, error);
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail_output();
}

void finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail_output();
}

void complain(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void prepare_streams() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    // The lowest free descriptor is this one. Opened for reading: writing to it still fails, as it
    // should.
    const int opened = ::open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY);
    if (opened != descriptor) throw OutputError("the standard streams could not be opened");
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace spatialcert::command
