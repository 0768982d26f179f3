#include "ir/io/json_reader.hpp"

#include <fmt/format.h>

#include <vector>

#include "ir/io/locate.hpp"
#include "ir/io/names.hpp"

namespace spatialcert::ir::io {
namespace {

std::string range_text(std::int64_t low, std::int64_t high) {
  if (low == std::numeric_limits<std::int64_t>::min()) return "an integer of 64 bits";
  if (high == kMaximumInteger) return fmt::format("an integer from {} to 2^63 - 1", low);
  return fmt::format("an integer from {} to {}", low, high);
}

}  // namespace

void JsonReader::refuse(const char* at, std::string expected) const {
  throw RefusedAt{at, std::move(expected),
                  token_at(text_, static_cast<std::size_t>(at - text_.data()))};
}

std::int64_t JsonReader::integer(Value& value, std::int64_t low, std::int64_t high) const {
  std::int64_t number = 0;
  if (value.get_int64().get(number) != simdjson::SUCCESS || number < low || number > high) {
    refuse(start(value), range_text(low, high));
  }
  return number;
}

std::uint64_t JsonReader::natural(Value& value) const {
  std::uint64_t number = 0;
  if (value.get_uint64().get(number) != simdjson::SUCCESS) {
    refuse(start(value), "an integer from 0 to 2^64 - 1");
  }
  return number;
}

double JsonReader::number(Value& value) const {
  double number = 0;
  if (value.get_double().get(number) != simdjson::SUCCESS) refuse(start(value), "a number");
  return number;
}

bool JsonReader::boolean(Value& value) const {
  bool result = false;
  if (value.get_bool().get(result) != simdjson::SUCCESS) refuse(start(value), "true or false");
  return result;
}

std::string_view JsonReader::string(Value& value) const {
  const char* const at = start(value);
  if (*at != '"') refuse(at, "a string");
  const char* end = at + 1;
  while (*end != '"' && *end != '\\') ++end;  // simdjson has seen to it that strings are closed
  if (*end == '"') {
    simdjson::ondemand::raw_json_string raw;
    check(value.get_raw_json_string().get(raw));
    return {at + 1, static_cast<std::size_t>(end - at - 1)};
  }
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) refuse(at, "a string");
  return text;
}

Object JsonReader::object(Value& value, const char* what) const {
  Object object;
  const simdjson::error_code error = value.get_object().get(object);
  if (error == simdjson::INCORRECT_TYPE) refuse(start(value), fmt::format("{} (an object)", what));
  check(error);
  return object;
}

Array JsonReader::array(Value& value, const char* what) const {
  Array array;
  const simdjson::error_code error = value.get_array().get(array);
  if (error == simdjson::INCORRECT_TYPE) refuse(start(value), fmt::format("{} (an array)", what));
  check(error);
  return array;
}

std::string_view JsonReader::key(Field& field) {
  const char* const begin = field.key().raw();
  const char* end = begin;
  while (*end != '"' && *end != '\\') ++end;
  if (*end == '"') return {begin, static_cast<std::size_t>(end - begin)};
  std::string_view unescaped;
  check(field.unescaped_key().get(unescaped));
  return unescaped;
}

void JsonReader::refuse_duplicate(const char* key_at, std::string_view key) {
  refuse(key_at, fmt::format("the key \"{}\" once", key), "it again");
}

void JsonReader::refuse_missing(const char* at, std::string_view key) {
  refuse(at, fmt::format("the member \"{}\"", key), "none");
}

void JsonReader::refuse_key(const char* key_at, std::string_view key, const Key* keys,
                            std::size_t count) const {
  std::vector<std::string_view> names;
  std::string expected = "one of the keys";
  for (std::size_t i = 0; i < count; ++i) {
    names.push_back(keys[i].name);
    expected += fmt::format("{}\"{}\"", i == 0 ? " " : ", ", keys[i].name);
  }
  if (const auto near = nearest(key, names))
    expected += fmt::format(" (did you mean \"{}\"?)", *near);
  refuse(key_at, std::move(expected));
}

}  // namespace spatialcert::ir::io
