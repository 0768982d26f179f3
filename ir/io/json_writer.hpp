// Writes JSON text: keys in the order they are given, two blanks of indentation, short lists on one
// line.
//
// It does not check that keys are unique or that what is opened is closed
// by the same kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spatialcert::ir::io {

class JsonWriter {
 public:
  /// `indentation`: levels that everything but the first line is moved to the right.
  explicit JsonWriter(std::size_t indentation = 0) : base_(indentation) {}

  /// An inline container, and everything inside it, stands on one line.
  JsonWriter& object(bool on_one_line = false) { return open('{', on_one_line); }
  JsonWriter& array(bool on_one_line = false) { return open('[', on_one_line); }
  JsonWriter& close();
  JsonWriter& key(std::string_view name);

  JsonWriter& text(std::string_view value);
  JsonWriter& integer(std::int64_t value);
  JsonWriter& natural(std::uint64_t value);
  JsonWriter& seconds(double value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  /// A value that is JSON already.
  JsonWriter& raw(std::string_view json);

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  struct Level {
    char closing = '}';
    bool on_one_line = false;
    bool empty = true;
  };
  JsonWriter& open(char opening, bool on_one_line);
  void begin_value();
  void next_item();
  void new_line();

  std::string out_;
  std::vector<Level> levels_;
  std::size_t base_;
  bool after_key_ = false;
};

/// Bytes of the UTF-8 character at the start of `text`, which is not empty, or 0 if there is none
/// (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
[[nodiscard]] std::size_t character_bytes(std::string_view text);

/// `value` in quotes. What is no UTF-8 becomes U+FFFD: paths may hold any bytes, JSON may not.
[[nodiscard]] std::string json_string(std::string_view value);

}  // namespace spatialcert::ir::io
