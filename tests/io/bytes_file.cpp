#include "ir/bytes_file.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "rich_program.hpp"

namespace spatialcert::ir {
namespace {

using test::kRichProgram;
using test::TemporaryFolder;

void put(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string get(const std::string& path) {
  auto result = read_bytes(path);
  REQUIRE(result.has_value());
  return std::move(result).value();
}

void check_refused_file(const std::string& path, std::string_view expected,
                        std::string_view found) {
  const auto result = read_program(path);
  REQUIRE_FALSE(result.has_value());
  INFO(result.error().message());
  CHECK(result.error().file == path);
  CHECK(result.error().expected.find(expected) != std::string::npos);
  CHECK(result.error().found.find(found) != std::string::npos);
}

TEST_CASE("programs are written and read, compressed by name, recognised by content") {
  const TemporaryFolder folder;
  const auto program = parse_program(kRichProgram, "rich");
  REQUIRE(program.has_value());
  for (const char* const name : {"p.json", "p.json.zst"}) {
    CHECK_FALSE(write_program(*program, folder.file(name)).has_value());
    const auto again = read_program(folder.file(name));
    REQUIRE(again.has_value());
    CHECK(digest(*again) == digest(*program));
  }
  std::ifstream packed(folder.file("p.json.zst"), std::ios::binary);
  CHECK(packed.get() == 0x28);
  std::filesystem::rename(folder.file("p.json.zst"), folder.file("q.json"));
  CHECK(read_program(folder.file("q.json")).has_value());
}

TEST_CASE("refused: files that cannot be read") {
  const TemporaryFolder folder;
  check_refused_file(folder.file("missing.json"), "a readable file", "No such file");
  check_refused_file(folder.file(""), "a file", "a directory");
  put(folder.file("empty.json"), "");
  check_refused_file(folder.file("empty.json"), "a program", "an empty file");
  put(folder.file("broken.json"), "{\n\"format\": }");
  const auto broken = read_program(folder.file("broken.json"));
  REQUIRE_FALSE(broken.has_value());
  CHECK(broken.error().line == 2);
  CHECK(broken.error().message().find("broken.json:2: $.format: expected a JSON value, found }") !=
        std::string::npos);
}

TEST_CASE("refused: damaged zstd") {
  const TemporaryFolder folder;
  const std::string path = folder.file("p.zst");
  REQUIRE_FALSE(write_bytes(path, kRichProgram).has_value());
  std::ifstream file(path, std::ios::binary);
  const std::string packed((std::istreambuf_iterator<char>(file)), {});
  CHECK(get(path) == kRichProgram);

  put(path, packed + packed);
  CHECK(get(path) == std::string(kRichProgram) + std::string(kRichProgram));
  put(path, packed.substr(0, packed.size() - 1));
  check_refused_file(path, "a whole zstd frame", "a truncated one");
  for (std::size_t size = 4; size < packed.size(); size += 11) {
    put(path, packed.substr(0, size));
    check_refused_file(path, "zstd frame", "");
  }
  put(path, packed + "x");
  check_refused_file(path, "the end of the file after the last zstd frame", "other bytes");
  put(path, packed + packed.substr(0, 9));
  check_refused_file(path, "a whole zstd frame", "a truncated one");
  std::string damaged = packed;
  damaged[packed.size() / 2] = static_cast<char>(damaged[packed.size() / 2] ^ 0x55);
  put(path, damaged);
  CHECK_FALSE(read_program(path).has_value());
}

TEST_CASE("sizes are limited, compressed or not") {
  const TemporaryFolder folder;
  const std::string text(100'000, ' ');
  put(folder.file("p"), text);
  REQUIRE_FALSE(write_bytes(folder.file("p.zst"), text).has_value());
  for (const char* const name : {"p", "p.zst"}) {
    CHECK(read_bytes(folder.file(name), text.size()).has_value());
    const auto result = read_bytes(folder.file(name), text.size() - 1);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().expected == "at most 99999 bytes");
    CHECK(result.error().file == folder.file(name));
  }
}

/// The rich program, made longer than what is looked at before the rest is read.
std::string long_program() {
  std::string files = "\"kernels.py\"";
  while (files.size() < 2 * kFirstLookBytes) files += ",\"\\u00e4 \xc3\xa4.py\"";
  return test::rich_with("\"kernels.py\"", files);
}

TEST_CASE("a right program is read to its end, however long, and wherever its beginning ends") {
  const TemporaryFolder folder;
  const std::string text = long_program();
  REQUIRE(parse_program(text, "long").has_value());
  for (const char* const name : {"p.json", "p.json.zst"}) {
    REQUIRE_FALSE(write_bytes(folder.file(name), text).has_value());
    CHECK(read_program(folder.file(name)).has_value());
  }
  for (std::size_t size = 0; size < 3000; size += 11) {
    const auto refused = look_at_json(text.substr(0, kFirstLookBytes - size), "long", "a program");
    REQUIRE_FALSE(refused.has_value());
  }
  for (std::size_t size = 0; size < kRichProgram.size(); ++size) {
    REQUIRE_FALSE(look_at_json(kRichProgram.substr(0, size), "rich", "a program").has_value());
  }
}

TEST_CASE("a long file that is no program is refused by its beginning") {
  const TemporaryFolder folder;
  const std::string rest(3 * kFirstLookBytes, ' ');
  for (const std::string start : {"<", "[", "{]", "{\"a\":tru,", "{\"a\":\"\x01"}) {
    CAPTURE(start);
    for (const char* const name : {"p.json", "p.json.zst"}) {
      REQUIRE_FALSE(write_bytes(folder.file(name), start + rest).has_value());
      const auto whole = read_bytes(folder.file(name), kMaximumInputBytes, nullptr);
      REQUIRE(whole.has_value());
      const auto looked = read_bytes(folder.file(name), kMaximumInputBytes, look_at_program);
      REQUIRE_FALSE(looked.has_value());
      // The same words as if it had been read to its end.
      const auto parsed = parse_program(*whole, folder.file(name));
      REQUIRE_FALSE(parsed.has_value());
      CHECK(looked.error().message() == parsed.error().message());
    }
  }
}

TEST_CASE("a file is replaced whole or not at all") {
  const TemporaryFolder folder;
  const std::string path = folder.file("p.json");
  REQUIRE_FALSE(write_bytes(path, "old").has_value());
  REQUIRE_FALSE(write_bytes(path, "new").has_value());
  CHECK(get(path) == "new");
  const auto files = std::filesystem::directory_iterator(folder.file(""));
  CHECK(std::distance(begin(files), end(files)) == 1);

  std::filesystem::create_symlink(path, folder.file("link"));
  REQUIRE_FALSE(write_bytes(folder.file("link"), "newer").has_value());
  CHECK(std::filesystem::is_symlink(folder.file("link")));
  CHECK(get(path) == "newer");
}

TEST_CASE("refused: files that cannot be written") {
  const TemporaryFolder folder;
  const auto check_failed = [](const std::string& path, std::string_view why) {
    const Status status = write_bytes(path, "text");
    REQUIRE(status.has_value());
    INFO(status->message());
    CHECK(status->file == path);
    CHECK(status->found.find(why) != std::string::npos);
  };
  check_failed(folder.file("none/p.json"), "No such file");
  check_failed(folder.file(""), "directory");
  check_failed("/dev/full", "No space left");
  CHECK_FALSE(write_bytes("/dev/null", "text").has_value());
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("a disk that fills up leaves the old file") {
  const TemporaryFolder folder;
  const std::string path = folder.file("p.json");
  REQUIRE_FALSE(write_bytes(path, "old").has_value());
  auto* const previous = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit small = before;
  small.rlim_cur = 1000;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const Status status = write_bytes(path, std::string(5000, 'x'));
  CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, previous);
  REQUIRE(status.has_value());
  CHECK(status->file == path);
  CHECK(get(path) == "old");
  const auto files = std::filesystem::directory_iterator(folder.file(""));
  CHECK(std::distance(begin(files), end(files)) == 1);
}

}  // namespace
}  // namespace spatialcert::ir
