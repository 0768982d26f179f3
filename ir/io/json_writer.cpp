#include "ir/io/json_writer.hpp"

#include <fmt/format.h>

namespace spatialcert::ir::io {
namespace {

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(c);
  if (code < 0x20 || code == 0x7F) {
    out += fmt::format("\\u{:04x}", code);
  } else {
    out += c;
  }
}

}  // namespace

std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i, unsigned char low = 0x80, unsigned char high = 0xBF) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool second = follows(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF);
    return second && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool second = follows(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

std::string json_string(std::string_view value) {
  std::string out = "\"";
  while (!value.empty()) {
    const std::size_t length = character_bytes(value);
    if (length == 1) {
      append_escaped(out, value.front());
    } else if (length == 0) {
      out += "\\ufffd";
    } else {
      out += value.substr(0, length);
    }
    value.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
  return out;
}

JsonWriter& JsonWriter::open(char opening, bool on_one_line) {
  begin_value();
  const bool outer = !levels_.empty() && levels_.back().on_one_line;
  levels_.push_back({opening == '{' ? '}' : ']', on_one_line || outer, true});
  out_ += opening;
  return *this;
}

JsonWriter& JsonWriter::close() {
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.empty && !level.on_one_line) new_line();
  out_ += level.closing;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  next_item();
  out_ += json_string(name);
  out_ += ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) { return raw(json_string(value)); }
JsonWriter& JsonWriter::integer(std::int64_t value) { return raw(fmt::format("{}", value)); }
JsonWriter& JsonWriter::natural(std::uint64_t value) { return raw(fmt::format("{}", value)); }
JsonWriter& JsonWriter::seconds(double value) { return raw(fmt::format("{:.6f}", value)); }
JsonWriter& JsonWriter::boolean(bool value) { return raw(value ? "true" : "false"); }
JsonWriter& JsonWriter::null() { return raw("null"); }

JsonWriter& JsonWriter::raw(std::string_view json) {
  begin_value();
  out_ += json;
  return *this;
}

void JsonWriter::begin_value() {
  if (after_key_) {
    after_key_ = false;
  } else if (!levels_.empty()) {
    next_item();
  }
}

void JsonWriter::next_item() {
  Level& level = levels_.back();
  if (!level.empty) out_ += level.on_one_line ? ", " : ",";
  if (!level.on_one_line) new_line();
  level.empty = false;
}

void JsonWriter::new_line() {
  out_ += '\n';
  out_.append(2 * (base_ + levels_.size()), ' ');
}

}  // namespace spatialcert::ir::io
