// The parts that a page is made of. Private to the HTML view.
//
// A part does not know where in the page it will stand. Where its number belongs, its texts have
// `kPlace`, a character that no escaped text contains.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "certify/report.hpp"

namespace spatialcert::certify::views {

inline constexpr std::string_view kPlace = "\x01";
/// Bytes of a name, of a line, of a text that a page shows.
inline constexpr std::size_t kNameBytes = 200;
inline constexpr std::size_t kLineBytes = 400;
inline constexpr std::size_t kTextBytes = 60'000;

/// What a page says of one program or file.
struct PagePart {
  std::string name;     ///< for the table of contents
  std::string verdict;  ///< likewise: `certified`, ..., `refused`, `fault`
  std::string summary;  ///< likewise: one line
  std::string body;     ///< markup
  std::string data;     ///< of the views: `body` works without, where a page becomes too large
};

/// `program` may be an outline (certify/views/view.hpp) if the report has no counterexample.
/// `most_steps`: of a schedule, the last ones.
[[nodiscard]] PagePart program_part(const ir::Program& program, const ProgramReport& report,
                                    const Provenance& provenance, std::size_t most_steps);
/// A file that was refused (`verdict` is `refused`), or a fault of our own (`fault`).
[[nodiscard]] PagePart message_part(const std::string& file, std::string_view verdict,
                                    const std::string& message);
/// The page, with parts in the order given.
[[nodiscard]] std::string page_of(const std::vector<PagePart>& parts);

/// Name, verdict and summary of a part.
[[nodiscard]] std::string heading(const PagePart& part);
/// A verdict as a word with a sign, so that colour is never all that tells it.
[[nodiscard]] std::string badge(std::string_view verdict);
/// A verdict as a class of the style.
[[nodiscard]] std::string css_class(std::string_view verdict);

}  // namespace spatialcert::certify::views
