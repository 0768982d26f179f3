#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/command/child.hpp"

using namespace spatialcert::command::test;

namespace {

/// Positions of all of `parts` in `text`, which must be there and in that order.
void check_order(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    const std::size_t found = text.find(part, at);
    CAPTURE(part);
    REQUIRE(found != std::string::npos);
    at = found + part.size();
  }
}

}  // namespace

TEST_CASE("exit status over one run: refuted before refused before undecided before certified") {
  const TemporaryFolder folder;
  const std::string broken = folder / "broken.json";
  write_file(broken, "{\"format\": \"spatialcert-program\",\n \"version\": 2}");
  const std::string good = golden("certified-sum");
  const std::string bad = golden("missing-wait");
  CHECK(run({"certify", good}).status == 0);
  CHECK(run({"certify", good, bad}).status == 1);
  CHECK(run({"certify", good, broken}).status == 3);
  CHECK(run({"certify", broken, bad}).status == 1);
  CHECK(run({"certify", "--rule", "liveness", good}).status == 2);
  CHECK(run({"certify", "--rule", "liveness", good, broken}).status == 3);
  CHECK(run({"certify", "--rule", "ordering", bad}).status == 1);
}

TEST_CASE("a refused file is reported in its place and the others still run") {
  const TemporaryFolder folder;
  const ChildResult result = run({"certify", "-j", "4", golden("certified-sum"),
                                  folder / "missing.json", golden("missing-wait")});
  CHECK(result.status == 1);
  check_order(result.out, {"certified-sum: certified", "missing.json: refused",
                           "expected a readable file", "missing-wait: refuted by ordering",
                           "1 certified, 1 refuted, 0 undecided, 1 refused"});
}

TEST_CASE("blocks stand in argument order, whatever finishes first") {
  std::vector<std::string> arguments = {"certify", "--quiet", "-j", "4"};
  std::vector<std::string> expected;
  for (int i = 0; i < 4; ++i) {
    for (const char* name : {"wrong-result", "certified-sum", "fifo-cycle"}) {
      arguments.push_back(golden(name));
      expected.push_back(std::string(name) + ": ");
    }
  }
  const ChildResult result = run(arguments);
  CHECK(result.status == 1);
  check_order(result.out, expected);
}

TEST_CASE("some rules only: says what they hold for and is never certified") {
  const ChildResult result =
      run({"certify", "--rule", "liveness", "--rule", "memory", golden("certified-sum")});
  CHECK(result.status == 2);
  CHECK(contains(result.out, "holds for liveness, memory"));
  CHECK_FALSE(contains(result.out, "ordering    "));
}

TEST_CASE("the JSON report names every figure and embeds counterexamples") {
  const TemporaryFolder folder;
  const ChildResult result =
      run({"certify", "--format", "json", golden("missing-wait"), folder / "none.json"});
  CHECK(result.status == 1);
  check_order(result.out, {"\"format\": \"spatialcert-report\"",
                           "\"version\": 1",
                           "\"solver\"",
                           "\"programs\"",
                           "\"name\": \"missing-wait\"",
                           "\"digest\"",
                           "\"verdict\": \"refuted\"",
                           "\"ops\": 7",
                           "\"transitions\": 7",
                           "\"places\"",
                           "\"pairs\"",
                           "\"resource_units\"",
                           "\"rules\"",
                           "\"rule\": \"ordering\"",
                           "\"format\": \"spatialcert-counterexample\"",
                           "\"kind\": \"race\"",
                           "\"verdict\": \"refused\"",
                           "\"line\": 0",
                           "\"totals\"",
                           "\"exit_status\": 1"});
}

TEST_CASE("queries and counterexamples are written under the program's name") {
  const TemporaryFolder folder;
  const ChildResult result =
      run({"certify", "--smt2", folder / "queries", "--cex", folder / "found",
           golden("missing-wait"), golden("missing-wait")});
  CHECK(result.status == 1);
  CHECK(contains(read_file(folder / "queries/missing-wait/liveness-001.smt2"), "(check-sat)"));
  CHECK(contains(read_file(folder / "queries/missing-wait-2/liveness-001.smt2"), "(check-sat)"));
  CHECK(contains(read_file(folder / "found/missing-wait.ordering.json"),
                 "spatialcert-counterexample"));
  CHECK(contains(read_file(folder / "found/missing-wait-2.ordering.json"),
                 "spatialcert-counterexample"));
}

TEST_CASE("the message size above which an algorithm deadlocks is found and named") {
  const TemporaryFolder folder;
  const std::string xml = folder / "exchange.xml";
  REQUIRE(run({"generate", "--collective", "recursive-doubling", "--op", "allgather", "--ranks",
               "8", "--fault", "send-first", "-o", xml})
              .status == 0);
  const ChildResult all = run({"certify", xml});
  CHECK(all.status == 1);
  check_order(all.out,
              {"one transfer per step): certified", "one transfer per chunk): refuted by liveness",
               "deadlocks above 8 MiB (8388608 bytes) of message",
               "every transfer carries at least 2 chunks"});
  const ChildResult json = run({"certify", "--format", "json", xml});
  CHECK(contains(json.out, "\"deadlocks_above\": {\"bytes\": 8388608, \"chunks_per_transfer\": 2"));
  // The named size is the edge: certified there, refuted one step beyond.
  CHECK(run({"certify", "--bytes", "8MiB", xml}).status == 0);
  CHECK(run({"certify", "--bytes", "8388616", xml}).status == 1);
}

TEST_CASE(
    "a collective without a postcondition is certified for the rest, and the report says so") {
  const TemporaryFolder folder;
  const std::string xml = folder / "custom.xml";
  REQUIRE(run({"generate", "--collective", "ring", "--op", "allreduce", "--ranks", "2", "-o", xml})
              .status == 0);
  std::string text = read_file(xml);
  const std::string coll = "coll=\"allreduce\"";
  const std::size_t at = text.find(coll);
  REQUIRE(at != std::string::npos);
  write_file(xml, text.replace(at, coll.size(), "coll=\"custom\""));
  const ChildResult result = run({"certify", xml});
  CHECK(result.status == 0);
  CHECK(contains(result.out, "not specified"));
  CHECK(contains(run({"certify", "--format", "json", xml}).out, "\"result_specified\": false"));
}
