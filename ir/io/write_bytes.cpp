#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "ir/bytes_file.hpp"
#include "ir/io/descriptor.hpp"
#include "ir/packing.hpp"

namespace spatialcert::ir {
namespace {

Refusal refuse(const std::string& path, const std::string& why) {
  return {path, 0, "", "a file that can be written", why};
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// A new file beside `path`, with the permissions any new file gets. Its name goes to `temporary`.
int create_beside(const std::string& path, std::string& temporary) {
  static std::atomic<unsigned> counter{0};
  for (;;) {
    temporary = fmt::format("{}.{}-{}.tmp", path, ::getpid(), counter++);
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
}

// Devices and pipes cannot be replaced, only written to.
Status write_through(const std::string& path, std::string_view bytes) {
  io::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file || !write_all(file.get(), bytes) || !file.close()) {
    return refuse(path, std::strerror(errno));
  }
  return std::nullopt;
}

// The file that `path` means: a link is written through, not replaced.
std::string resolve_link(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? real.get() : path;
}

Status write_plain(const std::string& given, std::string_view bytes) {
  const std::string path = resolve_link(given);
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return write_through(given, bytes);
  }
  std::string temporary;
  io::Descriptor file(create_beside(path, temporary));
  if (!file) return refuse(given, std::strerror(errno));
  const bool written = write_all(file.get(), bytes) && ::fsync(file.get()) == 0 && file.close() &&
                       std::rename(temporary.c_str(), path.c_str()) == 0;
  if (!written) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return refuse(given, std::strerror(error));
  }
  // The rename is durable once the folder is; some file systems cannot sync folders, which is no
  // loss.
  const io::Descriptor folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) ::fsync(folder.get());
  return std::nullopt;
}

}  // namespace

Status write_bytes(const std::string& path, std::string_view bytes) {
  constexpr std::string_view kSuffix = ".zst";
  const bool compressed = path.size() > kSuffix.size() &&
                          path.compare(path.size() - kSuffix.size(), kSuffix.size(), kSuffix) == 0;
  if (!compressed) return write_exact_bytes(path, bytes);
  return write_exact_bytes(path, pack(bytes, kUsualLevel));
}

Status write_exact_bytes(const std::string& path, std::string_view bytes) {
  return write_plain(path, bytes);
}

}  // namespace spatialcert::ir
