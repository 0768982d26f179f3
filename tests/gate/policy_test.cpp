// Policies of the gate: what is read, and what is refused, by reason and place.
#include "certify/gate/policy.hpp"

#include <doctest/doctest.h>
#include <simdjson.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace spatialcert::tests {
namespace {

namespace gate = certify::gate;

const std::string kPolicy = R"({
  "format": "spatialcert-policy",
  "version": 1,
  "require": ["reduction", "memory"],
  "exceptions": [
    {"program": "layers/attention", "rule": "flow", "may": "undecided",
     "reason": "the reader of masks is being rewritten", "until": "2027-01-31"},
    {"program": "old", "may": "lost", "reason": "removed", "until": "2026-12-31"}
  ],
  "budgets": [
    {"cost": "memory", "space": "sram", "percent": 5},
    {"cost": "fifo_pages", "percent": 0}
  ]
})";

std::string with(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

TEST_CASE("a policy says which rules are required, what is excused until when, and what may grow") {
  const auto policy = gate::parse_policy(kPolicy, "p.json");
  REQUIRE(policy.has_value());
  CHECK(policy->required == std::vector{proofs::Rule::reduction, proofs::Rule::memory});
  REQUIRE(policy->exceptions.size() == 2);
  CHECK(policy->exceptions[0].program == "layers/attention");
  CHECK(policy->exceptions[0].rule == proofs::Rule::flow);
  CHECK(policy->exceptions[0].may == gate::Leave::undecided);
  CHECK(policy->exceptions[0].until == "2027-01-31");
  CHECK_FALSE(policy->exceptions[1].rule.has_value());
  CHECK(policy->exceptions[1].may == gate::Leave::lost);
  REQUIRE(policy->budgets.size() == 2);
  CHECK(policy->budgets[0].space == "sram");
  CHECK(policy->budgets[0].percent == 5);
  CHECK(policy->budgets[1].cost == gate::Cost::fifo_pages);
  CHECK(gate::parse_policy(R"({"format": "spatialcert-policy", "version": 1})", "p").has_value());
}

TEST_CASE("what is no policy is refused by place") {
  struct Case {
    const char* what;
    const char* by;
    const char* path;
    const char* expected;
    unsigned line;
  };
  const Case cases[] = {
      {"spatialcert-policy", "spatialcert-model", "$.format", "spatialcert-policy", 2},
      {"\"version\": 1", "\"version\": 2", "$.version", "version 1", 3},
      {"\"require\"", "\"requires\"", "$.requires", "\"require\"", 4},
      {"\"memory\"]", "\"memery\"]", "$.require[1]", "the name of a rule", 4},
      {"\"memory\"]", "\"reduction\"]", "$.require[1]", "every rule once", 4},
      {"\"memory\"]", "7]", "$.require[1]", "string", 4},
      {"\"layers/attention\"", "\"  \"", "$.exceptions[0].program", "not empty", 6},
      {"\"the reader of masks is being rewritten\"", "\"\"", "$.exceptions[0].reason", "not empty",
       7},
      {"\"2027-01-31\"", "\"2027-02-29\"", "$.exceptions[0].until", "YYYY-MM-DD", 7},
      {"\"2027-01-31\"", "\"2027-1-31\"", "$.exceptions[0].until", "YYYY-MM-DD", 7},
      {"\"2027-01-31\"", "\"never\"", "$.exceptions[0].until", "YYYY-MM-DD", 7},
      {"\"undecided\"", "\"certified\"", "$.exceptions[0].may", "\"undecided\", \"refuted\"", 6},
      {"\"rule\": \"flow\", ", "", "$.exceptions[0]", "rule", 6},
      {"\"undecided\"", "\"lost\"", "$.exceptions[0]", "no \"rule\"", 6},
      {", \"until\": \"2026-12-31\"", "", "$.exceptions[1]", "until", 8},
      {"\"reason\": \"removed\", ", "", "$.exceptions[1]", "reason", 8},
      {"\"old\"", "\"old\", \"program\": \"x\"", "$.exceptions[1].program", "", 8},
      {"\"memory\", \"space\"", "\"bytes\", \"space\"", "$.budgets[0].cost", "\"fifo_pages\"", 11},
      {"\"percent\": 5", "\"percent\": -5", "$.budgets[0].percent", "0", 11},
      {"\"percent\": 5", "\"percent\": 5.5", "$.budgets[0].percent", "integer", 11},
      {"\"cost\": \"memory\"", "\"cost\": \"ops\"", "$.budgets[0]", "\"space\" with the cost", 11},
      {"{\"cost\": \"fifo_pages\", \"percent\": 0}",
       "{\"cost\": \"memory\", \"space\": \"sram\", \"percent\": 9}", "$.budgets[1]", "one budget",
       12},
      {"\"budgets\": [", "\"budgets\": {", "$.budgets", "", 10},
  };
  for (const Case& one : cases) {
    CAPTURE(one.what);
    CAPTURE(one.by);
    const auto refused = gate::parse_policy(with(kPolicy, one.what, one.by), "p.json");
    REQUIRE_FALSE(refused.has_value());
    CAPTURE(refused.error().message());
    CHECK(refused.error().file == "p.json");
    CHECK(refused.error().path.rfind(one.path, 0) == 0);
    CHECK(refused.error().expected.find(one.expected) != std::string::npos);
    CHECK(refused.error().line >= one.line);
  }
}

TEST_CASE("two exceptions for one program and rule, broken text and other documents are refused") {
  const std::string twice =
      with(kPolicy, "{\"program\": \"old\", \"may\": \"lost\"",
           "{\"program\": \"layers/attention\", \"rule\": \"flow\", \"may\": \"refuted\"");
  const auto refused = gate::parse_policy(twice, "p.json");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().path == "$.exceptions[1]");
  CHECK(refused.error().expected.find("one exception") != std::string::npos);
  for (const std::string& text :
       {std::string(), std::string("[]"), kPolicy + "{}", kPolicy.substr(0, kPolicy.size() / 2),
        with(kPolicy, "],", "]"), std::string("no JSON"), std::string("{\"version\": 1}")}) {
    CAPTURE(text);
    CHECK_FALSE(gate::parse_policy(text, "p.json").has_value());
  }
  CHECK_FALSE(gate::read_policy(std::string(SPATIALCERT_SOURCE_DIR) + "/none.json").has_value());
}

TEST_CASE("days are days of the calendar") {
  for (const char* good : {"2026-12-01", "2028-02-29", "0001-01-01"}) CHECK(gate::is_date(good));
  for (const char* bad : {"2026-13-01", "2026-00-10", "2027-02-29", "2026-12-1", "2026/12/01",
                          "2026-12-01 ", "", "20261201", "2026-12-32", "+026-12-01"}) {
    CAPTURE(bad);
    CHECK_FALSE(gate::is_date(bad));
  }
}

TEST_CASE("docs/policy.schema.json names the members that are read") {
  std::ifstream in(std::string(SPATIALCERT_SOURCE_DIR) + "/docs/policy.schema.json");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  simdjson::dom::parser parser;
  simdjson::dom::element schema;
  REQUIRE(parser.parse(text).get(schema) == simdjson::SUCCESS);
  const auto check = [&](simdjson::dom::element object, const std::string& text_of_policy) {
    std::set<std::string> properties;
    simdjson::dom::object members;
    REQUIRE(object["properties"].get(members) == simdjson::SUCCESS);
    for (const auto& member : members) properties.emplace(member.key);
    bool closed = true;
    REQUIRE(object["additionalProperties"].get(closed) == simdjson::SUCCESS);
    CHECK_FALSE(closed);
    const auto unknown = gate::parse_policy(text_of_policy, "p.json");
    REQUIRE_FALSE(unknown.has_value());
    const std::string& expected = unknown.error().expected;
    for (const std::string& name : properties) {
      CAPTURE(name);
      CHECK(expected.find("\"" + name + "\"") != std::string::npos);
    }
    CHECK(std::count(expected.begin(), expected.end(), '"') ==
          static_cast<std::ptrdiff_t>(2 * properties.size()));
  };
  check(schema, with(kPolicy, "\"require\"", "\"?\""));
  check(schema["$defs"]["exception"], with(kPolicy, "\"reason\"", "\"?\""));
  check(schema["$defs"]["budget"], with(kPolicy, "\"space\"", "\"?\""));
}

}  // namespace
}  // namespace spatialcert::tests
