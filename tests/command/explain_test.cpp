// `spatialcert explain` and the flags for views.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/command/child.hpp"

using namespace spatialcert::command::test;
namespace fs = std::filesystem;

namespace {

struct Found {
  TemporaryFolder folder;
  std::string program = golden("crossed-waits-of-two-engines");
  std::string counterexample;

  Found() {
    REQUIRE(run({"certify", "--quiet", "--cex", folder.path(), program}).status == 1);
    counterexample = folder / "crossed-waits-of-two-engines.liveness.json";
  }
};

}  // namespace

TEST_CASE("explain replays a counterexample and says what replay says") {
  const Found found;
  const ChildResult said = run({"explain", found.program, found.counterexample});
  CHECK(said.status == 0);
  CHECK(said.out.starts_with("deadlock: 2 engine programs wait for each other"));
  const ChildResult replayed = run({"replay", found.program, found.counterexample});
  CHECK(contains(replayed.out, said.out));
  const ChildResult json = run({"explain", found.program, found.counterexample, "--format=json"});
  CHECK(json.status == 0);
  CHECK(contains(json.out, "\"format\": \"spatialcert-explanation\""));
}

TEST_CASE("explain writes no view of what is not reproduced, or belongs to another program") {
  const Found found;
  std::string text = read_file(found.counterexample);
  const std::string schedule = "\"schedules\": [\n    []\n  ]";
  const std::size_t at = text.find(schedule);
  REQUIRE(at != std::string::npos);
  text.replace(at, schedule.size(), "\"schedules\": [\n    [[0, 1]]\n  ]");
  write_file(found.folder / "forged.json", text);
  const std::string page = found.folder / "page.html";
  const ChildResult forged =
      run({"explain", found.program, found.folder / "forged.json", "--html", page});
  CHECK(forged.status == 1);
  CHECK(contains(forged.err, "not reproduced"));
  const ChildResult foreign =
      run({"explain", golden("missing-wait"), found.counterexample, "--html", page});
  CHECK(foreign.status == 3);
  CHECK_FALSE(fs::exists(page));
}

TEST_CASE("a view that goes to standard output has it for itself") {
  const Found found;
  const ChildResult page = run({"explain", found.program, found.counterexample, "--html", "-"});
  CHECK(page.status == 0);
  CHECK(page.out.starts_with("<!DOCTYPE html>"));
  CHECK(page.out.ends_with("</html>\n"));
  const ChildResult certified = run({"certify", found.program, "--html", "-"});
  CHECK(certified.status == 1);
  CHECK(certified.out.starts_with("<!DOCTYPE html>"));
  CHECK(certified.out.ends_with("</html>\n"));
  for (const char* command : {"explain", "certify"}) {
    std::vector<std::string> arguments{command, found.program, "--html", "-", "--format", "json"};
    if (std::string(command) == "explain") {
      arguments.insert(arguments.begin() + 2, found.counterexample);
    }
    const ChildResult both = run(arguments);
    CHECK(both.status == 64);
    CHECK(both.out.empty());
  }
}

TEST_CASE("a view that cannot be written ends in 70, whatever the verdict") {
  const Found found;
  const std::string nowhere = found.program + "/page.html";  // its folder is a file
  const ChildResult said = run({"explain", found.program, found.counterexample, "--html", nowhere});
  CHECK(said.status == 70);
  CHECK(contains(said.err, "--html"));
  const ChildResult certified =
      run({"certify", golden("certified-sum"), "--format", "json", "--html", nowhere});
  CHECK(certified.status == 70);
  CHECK(contains(certified.out, "\"exit_status\": 70"));
}

TEST_CASE("views of counterexamples are one file, or a folder of them") {
  const TemporaryFolder folder;
  const std::string one = golden("crossed-waits-of-two-engines");
  const std::string two = golden("two-sections-of-one-phase-share-a-tensor");  // by two rules
  CHECK(run({"certify", "--quiet", one, "--dot", folder / "net.dot"}).status == 1);
  CHECK(read_file(folder / "net.dot").starts_with("digraph"));
  CHECK(run({"certify", "--quiet", one, "--dot", folder / "nets/"}).status == 1);
  CHECK(read_file(folder / "nets/crossed-waits-of-two-engines.liveness.dot") ==
        read_file(folder / "net.dot"));
  CHECK(run({"certify", "--quiet", two, "--pnml", folder / "several"}).status == 1);
  for (const char* rule : {"isolation", "ordering"}) {
    const std::string name =
        std::string("several/two-sections-of-one-phase-share-a-tensor.") + rule + ".pnml";
    CHECK(read_file(folder / name).starts_with("<?xml"));
  }
  // What is there already stays, and says so.
  const ChildResult in_the_way = run({"certify", "--quiet", two, "--dot", folder / "net.dot"});
  CHECK(in_the_way.status == 70);
  CHECK(contains(in_the_way.err, "--dot"));
  CHECK(read_file(folder / "net.dot").starts_with("digraph"));
  const ChildResult no_room = run({"certify", two, "--dot", "-"});
  CHECK(no_room.status == 70);
  CHECK(contains(no_room.err, "name a folder"));
  CHECK(run({"certify", "--quiet", golden("certified-sum"), "--dot", folder / "none.dot"}).status ==
        0);
  CHECK_FALSE(fs::exists(folder / "none.dot"));
}

TEST_CASE("programs of one name have views of their own, as they have files of --cex") {
  const TemporaryFolder folder;
  const std::string program = golden("missing-wait");
  CHECK(run({"certify", "--quiet", program, program, "--dot", folder / "nets/", "--cex",
             folder / "cex"})
            .status == 1);
  for (const char* name : {"missing-wait.ordering", "missing-wait-2.ordering"}) {
    CHECK(fs::exists(folder / (std::string("nets/") + name + ".dot")));
    CHECK(fs::exists(folder / (std::string("cex/") + name + ".json")));
  }
}
