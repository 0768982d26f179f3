// A gigabyte and more of something else: refused before it is read, or in proportion to its size.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "ir/bytes_file.hpp"
#include "tests/command/child.hpp"

using namespace spatialcert::command::test;
namespace ir = spatialcert::ir;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kOverhead = 3;  // of the sanitizer, in time and memory
#else
constexpr std::uint64_t kOverhead = 1;
#endif

struct Bounds {
  std::uint64_t bytes = 0;
  unsigned seconds = 0;
};
/// What is refused by its beginning; the process itself takes most of it.
constexpr Bounds kAtOnce{64 * kMiB, 2};
/// What has to be read: a plain file takes its size once, a compressed one twice while it grows.
constexpr Bounds kOnce{kGiB + 64 * kMiB, 15};
constexpr Bounds kTwice{2 * kGiB + 256 * kMiB, 30};

void check_refused(const std::string& path, const std::string& message, const Bounds& bounds) {
  const ChildResult result = run({"certify", "--quiet", path});
  CAPTURE(result.out);
  CHECK(result.status == 3);
  CHECK(result.out.rfind(path + ": refused: ", 0) == 0);
  CHECK(contains(result.out, message));
  CHECK(result.peak_bytes < kOverhead * bounds.bytes + (kOverhead - 1) * 512 * kMiB);
  CHECK(result.cpu_seconds < static_cast<double>(kOverhead * bounds.seconds));
}

/// `start`, then zeros that take no room on the disk.
std::string sparse(const TemporaryFolder& folder, const std::string& start) {
  const std::string path = folder / "sparse.json";
  write_file(path, start);
  fs::resize_file(path, kGiB);
  return path;
}

/// A zstd file of `start` and then `fill` until it holds more than a gibibyte: many frames of 64
/// MiB, so that nothing announces the size.
std::string bomb(const TemporaryFolder& folder, const std::string& start, const std::string& fill) {
  const std::string path = folder / "bomb.zst";
  std::string block;
  while (block.size() < 64 * kMiB) block += fill;
  REQUIRE_FALSE(ir::write_bytes(folder / "frame.zst", block).has_value());
  const std::string frame = read_file(folder / "frame.zst");
  REQUIRE_FALSE(ir::write_bytes(path, start).has_value());
  std::ofstream out(path, std::ios::binary | std::ios::app);
  for (int i = 0; i < 17; ++i) out << frame;
  out.close();
  CHECK(fs::file_size(path) < kMiB);
  return path;
}

}  // namespace

TEST_CASE("a gigabyte of something else is refused by its beginning") {
  const TemporaryFolder folder;
  check_refused(sparse(folder, ""), "expected a program (a JSON object), found byte 0x00", kAtOnce);
  check_refused(sparse(folder, "{"), "expected a key in quotes, found byte 0x00", kAtOnce);
  check_refused(sparse(folder, "{\"format\": \""), "found byte 0x00", kAtOnce);
  check_refused(sparse(folder,
                       "\x7f"
                       "ELF"),
                "found byte 0x7f", kAtOnce);
  check_refused("/dev/zero", "expected a program (a JSON object), found byte 0x00", kAtOnce);
}

TEST_CASE("a gigabyte that goes wrong late takes its size in memory") {
  const TemporaryFolder folder;
  const std::string start = "{" + std::string(2 * ir::kFirstLookBytes, ' ');
  check_refused(sparse(folder, start), "expected a key in quotes, found byte 0x00", kOnce);
}

TEST_CASE("small zstd files that hold more than a gigabyte") {
  const TemporaryFolder folder;
  check_refused(bomb(folder, "{", std::string(4096, '[')), "expected a key in quotes", kAtOnce);
  check_refused(bomb(folder, "{\"a\":", "[{\"a\":"), "expected at most 160 nested", kAtOnce);
  check_refused(bomb(folder, "<algo ", std::string(4096, ' ')),
                "expected at most 1073741824 bytes, found more", kTwice);
}

TEST_CASE("replay refuses a gigabyte of counterexample by its beginning") {
  const TemporaryFolder folder;
  const std::string path = sparse(folder, "{\"format\"");
  const ChildResult result = run({"replay", golden("missing-wait"), path});
  CHECK(result.status == 3);
  CHECK(contains(result.err, path + ":1: $.format: expected `:`, found byte 0x00"));
  CHECK(result.peak_bytes < kOverhead * kAtOnce.bytes + (kOverhead - 1) * 512 * kMiB);
}
