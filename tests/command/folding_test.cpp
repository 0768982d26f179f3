// Loops that are not unrolled, as the command reports them.
#include <doctest/doctest.h>

#include <string>

#include "tests/command/child.hpp"

using namespace spatialcert::command::test;

namespace {

/// docs/format.md's example with another number of tiles.
std::string with_trips(const std::string& trips, const std::string& rows) {
  std::string text = read_file(std::string(SPATIALCERT_SOURCE_DIR) + "/docs/format.md");
  const std::size_t begin = text.find("```json\n") + 8;
  text = text.substr(begin, text.find("```", begin) - begin);
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
      text.replace(at, from.size(), to);
      at += to.size();
    }
  };
  replace("\"repeat\": 8", "\"repeat\": " + trips);
  replace("\"rows\": 128", "\"rows\": " + rows);
  return text;
}

}  // namespace

TEST_CASE("a billion trips: certified, without unrolling them") {
  const TemporaryFolder folder;
  write_file(folder / "loops.json", with_trips("1000000000", "16000000000"));
  const ChildResult text = run({"certify", folder / "loops.json", "-o", folder / "loops.cert"});
  CHECK(text.status == 0);
  CHECK(contains(text.out, "double: certified"));
  CHECK(contains(text.out, "8 ops, 6000000000 transitions (2 loops folded to "));
  CHECK(text.cpu_seconds < 30);
  CHECK(read_file(folder / "loops.cert").size() < 2000);

  const ChildResult json = run({"certify", "--format", "json", folder / "loops.json"});
  CHECK(json.status == 0);
  CHECK(contains(json.out, "\"transitions\": 6000000000"));
  CHECK(contains(json.out, "\"folded\": {\"loops\": 2, \"transitions\": "));
}

TEST_CASE("--unroll: the same verdict, or none within the limit") {
  const TemporaryFolder folder;
  write_file(folder / "some.json", with_trips("5000", "80000"));
  const ChildResult folded = run({"certify", folder / "some.json"});
  const ChildResult unrolled = run({"certify", "--unroll", folder / "some.json"});
  CHECK(folded.status == 0);
  CHECK(unrolled.status == 0);
  CHECK(contains(folded.out, "loops folded to"));
  CHECK_FALSE(contains(unrolled.out, "folded"));

  write_file(folder / "many.json", with_trips("1000000000", "16000000000"));
  const ChildResult many = run({"certify", "--unroll", folder / "many.json"});
  CHECK(many.status == 2);
  CHECK(contains(many.out, "unrolls to more than 30000000 ops"));
}
