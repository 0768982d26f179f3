// `recheck` as a command: exit statuses, what it says, and the certificates that `certify` writes.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/command/child.hpp"
#include "tests/forgery/recheck_command.hpp"

namespace spatialcert::tests {
namespace {

using command::test::contains;
using command::test::golden;
using command::test::read_file;
using command::test::TemporaryFolder;
using command::test::write_file;
namespace fs = std::filesystem;

/// A folder with the certificate of certified-sum.
struct Certified {
  Certified() {
    const auto made = command::test::run({"certify", program, "-o", certificate});
    REQUIRE_MESSAGE(made.status == 0, made.err);
  }
  TemporaryFolder folder;
  const std::string program = golden("certified-sum");
  const std::string certificate = folder / "sum.cert";
};

std::vector<fs::path> goldens() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(fs::path(golden("x")).parent_path())) {
    if (entry.path().extension() == ".json") out.push_back(entry.path());
  }
  return out;
}

}  // namespace

TEST_CASE("0: valid, with a table of the rules") {
  const Certified c;
  const Ran ran = recheck({c.program, c.certificate});
  CHECK(ran.status == 0);
  CHECK(ran.err.empty());
  CHECK(ran.out.starts_with(c.program + ": valid\n"));
  for (const char* rule : {"liveness", "ordering", "reduction", "coverage"})
    CHECK(contains(ran.out, std::string("\n  ") + rule));
  CHECK_FALSE(contains(ran.out, "denied"));
}

TEST_CASE("1: rejected, with the reason in the first line") {
  const Certified c;
  const Ran foreign = recheck({golden("certified-persistent"), c.certificate});
  CHECK(foreign.status == 1);
  CHECK(contains(foreign.out.substr(0, foreign.out.find('\n')), ": rejected: another "));
  const Ran asked = recheck({"--require", "reduction", c.program, c.certificate});
  CHECK(asked.status == 0);
}

TEST_CASE("1: a rule that is required and does not apply is named") {
  const TemporaryFolder folder;
  const std::string program = golden("certified-persistent");
  const std::string certificate = folder / "p.cert";
  REQUIRE(command::test::run({"certify", program, "-o", certificate}).status == 0);
  CHECK(recheck({program, certificate}).status == 0);
  CHECK(
      recheck({"--require", "liveness,memory", "--require", "flow", program, certificate}).status ==
      0);
  const Ran ran = recheck({program, certificate, "--require", "memory,reduction"});
  CHECK(ran.status == 1);
  CHECK(contains(ran.out, "rejected: not applicable: reduction: it is required"));
}

TEST_CASE("1: a partial certificate, missing rules by name") {
  const TemporaryFolder folder;
  const std::string program = golden("certified-sum");
  const std::string certificate = folder / "partial.cert";
  REQUIRE(
      command::test::run({"certify", "--rule", "liveness", program, "-o", certificate}).status ==
      2);
  const Ran ran = recheck({program, certificate});
  CHECK(ran.status == 1);
  CHECK(contains(ran.out, "rejected: missing obligation: "));
  CHECK(contains(ran.out, "\n  liveness    accepted"));
  CHECK(contains(ran.out, "\n  coverage    denied"));
}

TEST_CASE("3: an unreadable certificate or program") {
  const Certified c;
  const std::string bytes = read_file(c.certificate);
  const auto status_of = [&](const std::string& content, const std::string& says) {
    write_file(c.folder / "other.cert", content);
    const Ran ran = recheck({c.program, c.folder / "other.cert"});
    CAPTURE(ran.out);
    CHECK(contains(ran.out, "unreadable: " + says));
    CHECK(ran.err.empty());
    return ran.status;
  };
  CHECK(status_of("", "unreadable certificate") == 3);
  CHECK(status_of(bytes.substr(0, bytes.size() - 1), "truncated") == 3);
  CHECK(status_of(bytes + "x", "trailing data") == 3);
  CHECK(status_of(read_file(c.program), "not a certificate") == 3);
  std::string damaged = bytes;
  damaged[bytes.size() / 2] ^= 1;
  CHECK(status_of(damaged, "damaged") == 3);
  CHECK(recheck({c.program, c.folder / "none"}).status == 3);
  CHECK(recheck({c.program, c.folder.path()}).status == 3);
  write_file(c.folder / "cut.json", read_file(c.program).substr(0, 1000));
  const Ran cut = recheck({c.folder / "cut.json", c.certificate});
  CHECK(cut.status == 3);
  CHECK(contains(cut.out, "unreadable: unreadable program: "));
  CHECK(recheck({c.folder / "none.json", c.certificate}).status == 3);
}

TEST_CASE("64: wrong usage, said on standard error") {
  const Certified c;
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {c.program},
      {c.program, c.certificate, "third"},
      {"--require", "loveliness", c.program, c.certificate},
      {"--require", "", c.program, c.certificate},
      {"--format", "xml", c.program, c.certificate},
      {"--trust-me", c.program, c.certificate}};
  for (const auto& arguments : wrong) {
    const Ran ran = recheck(arguments);
    CAPTURE(ran.err);
    CAPTURE(arguments.size());
    CHECK(ran.status == 64);
    CHECK_FALSE(ran.err.empty());
    CHECK(ran.out.empty());
  }
}

TEST_CASE("help and version go to standard output and end in 0") {
  const Ran help = recheck({"--help"});
  CHECK(help.status == 0);
  CHECK(contains(help.out, "Exit status"));
  CHECK(contains(help.out, "Example"));
  const Ran version = recheck({"--version"});
  CHECK(version.status == 0);
  CHECK(contains(version.out, "certificates of version 3"));
}

TEST_CASE("70: what cannot be written, whatever the answer") {
  const Certified c;
  for (const char* output : {">/dev/full", ">&-"}) {
    CAPTURE(output);
    CHECK(recheck({c.program, c.certificate}, output).status == 70);
    CHECK(recheck({"--format", "json", c.program, c.certificate}, output).status == 70);
    CHECK(recheck({c.program, c.program}, output).status == 70);
    CHECK(recheck({golden("certified-persistent"), c.certificate}, output).status == 70);
    CHECK(recheck({"--version"}, output).status == 70);
    CHECK(recheck({"--help"}, output).status == 70);
  }
}

TEST_CASE("every golden program: certified ones recheck, the others leave no certificate") {
  const TemporaryFolder folder;
  int certified = 0;
  int others = 0;
  for (const fs::path& program : goldens()) {
    const std::string name = program.stem().string();
    CAPTURE(name);
    const std::string expected = read_file(program.parent_path().string() + "/" + name + ".expect");
    const std::string certificate = folder / (name + ".cert");
    static_cast<void>(command::test::run({"certify", program.string(), "-o", certificate}));
    const bool right = expected == "certified\n";
    ++(right ? certified : others);
    CHECK(fs::exists(certificate) == right);
    if (right) CHECK(recheck({program.string(), certificate}).status == 0);
  }
  CHECK(certified >= 3);
  CHECK(others >= 20);
}

TEST_CASE("generated collectives, compressed: certified ones recheck, faulty ones do not") {
  struct Kind {
    std::vector<std::string> what;
    bool right = true;
  };
  const std::vector<Kind> kinds = {
      {{"--collective", "ring", "--op", "allreduce", "--ranks", "8"}},
      {{"--collective", "tree", "--op", "allreduce", "--ranks", "6"}},
      {{"--collective", "recursive-doubling", "--op", "allgather", "--ranks", "4"}},
      {{"--collective", "hierarchical", "--op", "allreduce", "--ranks", "8", "--ranks-per-node",
        "4"}},
      {{"--collective", "ring", "--op", "allreduce", "--ranks", "4", "--fault", "reduce-twice"},
       false}};
  for (const Kind& kind : kinds) {
    const TemporaryFolder folder;
    const std::string program = folder / "c.json.zst";
    const std::string certificate = folder / "c.cert";
    std::vector<std::string> generate{"generate", "-o", folder / "c.xml"};
    generate.insert(generate.end(), kind.what.begin(), kind.what.end());
    REQUIRE(command::test::run(generate).status == 0);
    REQUIRE(command::test::run({"import", "msccl", folder / "c.xml", "--bytes", "64KiB", "-o",
                                program, "--placement", "out"})
                .status == 0);
    const auto made = command::test::run({"certify", program, "-o", certificate});
    CAPTURE(made.out);
    CHECK(made.status == (kind.right ? 0 : 1));
    CHECK(fs::exists(certificate) == kind.right);
    if (!kind.right) continue;
    const Ran ran = recheck({program, certificate, "--require", "reduction"});
    CHECK(ran.status == 0);
    CHECK(contains(ran.out, ": valid\n"));
  }
}

}  // namespace spatialcert::tests
