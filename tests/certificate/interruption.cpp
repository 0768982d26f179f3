// A certificate is the old one or the new one, whoever is killed and whoever else writes it.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "ir/bytes_file.hpp"
#include "tests/certificate/forge.hpp"
#include "tests/command/child.hpp"

namespace spatialcert::proofs::test {
namespace {

using command::test::golden;
using command::test::read_file;
using command::test::TemporaryFolder;
using command::test::write_file;

constexpr std::size_t kBytes = 300'000;

/// A process of our own that writes `letter` over and over, at most `times` times.
pid_t start_writer(const std::string& path, char letter, int times) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child != 0) return child;
  const std::string content(kBytes, letter);
  for (int i = 0; i < times; ++i) {
    if (ir::write_exact_bytes(path, content)) ::_exit(1);
  }
  ::_exit(0);
}

int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool is_whole(const std::string& content) {
  return content.size() == kBytes && content == std::string(kBytes, content.front());
}

}  // namespace

TEST_CASE("killed while writing: the file is whole") {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  std::mt19937_64 random(11);
  for (int round = 0; round < 60; ++round) {
    write_file(path, std::string(kBytes, 'o'));
    const pid_t writer = start_writer(path, 'n', 1'000'000);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
    ::kill(writer, SIGKILL);
    CHECK(wait_for(writer) == -1);
    CHECK(is_whole(read_file(path)));
  }
}

TEST_CASE("two writers at once: the file is always one of theirs, and nothing is left over") {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  write_file(path, std::string(kBytes, 'o'));
  const pid_t writers[] = {start_writer(path, 'a', 200), start_writer(path, 'b', 200)};
  int mixed = 0;
  const auto alive = [&] { return ::waitpid(writers[0], nullptr, WNOHANG) == 0; };
  while (alive()) mixed += is_whole(read_file(path)) ? 0 : 1;
  CHECK(wait_for(writers[1]) == 0);
  CHECK(mixed == 0);
  CHECK(is_whole(read_file(path)));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("certify killed at any moment: the old certificate or the new one") {
  const TemporaryFolder folder;
  const std::string path = folder / "sum.cert";
  const std::vector<std::string> arguments{"certify", "--quiet", golden("certified-sum"), "-o",
                                           path};
  const auto start = std::chrono::steady_clock::now();
  REQUIRE(command::test::run(arguments).status == 0);
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - start);
  const std::string good = read_file(path);
  const std::string old = encode(small_certificate());
  std::mt19937_64 random(13);
  for (int round = 0; round < 60; ++round) {
    write_file(path, old);
    const auto after = random() % static_cast<std::uint64_t>(whole.count() * 5 / 4) + 1;
    static_cast<void>(command::test::run_and_kill(arguments, after));
    const std::string left = read_file(path);
    CHECK((left == old || left == good));
  }
}

TEST_CASE("two runs of certify at once write the same name") {
  const TemporaryFolder folder;
  const std::string path = folder / "any.cert";
  const auto certify = [&](const char* name) {
    for (int i = 0; i < 10; ++i) {
      if (command::test::run({"certify", "--quiet", golden(name), "-o", path}).status != 0) {
        return false;
      }
    }
    return true;
  };
  bool first = false;
  std::thread other([&] { first = certify("certified-sum"); });
  const bool second = certify("certified-persistent");
  other.join();
  CHECK(first);
  CHECK(second);
  const Certificate left = decoded(read_file(path));
  CHECK(left.coverage.has_value());
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

}  // namespace spatialcert::proofs::test
