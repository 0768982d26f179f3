// The documentation's example and the schema agree with the reader.
#include <doctest/doctest.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "ir/bytes_file.hpp"
#include "rich_program.hpp"

namespace spatialcert::ir {
namespace {

std::string document(const char* name) {
  auto result = read_bytes(std::string(SPATIALCERT_SOURCE_DIR "/docs/") + name);
  if (!result) FAIL(result.error().message());
  return std::move(result).value();
}

TEST_CASE("the example that opens docs/format.md is a program") {
  const std::string text = document("format.md");
  constexpr std::string_view kFence = "```json\n";
  const std::size_t begin = text.find(kFence) + kFence.size();
  const std::size_t end = text.find("```", begin);
  REQUIRE(end != std::string::npos);
  CHECK(begin < 500);
  const auto program = parse_program(text.substr(begin, end - begin), "docs/format.md");
  if (!program) FAIL(program.error().message());
  CHECK(program->programs.size() == 2);
  CHECK(op_count(*program) == 8);
  CHECK(program->stages[1].scale == 2.0);
  const auto again = parse_program(serialise(*program), "again");
  REQUIRE(again.has_value());
  CHECK(serialise(*again) == serialise(*program));
}

using Keys = std::set<std::string>;

// The members that the schema allows in every kind of object, and which of them it requires.
struct SchemaObject {
  Keys properties;
  Keys required;
};

SchemaObject object_of(simdjson::dom::element definition) {
  SchemaObject object;
  simdjson::dom::object properties;
  if (definition["properties"].get(properties) == simdjson::SUCCESS) {
    for (const auto& property : properties) object.properties.insert(std::string(property.key));
  }
  simdjson::dom::array required;
  if (definition["required"].get(required) == simdjson::SUCCESS) {
    for (const auto& key : required) object.required.insert(std::string(std::string_view(key)));
  }
  return object;
}

// The keys that the reader names when it meets one that it does not know, from the refusal's text.
Keys accepted_keys(std::string_view from, std::string_view to) {
  const auto result = parse_program(test::rich_with(from, to), "probe");
  REQUIRE_FALSE(result.has_value());
  const std::string& expected = result.error().expected;
  REQUIRE_MESSAGE(expected.find("one of the keys") != std::string::npos, result.error().message());
  Keys keys;
  const std::size_t end = std::min(expected.find(" (did you"), expected.size());
  for (std::size_t at = expected.find("keys \"") + 5; at < end;) {
    const std::size_t close = expected.find('"', at + 1);
    keys.insert(expected.substr(at + 1, close - at - 1));
    at = close + 3;
  }
  return keys;
}

TEST_CASE("the schema names the members that the reader accepts") {
  simdjson::dom::parser parser;
  simdjson::dom::element schema;
  const std::string text = document("program.schema.json");
  REQUIRE(parser.parse(text).get(schema) == simdjson::SUCCESS);
  const auto definition = [&](const char* name) {
    simdjson::dom::element element;
    REQUIRE_MESSAGE(schema["$defs"][name].get(element) == simdjson::SUCCESS, name);
    return element;
  };
  CHECK(object_of(schema).properties ==
        accepted_keys(R"("execution":)", R"("zzzz":1,"execution":)"));
  const auto agrees = [&](const char* name, std::string_view from, std::string_view to) {
    CAPTURE(name);
    CHECK(object_of(definition(name)).properties == accepted_keys(from, to));
  };
  agrees("target", R"({"name":"two chips")", R"({"zzzz":1,"name":"two chips")");
  agrees("space", R"({"name":"dram")", R"({"zzzz":1,"name":"dram")");
  agrees("handoff", R"({"name":"noc"})", R"({"zzzz":1,"name":"noc"})");
  agrees("semaphores", R"({"per_site":3)", R"({"zzzz":1,"per_site":3)");
  agrees("tensor", R"({"name":"w")", R"({"zzzz":1,"name":"w")");
  agrees("buffer", R"({"name":"corner")", R"({"zzzz":1,"name":"corner")");
  agrees("view", R"({"of":"upper")", R"({"zzzz":1,"of":"upper")");
  agrees("tile", R"({"rows":8,"cols":64)", R"({"zzzz":1,"rows":8,"cols":64)");
  agrees("resident", R"({"resident":[)", R"({"zzzz":1,"resident":[)");
  agrees("semaphore", R"({"name":"near")", R"({"zzzz":1,"name":"near")");
  agrees("stage", R"({"name":"halve")", R"({"zzzz":1,"name":"halve")");
  agrees("edge", R"({"producer":"halve")", R"({"zzzz":1,"producer":"halve")");
  agrees("section", R"({"name":"second")", R"({"zzzz":1,"name":"second")");
  agrees("approximate", R"({"approx":)", R"({"zzzz":1,"approx":)");
  agrees("boundary", R"({"after":"second")", R"({"zzzz":1,"after":"second")");
  agrees("span", R"({"site":[0,0,0],"engine":"compute","range":[0,1]})", R"({"zzzz":1})");
  agrees("postcondition", R"({"region":{"buffer")", R"({"zzzz":1,"region":{"buffer")");
  agrees("sliced_tensor", R"({"full":"heads")", R"({"zzzz":1,"full":"heads")");
  agrees("slice", R"({"tensor":"heads.1")", R"({"zzzz":1,"tensor":"heads.1")");
  agrees("engine_program", R"({"site":[1,0,0],"engine":"load","ops":[)",
         R"({"zzzz":1,"site":[1,0,0],"engine":"load","ops":[)");
}

TEST_CASE("the schema names the ops and their members") {
  simdjson::dom::parser parser;
  simdjson::dom::element schema;
  const std::string text = document("program.schema.json");
  REQUIRE(parser.parse(text).get(schema) == simdjson::SUCCESS);
  Keys ops = accepted_keys(R"({"push":"q"})", R"({"zzzz":1})");
  CHECK(ops.size() == 9);
  const std::map<std::string, std::string> values = {
      {"wait", "\"go\""},   {"await", "\"go\""},   {"post", "\"go\""},
      {"reserve", "\"q\""}, {"push", "\"q\""},     {"front", "\"q\""},
      {"pop", "\"q\""},     {"run", "\"load_x\""}, {"repeat", "4"}};
  for (const std::string& op : ops) {
    CAPTURE(op);
    Keys members =
        accepted_keys(R"({"push":"q"})", "{\"" + op + "\":" + values.at(op) + ",\"zzzz\":1}");
    members.insert(op);
    simdjson::dom::element element;
    REQUIRE(schema["$defs"][op].get(element) == simdjson::SUCCESS);
    CHECK(object_of(element).properties == members);
  }
  // Regions: every kind has its object and its parts.
  Keys parts = accepted_keys(R"({"tensor":"kv","rows":[0,1]})", R"({"zzzz":1})");
  Keys described;
  for (const char* const kind : {"tensor_region", "buffer_region", "fifo_region"}) {
    simdjson::dom::element element;
    REQUIRE(schema["$defs"][kind].get(element) == simdjson::SUCCESS);
    described.merge(object_of(element).properties);
  }
  CHECK(described == parts);
}

}  // namespace
}  // namespace spatialcert::ir
