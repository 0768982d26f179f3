// Finds places in JSON text: only used once something is refused.
//
// The reader keeps no path and counts no lines while it reads; that would cost every op. When it
// refuses, it knows a byte offset (reader) or a path (validation), and this scanner walks the text
// once more to find the other. It is a strict JSON scanner of its own, so it also explains syntax
// errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace spatialcert::ir::io {

/// Arrays and objects may be nested this deep; 64 nested loops need 137.
inline constexpr std::size_t kMaximumJsonDepth = 160;

struct Place {
  std::string path;
  std::uint64_t line = 0;
};

struct SyntaxFault {
  std::size_t offset = 0;
  Place place;
  std::string expected;
  std::string found;
};

/// The path and line of the value or key that begins at byte `offset`, or the first syntax error if
/// there is one before or in it.
[[nodiscard]] std::variant<Place, SyntaxFault> place_at(std::string_view json, std::size_t offset);

/// The first syntax error of the text, or a place whose path is empty if there is none.
[[nodiscard]] std::variant<Place, SyntaxFault> first_syntax_fault(std::string_view json);

/// Line of the value at `path`; of its nearest enclosing value if the text leaves it out.
[[nodiscard]] std::uint64_t line_of(std::string_view json, std::string_view path);

/// What stands at `offset`, for a message: a token, cut short, or "an object", "an array".
[[nodiscard]] std::string token_at(std::string_view json, std::size_t offset);

}  // namespace spatialcert::ir::io
