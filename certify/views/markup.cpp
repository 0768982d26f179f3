#include "certify/views/markup.hpp"

#include <cstdint>

namespace spatialcert::certify::views {

std::string clipped(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return std::string(text.substr(0, most)) + "\xE2\x80\xA6";
}

std::string data_block(std::string_view id, std::string_view json) {
  std::string out = "<script type=\"application/json\" id=\"" + std::string(id) + "\">";
  // Outside of strings JSON has none of these three, and inside it may spell them so.
  for (const char c : json) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out + "</script>\n";
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const bool there = i + k < bytes.size();
      group = (group << 8U) | (there ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      const bool padding = i + k > bytes.size();
      out += padding ? '=' : kDigits[(group >> (18U - 6U * k)) & 0x3FU];
    }
  }
  return out;
}

}  // namespace spatialcert::certify::views
