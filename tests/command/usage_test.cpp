// The command line itself: wrong usage, help, versions, and output that cannot be written.
#include <doctest/doctest.h>

#include "tests/command/child.hpp"

using namespace spatialcert::command::test;

TEST_CASE("wrong usage ends in 64 and says what is wrong") {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"certificate"},
      {"certify"},
      {"certify", "--rule", "loveliness", golden("certified-sum")},
      {"certify", "--rlimit", "0", golden("certified-sum")},
      {"certify", "-j", "0", golden("certified-sum")},
      {"certify", "--format", "xml", golden("certified-sum")},
      {"certify", "--bytes", "12XB", golden("certified-sum")},
      {"certify", "--bytes", "8MiB", "--any-size", golden("certified-sum")},
      {"certify", "--placement", "beside", golden("certified-sum")},
      {"certify", "--unknown", golden("certified-sum")},
      {"import", "msccl", "x.xml"},
      {"import"},
      {"replay", golden("certified-sum")},
      {"show"},
      {"generate", "--collective", "ring"},
      {"generate", "--collective", "ring", "--op", "allreduce", "--ranks", "0"}};
  for (const auto& arguments : wrong) {
    const ChildResult result = run(arguments);
    CAPTURE(arguments.size());
    CAPTURE(result.err);
    CHECK(result.status == 64);
    CHECK_FALSE(result.err.empty());
    CHECK(result.out.empty());
  }
}

TEST_CASE("help and version go to standard output and end in 0") {
  for (const char* command : {"certify", "import", "generate", "replay", "show"}) {
    const ChildResult result = run({command, "--help"});
    CHECK(result.status == 0);
    CHECK(result.err.empty());
    CHECK(contains(result.out, "Example"));
    CHECK(contains(result.out, "Exit status"));
  }
  const ChildResult help = run({"--help"});
  CHECK(help.status == 0);
  CHECK(contains(help.out, "64"));
  const ChildResult version = run({"--version"});
  CHECK(version.status == 0);
  CHECK(contains(version.out, "spatialcert "));
  CHECK(contains(version.out, "z3 4."));
}

TEST_CASE("output that cannot be written ends in 70, whatever the verdict") {
  for (const Output output : {Output::full_disk, Output::closed, Output::broken_pipe}) {
    CHECK(run({"certify", golden("certified-sum")}, output).status == 70);
    CHECK(run({"certify", "--format", "json", golden("missing-wait")}, output).status == 70);
    CHECK(run({"show", golden("certified-sum")}, output).status == 70);
    CHECK(run({"--version"}, output).status == 70);
    CHECK(run({"generate", "--collective", "ring", "--op", "allreduce", "--ranks", "2"}, output)
              .status == 70);
  }
  const TemporaryFolder folder;
  write_file(folder / "file", "");
  const ChildResult result = run({"certify", "--cex", folder / "file", golden("missing-wait")});
  CHECK(result.status == 70);
  CHECK(run({"certify", "--smt2", folder / "file", golden("missing-wait")}).status == 70);
}
