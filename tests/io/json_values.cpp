#include "json_values.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cctype>
#include <cstring>

namespace spatialcert::ir::test {
namespace {

class Scan {
 public:
  explicit Scan(std::string_view json) : json_(json) {}

  void value(const std::string& path, const std::string& key) {
    space();
    const std::size_t number = values_.size();
    values_.push_back({at_, 0, path, key, {}});
    const std::size_t start = at_;
    switch (json_[at_]) {
      case '{':
        object(number, path);
        break;
      case '[':
        array(path, key);
        break;
      case '"':
        string();
        break;
      default:
        while (std::strchr(",]} \n\t", json_[at_]) == nullptr) ++at_;
    }
    values_[number].size = at_ - start;
  }

  std::vector<JsonValue> take() { return std::move(values_); }

 private:
  void space() {
    while (std::isspace(static_cast<unsigned char>(json_[at_])) != 0) ++at_;
  }

  std::string string() {
    const std::size_t start = ++at_;
    while (json_[at_] != '"') at_ += json_[at_] == '\\' ? 2 : 1;
    ++at_;
    return std::string(json_.substr(start, at_ - start - 1));
  }

  /// Goes on after a comma.
  bool more(char close) {
    space();
    REQUIRE((json_[at_] == ',' || json_[at_] == close));
    return json_[at_++] == ',';
  }

  bool empty(char close) {
    ++at_;
    space();
    if (json_[at_] != close) return false;
    ++at_;
    return true;
  }

  void object(std::size_t number, const std::string& path) {
    if (empty('}')) return;
    do {
      space();
      values_[number].keys.push_back(at_);
      const std::string key = string();
      space();
      ++at_;  // the colon
      value(path + "." + key, key);
    } while (more('}'));
  }

  void array(const std::string& path, const std::string& key) {
    if (empty(']')) return;
    std::size_t index = 0;
    do {
      value(fmt::format("{}[{}]", path, index++), key);
    } while (more(']'));
  }

  std::string_view json_;
  std::size_t at_ = 0;
  std::vector<JsonValue> values_;
};

}  // namespace

char JsonValue::kind_of(std::string_view text) {
  const char first = text[0];
  if (first == 'f') return 't';
  if (first == '-' || std::isdigit(static_cast<unsigned char>(first)) != 0) return '0';
  return first;
}

std::vector<JsonValue> values_of(std::string_view json) {
  Scan scan(json);
  scan.value("$", "");
  return scan.take();
}

std::string with(std::string_view json, const JsonValue& value, std::string_view by) {
  std::string text(json);
  return text.replace(value.at, value.size, by);
}

}  // namespace spatialcert::ir::test
