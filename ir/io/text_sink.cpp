#include <fmt/format.h>

#include <charconv>

#include "ir/io/program_writer.hpp"

namespace spatialcert::ir::io {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16U;

template <typename Integer>
void append_integer(std::string& text, Integer value) {
  char digits[24];
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  text.append(digits, result.ptr);
}

}  // namespace

TextSink& TextSink::number(std::int64_t value) {
  append_integer(buffer_, value);
  return *this;
}

TextSink& TextSink::number(std::uint64_t value) {
  append_integer(buffer_, value);
  return *this;
}

TextSink& TextSink::real(double value) {
  buffer_ += fmt::format("{}", value);  // the shortest text that reads back as the same number
  return *this;
}

TextSink& TextSink::quoted(std::string_view text) {
  buffer_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      buffer_ += '\\';
      buffer_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      buffer_ += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      buffer_ += c;
    }
  }
  buffer_ += '"';
  return *this;
}

void TextSink::flush(bool all) {
  if (!all && buffer_.size() < kPiece) return;
  consumer_(buffer_);
  buffer_.clear();
}

}  // namespace spatialcert::ir::io
