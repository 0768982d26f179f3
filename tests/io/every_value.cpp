// Every value of the rich program, spoiled in turn: refused where it stands, or read for what it
// says.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "json_values.hpp"
#include "rich_program.hpp"

namespace spatialcert::ir::test {
namespace {

/// What is accepted means something: it survives being written and read.
void check_read_back(const Program& program) {
  const std::string once = serialise(program);
  const auto again = parse_program(once, "again");
  REQUIRE(again.has_value());
  CHECK(serialise(*again) == once);
}

/// Refused at `path`, inside it, or (a missing member) at what holds it.
void check_refused_at(const std::string& text, const std::string& path) {
  const auto result = parse_program(text, "rich.json");
  REQUIRE_FALSE(result.has_value());
  const Refusal& refusal = result.error();
  INFO(refusal.message());
  CHECK(refusal.line > 0);
  CHECK_FALSE(refusal.expected.empty());
  CHECK_FALSE(refusal.found.empty());
  CHECK(refusal.path.substr(0, path.size()) == path);
}

bool is_one_of(const std::string& key, std::initializer_list<const char*> keys) {
  return std::any_of(keys.begin(), keys.end(), [&](const char* one) { return key == one; });
}

TEST_CASE("refused at its place: a value of another type, for every value") {
  for (const JsonValue& value : values_of(kRichProgram)) {
    const char kind = JsonValue::kind_of(kRichProgram.substr(value.at));
    for (const std::string_view other : {"null", "true", "7", "\"text\"", "[7]", "{\"k\":7}"}) {
      if (JsonValue::kind_of(other) == kind) continue;
      // Bounds are numbers or objects.
      if (kind == '{' && other == "7" && is_one_of(value.key, {"rows", "cols", "bytes"})) continue;
      CAPTURE(value.path);
      CAPTURE(other);
      check_refused_at(with(kRichProgram, value, other), value.path);
    }
  }
}

TEST_CASE("refused or empty: a list or an object without anything in it, for every one") {
  for (const JsonValue& value : values_of(kRichProgram)) {
    const char kind = kRichProgram[value.at];
    if (kind != '[' && kind != '{') continue;
    CAPTURE(value.path);
    const auto result =
        parse_program(with(kRichProgram, value, kind == '[' ? "[]" : "{}"), "rich.json");
    if (result) check_read_back(*result);
    if (!result) CHECK(result.error().line > 0);
    if (kind == '{') CHECK_FALSE(result.has_value());
  }
}

TEST_CASE("refused at its place: a number that is no integer of the format, for every number") {
  for (const JsonValue& value : values_of(kRichProgram)) {
    if (JsonValue::kind_of(kRichProgram.substr(value.at)) != '0') continue;
    for (const std::string_view number :
         {"1.5", "1.0", "1e0", "-0.5", "1e400", "18446744073709551616", "-9223372036854775809"}) {
      const bool any_number = value.key == "scale" && number != "1e400";
      if (any_number) continue;
      CAPTURE(value.path);
      CAPTURE(number);
      check_refused_at(with(kRichProgram, value, number), value.path);
    }
  }
}

TEST_CASE("refused or meant: an integer at the edges of its type, for every number") {
  for (const JsonValue& value : values_of(kRichProgram)) {
    if (JsonValue::kind_of(kRichProgram.substr(value.at)) != '0') continue;
    for (const std::string_view number :
         {"-1", "0", "4294967294", "4294967295", "4294967296", "4611686018427387904",
          "9223372036854775807", "9223372036854775808", "18446744073709551615",
          "-9223372036854775808"}) {
      CAPTURE(value.path);
      CAPTURE(number);
      const auto result = parse_program(with(kRichProgram, value, number), "rich.json");
      if (result) check_read_back(*result);
      // Only bounds of regions, values and what multiplies may be negative.
      const bool may_be_negative =
          is_one_of(value.key, {"const", "i0", "i1", "rows", "cols", "bytes", "scale", "values"});
      if (number[0] == '-' && !may_be_negative) CHECK_FALSE(result.has_value());
      if (!result) CHECK(result.error().line > 0);
    }
  }
}

TEST_CASE("refused at its place: a name that nothing has, for every name that refers") {
  std::size_t references = 0;
  for (const JsonValue& value : values_of(kRichProgram)) {
    if (!is_one_of(value.key, {"of",       "space", "handoff", "section",   "producer", "buffer",
                               "consumer", "after", "fifo",    "semaphore", "resident", "carried",
                               "engine",   "wait",  "await",   "post",      "reserve",  "push",
                               "front",    "pop",   "run",     "tensor"}) ||
        kRichProgram[value.at] != '"') {
      continue;
    }
    ++references;
    CAPTURE(value.path);
    check_refused_at(with(kRichProgram, value, "\"nobody's name\""), value.path);
    check_refused_at(with(kRichProgram, value, "\"\""), value.path);
  }
  CHECK(references > 80);
}

TEST_CASE("refused at its place: a member that is there twice, for every member") {
  for (const JsonValue& object : values_of(kRichProgram)) {
    for (const std::size_t at : object.keys) {
      const std::size_t quote = kRichProgram.find('"', at + 1);
      const std::string key(kRichProgram.substr(at, quote - at + 1));
      std::string text(kRichProgram);
      text.insert(object.at + object.size - 1, "," + key + ":7");
      CAPTURE(object.path);
      CAPTURE(key);
      const auto result = parse_program(text, "rich.json");
      REQUIRE_FALSE(result.has_value());
      INFO(result.error().message());
      CHECK(result.error().found == "it again");
      CHECK(result.error().path == object.path + "." + key.substr(1, key.size() - 2));
    }
  }
}

TEST_CASE("refused at its place: a name that another one of its kind has, for every kind") {
  const std::vector<JsonValue> values = values_of(kRichProgram);
  const auto at = [&](const std::string& path) {
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&](const JsonValue& one) { return one.path == path; });
    REQUIRE(value != values.end());
    return *value;
  };
  for (const std::string list : {"$.tensors", "$.buffers", "$.semaphores", "$.stages", "$.sections",
                                 "$.target.spaces", "$.target.handoffs"}) {
    CAPTURE(list);
    const JsonValue all = at(list);
    const JsonValue first = at(list + "[0]");
    std::string text(kRichProgram);
    text.insert(all.at + all.size - 1,
                "," + std::string(kRichProgram.substr(first.at, first.size)));
    const auto result = parse_program(text, "rich.json");
    REQUIRE_FALSE(result.has_value());
    const auto count = std::count_if(values.begin(), values.end(), [&](const JsonValue& one) {
      return one.path.rfind(list + "[", 0) == 0 && one.path.find(']') + 1 == one.path.size();
    });
    INFO(result.error().message());
    CHECK(result.error().path == fmt::format("{}[{}].name", list, count));
  }
}

}  // namespace
}  // namespace spatialcert::ir::test
