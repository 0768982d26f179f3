// `--suggest` and `--suggest-to`, of `certify` and `explain`.
#include <doctest/doctest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "tests/command/child.hpp"

using namespace spatialcert::command::test;
namespace fs = std::filesystem;

namespace {

std::size_t files_in(const std::string& folder) {
  if (!fs::exists(folder)) return 0;
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// Where the suggestion begins, which the command prints behind everything else of a program.
std::string suggestion_in(const std::string& text) {
  const std::size_t at = text.find("suggestion: ");
  return at == std::string::npos ? std::string() : text.substr(at);
}

}  // namespace

TEST_CASE("certify --suggest says what to change, and ends as the program is") {
  const std::string program = golden("starved-wait");
  const ChildResult plain = run({"certify", program});
  const ChildResult said = run({"certify", "--suggest", program});
  CHECK(plain.status == 1);
  CHECK(said.status == 1);
  CHECK(suggestion_in(plain.out).empty());
  const std::string suggestion = suggestion_in(said.out);
  CHECK(suggestion.starts_with("suggestion: a repair, and the repaired program was certified"));
  CHECK(contains(suggestion, "against starved (liveness): a post that was missing"));
  CHECK(contains(suggestion, "- insert `post ready 1` after op"));
  CHECK(contains(suggestion, "costs 1 op; "));
  // All that is said without it is said with it.
  CHECK(contains(said.out, plain.out.substr(0, plain.out.find('\n'))));
}

TEST_CASE("--suggest-to writes the repaired program, which is certified") {
  const TemporaryFolder folder;
  const std::string to = folder / "deep/repaired";
  const ChildResult said = run({"certify", "--quiet", "--suggest-to", to, golden("starved-wait")});
  CHECK(said.status == 1);
  const std::string file = to + "/starved-wait.repaired.json";
  REQUIRE(fs::exists(file));
  CHECK(files_in(to) == 1);
  CHECK(run({"certify", file}).status == 0);
  const ChildResult json =
      run({"certify", "--format", "json", "--suggest-to", to, golden("starved-wait")});
  CHECK(json.status == 1);
  CHECK(contains(json.out, "\"outcome\": \"certified\""));
  CHECK(contains(json.out, "\"file\": \"" + file + "\""));
  CHECK(contains(json.out, "\"semaphores\": 0, \"ops\": 1"));
}

TEST_CASE("a partial repair says that the program is not certified, and has another name") {
  const TemporaryFolder folder;
  const std::string to = folder / "to";
  const std::string program = golden("reordered-against-the-source");
  const ChildResult said = run({"certify", "--suggest-to", to, program});
  CHECK(said.status == 1);
  const std::string suggestion = suggestion_in(said.out);
  CHECK(
      suggestion.starts_with("suggestion: a partial repair; the program is NOT certified with it"));
  CHECK(contains(suggestion, "\n    left: "));
  const std::string file = to + "/reordered-against-the-source.partial.json";
  REQUIRE(fs::exists(file));
  CHECK(files_in(to) == 1);
  CHECK(run({"certify", file}).status == 1);
}

TEST_CASE("where no repair is found it is said plainly, and nothing is written") {
  const TemporaryFolder folder;
  const std::string to = folder / "to";
  const ChildResult said = run({"certify", "--suggest-to", to, golden("wrong-result")});
  CHECK(said.status == 1);
  CHECK(contains(said.out, "suggestion: no repair found"));
  CHECK(contains(said.out, "wrong-result: which of the ops that a result went through is wrong"));
  CHECK(files_in(to) == 0);
  const ChildResult json =
      run({"certify", "--format", "json", "--suggest", golden("wrong-result")});
  CHECK(json.status == 1);
  CHECK(contains(json.out, "\"outcome\": \"none\""));
}

TEST_CASE("a certified program gets no suggestion") {
  const TemporaryFolder folder;
  const std::string to = folder / "to";
  const ChildResult text = run({"certify", "--suggest-to", to, golden("certified-sum")});
  CHECK(text.status == 0);
  CHECK_FALSE(contains(text.out, "suggestion"));
  const ChildResult json =
      run({"certify", "--format", "json", "--suggest", golden("certified-sum")});
  CHECK(json.status == 0);
  CHECK_FALSE(contains(json.out, "\"suggestion\""));
  CHECK(files_in(to) == 0);
}

TEST_CASE("programs of one name have repaired files of their own") {
  const TemporaryFolder folder;
  const std::string program = golden("starved-wait");
  CHECK(run({"certify", "--quiet", "--suggest-to", folder.path(), program, program}).status == 1);
  CHECK(fs::exists(folder / "starved-wait.repaired.json"));
  CHECK(fs::exists(folder / "starved-wait-2.repaired.json"));
}

TEST_CASE("explain --suggest begins with its counterexample") {
  const TemporaryFolder folder;
  const std::string program = golden("two-sections-of-one-phase-share-a-tensor");
  REQUIRE(run({"certify", "--quiet", "--cex", folder.path(), program}).status == 1);
  for (const char* rule : {"isolation", "ordering"}) {
    const std::string found =
        folder / ("two-sections-of-one-phase-share-a-tensor." + std::string(rule) + ".json");
    const ChildResult plain = run({"explain", program, found});
    const std::string to = folder / rule;
    const ChildResult said = run({"explain", program, found, "--suggest-to", to});
    CHECK(said.status == 0);
    CHECK(said.out.starts_with(plain.out));
    const std::string suggestion = said.out.substr(plain.out.size());
    CHECK(suggestion.starts_with("suggestion: a repair"));
    CHECK(contains(suggestion, std::string(" (") + rule + "): a boundary closed"));
    CHECK(run({"certify", to + "/two-sections-of-one-phase-share-a-tensor.repaired.json"}).status ==
          0);
    const ChildResult json = run({"explain", program, found, "--format", "json", "--suggest"});
    CHECK(json.status == 0);
    CHECK(contains(json.out, "\"suggestion\": {"));
    CHECK(contains(json.out, "\"kind\": \"close-boundary\""));
  }
}

TEST_CASE("a repaired program that cannot be written ends in 70") {
  const std::string nowhere = golden("starved-wait") + "/below";  // its folder is a file
  const ChildResult said = run({"certify", "--suggest-to", nowhere, golden("starved-wait")});
  CHECK(said.status == 70);
  CHECK(contains(said.out + said.err, "below"));
}

TEST_CASE("suggestions do not depend on the number of threads") {
  std::vector<std::string> programs;
  for (const char* name : {"starved-wait", "fifo-cycle", "missing-chip", "double-contribution",
                           "overlap-by-one-byte", "reordered-against-the-source"})
    programs.push_back(golden(name));
  std::string before;
  for (const char* jobs : {"1", "4"}) {
    std::vector<std::string> arguments{"certify", "--suggest", "-j", jobs};
    arguments.insert(arguments.end(), programs.begin(), programs.end());
    const ChildResult said = run(arguments);
    CHECK(said.status == 1);
    const std::string untimed = std::regex_replace(said.out, std::regex("[0-9.]+ s\\b"), "");
    if (!before.empty()) CHECK(untimed == before);
    before = untimed;
  }
  CHECK(contains(before, "suggestion: a repair"));
}
