// Text inside HTML and inside data blocks of a page. Private to the HTML view.
//
// Whatever a user called things, it must come out as that text, and never as markup: names, paths,
// notes, digests and lists of ops all go through `escaped` (certify/views/text.hpp) or a data
// block.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spatialcert::certify::views {

/// At most `most` bytes and an ellipsis; never cuts a character in two.
[[nodiscard]] std::string clipped(std::string_view text, std::size_t most);

/// JSON as an inert data block, which no script engine runs and no string inside can end. `id` is
/// the page's own, and is not escaped.
[[nodiscard]] std::string data_block(std::string_view id, std::string_view json);

/// Standard base64 with padding (RFC 4648), as policies name the digests of what they allow.
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace spatialcert::certify::views
