#include "ir/io/locate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

namespace spatialcert::ir::io {
namespace {

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kLongestToken = 60;
constexpr std::size_t kLongestPath = 1000;

struct Segment {
  std::string_view key;  // empty data pointer: an index
  std::size_t index = 0;
  friend bool operator==(const Segment&, const Segment&) = default;
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string render(const std::vector<Segment>& path) {
  std::string text = "$";
  for (const Segment& segment : path) {
    if (text.size() > kLongestPath) return text + "...";
    if (segment.key.data() == nullptr) {
      text += fmt::format("[{}]", segment.index);
    } else if (!segment.key.empty() &&
               std::all_of(segment.key.begin(), segment.key.end(), is_word)) {
      text += fmt::format(".{}", segment.key);
    } else {
      text += fmt::format("[\"{}\"]", segment.key);
    }
  }
  return text;
}

// Paths that validation makes consist of `.name` and `[index]` only.
std::vector<Segment> parse_path(std::string_view path) {
  std::vector<Segment> segments;
  std::size_t at = 1;
  while (at < path.size()) {
    const bool is_key = path[at] == '.';
    const std::size_t end = std::min(path.find_first_of(is_key ? ".[" : "]", at + 1), path.size());
    const std::string_view text = path.substr(at + 1, end - at - 1);
    Segment segment;
    if (is_key) {
      segment.key = text;
    } else {
      std::from_chars(text.data(), text.data() + text.size(), segment.index);
    }
    segments.push_back(segment);
    at = is_key ? end : end + 1;
  }
  return segments;
}

std::uint64_t line_at(std::string_view json, std::size_t offset) {
  const auto end = json.begin() + static_cast<std::ptrdiff_t>(std::min(offset, json.size()));
  return 1 + static_cast<std::uint64_t>(std::count(json.begin(), end, '\n'));
}

// Number of bytes of the UTF-8 sequence at `at`; 0 if it is not one.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  }
  const unsigned second = byte(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
  return length;
}

// Walks the text. Every step returns whether to go on; the walk stops at what was sought or at a
// fault.
class Walk {
 public:
  Walk(std::string_view json, std::size_t wanted_offset, std::vector<Segment> wanted_path)
      : json_(json), wanted_offset_(wanted_offset), wanted_path_(std::move(wanted_path)) {}

  void run() {
    skip_space();
    if (!value(0)) return;
    skip_space();
    if (at_ < json_.size()) fail("the end of the file");
  }

  bool found = false;
  bool faulty = false;
  SyntaxFault fault;
  std::string found_path;
  std::size_t found_offset = 0;
  std::size_t nearest_offset = 0;  // of the longest prefix of the wanted path

 private:
  [[nodiscard]] char peek() const { return at_ < json_.size() ? json_[at_] : '\0'; }
  void skip_space() {
    while (at_ < json_.size() && is_space(json_[at_])) ++at_;
  }

  bool fail(std::string expected) {
    faulty = true;
    fault.offset = at_;
    fault.place = {render(path_), line_at(json_, at_)};
    fault.expected = std::move(expected);
    fault.found = token_at(json_, at_);
    return false;
  }

  bool stop(std::size_t offset) {
    found = true;
    found_offset = offset;
    found_path = render(path_);
    return false;
  }

  [[nodiscard]] bool on_wanted_path() const {
    return wanted_offset_ == kNowhere && path_.size() <= wanted_path_.size() &&
           std::equal(path_.begin(), path_.end(), wanted_path_.begin());
  }

  bool value(std::size_t depth) {
    const std::size_t start = at_;
    const char first = peek();
    const bool nested = first == '{' || first == '[';
    if (start == wanted_offset_ && nested) return stop(start);
    if (!wanted_path_.empty() && on_wanted_path()) {
      nearest_offset = start;
      if (path_.size() == wanted_path_.size()) return stop(start);
    }
    if (nested && depth >= kMaximumJsonDepth) {
      return fail(fmt::format("at most {} nested arrays and objects", kMaximumJsonDepth));
    }
    if (first == '{') return object(depth + 1);
    if (first == '[') return array(depth + 1);
    if (!scalar()) return false;
    return start != wanted_offset_ || stop(start);
  }

  bool scalar() {
    const char first = peek();
    if (first == '"') return string();
    if (first == '-' || is_digit(first)) return number();
    for (const std::string_view word : {"true", "false", "null"}) {
      if (json_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return ends_here() || fail("`,` or the end of the value");
      }
    }
    return fail("a JSON value");
  }

  [[nodiscard]] bool ends_here() const {
    const char c = peek();
    return at_ == json_.size() || is_space(c) || c == ',' || c == ']' || c == '}' || c == ':';
  }

  bool digits() {
    const std::size_t start = at_;
    while (is_digit(peek())) ++at_;
    return at_ > start;
  }

  bool number() {
    const std::size_t start = at_;
    if (peek() == '-') ++at_;
    bool good = true;
    if (peek() == '0') {
      ++at_;
    } else {
      good = digits();
    }
    if (good && peek() == '.') {
      ++at_;
      good = digits();
    }
    if (good && (peek() == 'e' || peek() == 'E')) {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      good = digits();
    }
    if (good && ends_here()) return true;
    at_ = start;
    return fail("a JSON number");
  }

  bool string() {
    for (++at_; at_ < json_.size();) {
      const char c = json_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return fail("an escaped control character");
      if (c == '\\') {
        if (!escape()) return fail("a JSON escape sequence");
        continue;
      }
      const std::size_t length = utf8_length(json_, at_);
      if (length == 0) return fail("valid UTF-8");
      at_ += length;
    }
    return fail("the closing quote of a string");
  }

  bool escape() {
    const char kind = at_ + 1 < json_.size() ? json_[at_ + 1] : '\0';
    if (kind == 'u') {
      const std::string_view code = json_.substr(at_ + 2, 4);
      const auto is_hex = [](char c) {
        return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      };
      if (code.size() < 4 || !std::all_of(code.begin(), code.end(), is_hex)) return false;
      at_ += 6;
      return true;
    }
    if (kind == '\0' || std::string_view("\"\\/bfnrt").find(kind) == std::string_view::npos) {
      return false;
    }
    at_ += 2;
    return true;
  }

  bool array(std::size_t depth) {
    ++at_;
    skip_space();
    if (peek() == ']') return close();
    for (std::size_t index = 0;; ++index) {
      path_.push_back({{}, index});
      if (!value(depth)) return false;
      path_.pop_back();
      skip_space();
      if (peek() == ']') return close();
      if (peek() != ',') return fail("`,` or `]`");
      ++at_;
      skip_space();
    }
  }

  bool object(std::size_t depth) {
    ++at_;
    skip_space();
    if (peek() == '}') return close();
    for (;;) {
      const std::size_t start = at_;
      if (peek() != '"') return fail("a key in quotes");
      if (!string()) return false;
      path_.push_back({json_.substr(start + 1, at_ - start - 2), 0});
      if (start == wanted_offset_) return stop(start);
      skip_space();
      if (peek() != ':') return fail("`:`");
      ++at_;
      skip_space();
      if (!value(depth)) return false;
      path_.pop_back();
      skip_space();
      if (peek() == '}') return close();
      if (peek() != ',') return fail("`,` or `}`");
      ++at_;
      skip_space();
    }
  }

  bool close() {
    ++at_;
    return true;
  }

  std::string_view json_;
  std::size_t wanted_offset_;
  std::vector<Segment> wanted_path_;
  std::size_t at_ = 0;
  std::vector<Segment> path_;
};

}  // namespace

std::variant<Place, SyntaxFault> place_at(std::string_view json, std::size_t offset) {
  Walk walk(json, offset, {});
  walk.run();
  if (walk.faulty) return walk.fault;
  return Place{walk.found ? walk.found_path : "", line_at(json, offset)};
}

std::variant<Place, SyntaxFault> first_syntax_fault(std::string_view json) {
  Walk walk(json, kNowhere, {});
  walk.run();
  if (walk.faulty) return walk.fault;
  return Place{};
}

std::uint64_t line_of(std::string_view json, std::string_view path) {
  Walk walk(json, kNowhere, parse_path(path));
  walk.run();
  return line_at(json, walk.found ? walk.found_offset : walk.nearest_offset);
}

std::string token_at(std::string_view json, std::size_t offset) {
  if (offset >= json.size()) return "the end of the file";
  const char first = json[offset];
  if (first == '{') return "an object";
  if (first == '[') return "an array";
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0x20 || byte == 0x7f || utf8_length(json, offset) == 0)
    return fmt::format("byte 0x{:02x}", byte);
  std::size_t end = offset + 1;
  if (first == '"') {
    while (end < json.size() && json[end] != '"' && json[end] != '\n')
      end += json[end] == '\\' ? 2 : 1;
    end = std::min(end + 1, json.size());
  } else if (is_word(first) || first == '-') {
    while (end < json.size() &&
           (is_word(json[end]) || json[end] == '.' || json[end] == '-' || json[end] == '+'))
      ++end;
  } else {
    end = offset + utf8_length(json, offset);
  }
  std::string token;
  for (std::size_t at = offset; at < end;) {
    const std::size_t length = utf8_length(json, at);
    if (length == 0 || token.size() + length > kLongestToken) return token + "...";
    token += json.substr(at, length);
    at += length;
  }
  return token;
}

}  // namespace spatialcert::ir::io
