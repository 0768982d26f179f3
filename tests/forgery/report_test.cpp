// The JSON report of `recheck`, and what docs/recheck.md and docs/recheck.schema.json say of it.
#include <doctest/doctest.h>

#include <set>

#include "proofs/recheck/recheck.hpp"
#include "tests/command/child.hpp"
#include "tests/forgery/court.hpp"
#include "tests/forgery/recheck_command.hpp"
#include "tests/io/json_values.hpp"

namespace spatialcert::tests {
namespace {

using command::test::contains;
using command::test::golden;
using command::test::read_file;

/// The value at `path` of the report, as JSON; empty if there is none.
std::string at(const std::string& json, const std::string& path) {
  for (const ir::test::JsonValue& value : ir::test::values_of(json)) {
    if (value.path == path) return json.substr(value.at, value.size);
  }
  return "";
}

std::string documentation(const std::string& file) {
  return read_file(std::string(SPATIALCERT_SOURCE_DIR) + "/docs/" + file);
}

/// A valid, a rejected, a partial and an unreadable certificate.
std::vector<std::string> reports() {
  const command::test::TemporaryFolder folder;
  const std::string sum = golden("certified-sum");
  const std::string whole = folder / "whole.cert";
  const std::string part = folder / "part.cert";
  static_cast<void>(command::test::run({"certify", sum, "-o", whole}));
  static_cast<void>(command::test::run({"certify", "--rule", "flow", sum, "-o", part}));
  std::vector<std::string> out;
  const auto add = [&](std::vector<std::string> arguments, int status) {
    arguments.insert(arguments.begin(), {"--format", "json"});
    const Ran ran = recheck(arguments);
    CHECK(ran.status == status);
    CHECK(ran.err.empty());
    out.push_back(ran.out);
  };
  add({sum, whole}, 0);
  add({golden("certified-persistent"), whole}, 1);
  add({sum, part}, 1);
  add({sum, sum}, 3);
  add({folder / "none.json", whole}, 3);
  add({sum, folder / "a \"quoted\" \xff name"}, 3);
  return out;
}

}  // namespace

TEST_CASE("the JSON report parses, is versioned, and has the verdict of the exit status") {
  const auto all = reports();
  for (const std::string& json : all) {
    CAPTURE(json);
    CHECK(json.ends_with("}\n"));
    CHECK(at(json, "$.format") == "\"spatialcert-recheck\"");
    CHECK(at(json, "$.version") == "1");
    CHECK_FALSE(at(json, "$.rules").empty());
  }
  CHECK(at(all[0], "$.verdict") == "\"valid\"");
  CHECK(at(all[0], "$.reason").empty());
  CHECK(at(all[0], "$.rules[11].rule") == "\"coverage\"");
  CHECK(at(all[0], "$.rules[11].verdict") == "\"accepted\"");
  CHECK(at(all[1], "$.verdict") == "\"rejected\"");
  CHECK(at(all[1], "$.digest").size() == 66);
  CHECK(at(all[1], "$.rules") == "[]");
  CHECK(at(all[2], "$.reason") == "\"missing obligation\"");
  CHECK(at(all[2], "$.rules[0].verdict") == "\"accepted\"");
  CHECK(at(all[2], "$.rules[11].reason") == "\"missing obligation\"");
  CHECK(at(all[3], "$.verdict") == "\"unreadable\"");
  CHECK(at(all[3], "$.reason") == "\"not a certificate\"");
  CHECK(at(all[4], "$.reason") == "\"unreadable program\"");
  CHECK(at(all[5], "$.reason") == "\"unreadable certificate\"");
}

TEST_CASE("every member and every word of the report is in the documentation and the schema") {
  const std::string text = documentation("recheck.md");
  const std::string schema = documentation("recheck.schema.json");
  CHECK_FALSE(ir::test::values_of(schema).empty());
  std::set<std::string> keys;
  for (const std::string& json : reports()) {
    for (const ir::test::JsonValue& value : ir::test::values_of(json)) keys.insert(value.key);
  }
  keys.erase("");
  CHECK(keys.size() >= 12);
  for (const std::string& key : keys) {
    CAPTURE(key);
    CHECK(contains(text, "`" + key + "`"));
    CHECK(contains(schema, "\"" + key + "\": {"));
  }
  std::vector<std::string> words = all_denials();
  for (const char* word : {"valid", "rejected", "unreadable", "accepted", "denied"})
    words.emplace_back(word);
  for (const std::string& word : words) {
    CAPTURE(word);
    CHECK(contains(text, "`" + word + "`"));
    CHECK(contains(schema, "\"" + word + "\""));
  }
  for (const proofs::Rule rule : proofs::all_rules())
    CHECK(contains(schema, "\"" + std::string(to_string(rule)) + "\""));
}

}  // namespace spatialcert::tests
