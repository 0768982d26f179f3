#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

#include "ir/bytes_file.hpp"
#include "ir/io/descriptor.hpp"

namespace spatialcert::ir {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20U;
// Room behind the content: a parser that wants padding need not copy.
constexpr std::size_t kSpare = 64;
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";

bool is_zstd(std::string_view bytes) { return bytes.substr(0, kZstdMagic.size()) == kZstdMagic; }

Refusal refuse(const std::string& path, std::string expected, std::string found) {
  return {path, 0, "", std::move(expected), std::move(found)};
}

Refusal too_large(const std::string& path, std::uint64_t maximum) {
  return refuse(path, fmt::format("at most {} bytes", maximum), "more");
}

// Appends up to `wanted` bytes; fewer only at the end of the file. Returns errno.
int read_some(int descriptor, std::string& content, std::size_t wanted) {
  const std::size_t before = content.size();
  content.resize(before + wanted);
  std::size_t done = 0;
  while (done < wanted) {
    const ssize_t count = ::read(descriptor, content.data() + before + done, wanted - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  content.resize(before + done);
  return 0;
}

// Lowers `maximum` to what such a content may have, unless it need not be read on.
Status take_look(const std::string& path, std::string_view beginning, FirstLook look,
                 std::uint64_t& maximum) {
  if (look == nullptr) return std::nullopt;
  const Result<std::uint64_t> most = look(beginning, path);
  if (!most) return most.error();
  maximum = std::min(maximum, *most);
  return std::nullopt;
}

Result<std::string> read_whole(const std::string& path, std::uint64_t maximum, FirstLook look) {
  const io::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return refuse(path, "a readable file", std::strerror(errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0)
    return refuse(path, "a readable file", std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return refuse(path, "a file", "a directory");
  // What is not a regular file (a pipe) has no size; it is read until it ends.
  const std::uint64_t size =
      S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  std::string content;
  if (const int error = read_some(file.get(), content, kFirstLookBytes + 1); error != 0) {
    return refuse(path, "a readable file", std::strerror(error));
  }
  if (content.size() > kFirstLookBytes && !is_zstd(content)) {
    if (Status refused = take_look(path, content, look, maximum)) return *std::move(refused);
  }
  if (size > maximum) return too_large(path, maximum);
  content.reserve(std::max<std::size_t>(size, content.size()) + 1 + kSpare);
  // One more than there should be, to see the end.
  std::size_t wanted = std::max<std::size_t>(size, content.size()) + 1 - content.size();
  for (;;) {
    const std::size_t before = content.size();
    if (const int error = read_some(file.get(), content, wanted); error != 0) {
      return refuse(path, "a readable file", std::strerror(error));
    }
    if (content.size() > maximum) return too_large(path, maximum);
    if (content.size() - before < wanted) break;
    wanted = kChunk;
  }
  if (content.empty()) return refuse(path, "a program", "an empty file");
  return content;
}

Result<std::string> decompress(const std::string& path, std::string_view input,
                               std::uint64_t maximum, FirstLook look) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          &ZSTD_freeDStream);
  if (!stream) throw std::bad_alloc();
  std::string content;
  const unsigned long long announced = ZSTD_getFrameContentSize(input.data(), input.size());
  if (announced != ZSTD_CONTENTSIZE_UNKNOWN && announced != ZSTD_CONTENTSIZE_ERROR) {
    // The header may lie: a frame expands to at most some 2^17 times its size, so this is bounded
    // too.
    if (announced > maximum) return too_large(path, maximum);
    if (announced / input.size() < 1000) content.reserve(announced + kSpare);
  }
  std::string chunk(kChunk, '\0');
  ZSTD_inBuffer in{input.data(), input.size(), 0};
  std::size_t hint = 1;
  while (in.pos < in.size || hint != 0) {
    ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
    const bool at_frame = hint == 0 || in.pos == 0;
    if (at_frame && input.substr(in.pos, kZstdMagic.size()) != kZstdMagic) {
      return refuse(path, "the end of the file after the last zstd frame", "other bytes");
    }
    const std::size_t before = in.pos;
    hint = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(hint) != 0) {
      return refuse(path, "a sound zstd frame", ZSTD_getErrorName(hint));
    }
    const std::size_t had = content.size();
    if (had + out.pos > maximum) return too_large(path, maximum);
    content.append(chunk.data(), out.pos);
    if (had <= kFirstLookBytes && content.size() > kFirstLookBytes) {
      if (Status refused = take_look(path, content, look, maximum)) return *std::move(refused);
    }
    if (hint != 0 && out.pos == 0 && in.pos == before) {
      return refuse(path, "a whole zstd frame", "a truncated one");
    }
  }
  if (content.empty()) return refuse(path, "a program", "an empty zstd frame");
  return content;
}

}  // namespace

std::size_t first_visible(std::string_view text) {
  // find_first_not_of takes four times as long, which shows on a gigabyte of blanks.
  std::size_t at = 0;
  while (at < text.size() &&
         (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) {
    ++at;
  }
  return at;
}

Result<std::string> read_bytes(const std::string& path, std::uint64_t maximum, FirstLook look) {
  try {
    Result<std::string> raw = read_whole(path, maximum, look);
    if (!raw || !is_zstd(*raw)) return raw;
    return decompress(path, *raw, maximum, look);
  } catch (const std::bad_alloc&) {
    return refuse(path, "a file that fits into memory", "too large a one");
  }
}

}  // namespace spatialcert::ir
