#include "certify/views/page_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "certify/views/assets.hpp"
#include "certify/views/markup.hpp"
#include "certify/views/text.hpp"
#include "ir/digest.hpp"

namespace spatialcert::certify::views {
namespace {

/// Data of views that a page has in all. The parts that come after have their text.
constexpr std::size_t kMostData = 6'000'000;
/// Markup that a page has in all. The parts that come after have their verdict.
constexpr std::size_t kMostBodies = 8'000'000;

/// Never by colour alone: every verdict has a sign and its word.
const char* sign(std::string_view verdict) {
  if (verdict == "certified") return "\xE2\x9C\x93";
  if (verdict == "refuted") return "\xE2\x9C\x95";
  if (verdict == "undecided") return "?";
  if (verdict == "not applicable") return "\xE2\x80\x93";
  if (verdict == "not evaluated") return "\xE2\x97\x8B";
  return "!";
}

/// With the number of the part where it belongs.
std::string placed(const std::string& text, std::size_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string out;
  out.reserve(text.size() + text.size() / 64);
  for (const char c : text) {
    if (c == kPlace.front()) {
      out += digits;
    } else {
      out += c;
    }
  }
  return out;
}

std::string contents(const std::vector<PagePart>& parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    out += fmt::format(
        "<li data-verdict=\"{}\"><a href=\"#p{}\">{}</a> {} <span class=\"why\">{}</span></li>\n",
        css_class(parts[i].verdict), i + 1, escaped(parts[i].name), badge(parts[i].verdict),
        escaped(parts[i].summary));
  }
  return out;
}

std::string totals(const std::vector<PagePart>& parts) {
  constexpr std::array<const char*, 5> kVerdicts = {"certified", "refuted", "undecided", "refused",
                                                    "fault"};
  std::string out;
  for (const char* const verdict : kVerdicts) {
    const auto count = std::count_if(parts.begin(), parts.end(),
                                     [&](const PagePart& part) { return part.verdict == verdict; });
    if (count == 0) continue;
    out += fmt::format("<li>{} <span class=\"count\">{}</span></li>\n", badge(verdict), count);
  }
  return out;
}

std::string left_out(std::string_view what) {
  return fmt::format(
      "<p class=\"note\">The {} of this program were left out, because the page would become too "
      "large. Ask for it alone.</p>\n",
      what);
}

std::string source_hash(std::string_view text) {
  const ir::Digest digest = ir::sha256(text);
  const std::string bytes(digest.begin(), digest.end());
  return "'sha256-" + base64(bytes) + "'";
}

/// The template with `@NAME@` replaced, once over: what is put in is not looked at again.
std::string filled(std::string_view text, const std::map<std::string_view, std::string>& values) {
  std::string out;
  while (!text.empty()) {
    const std::size_t at = text.find('@');
    const std::size_t end = at == text.npos ? at : text.find('@', at + 1);
    if (end == text.npos) break;
    const auto value = values.find(text.substr(at + 1, end - at - 1));
    out += text.substr(0, value == values.end() ? end : at);
    if (value != values.end()) out += value->second;
    text.remove_prefix(value == values.end() ? end : end + 1);
  }
  return out += text;
}

}  // namespace

std::string css_class(std::string_view verdict) {
  std::string out(verdict);
  std::replace(out.begin(), out.end(), ' ', '-');
  return out;
}

std::string badge(std::string_view verdict) {
  return fmt::format(
      "<span class=\"badge {}\"><span class=\"sign\" aria-hidden=\"true\">{}</span>{}</span>",
      css_class(verdict), sign(verdict), verdict);
}

std::string heading(const PagePart& part) {
  return fmt::format("<header><h2>{}</h2>\n<p class=\"verdict\">{} {}</p></header>\n",
                     escaped(part.name), badge(part.verdict), escaped(part.summary));
}

PagePart message_part(const std::string& file, std::string_view verdict,
                      const std::string& message) {
  PagePart part;
  part.name = clipped(file, kNameBytes);
  part.verdict = verdict;
  // The message stands below, in full.
  part.body = heading(part) +
              fmt::format("<pre tabindex=\"0\">{}</pre>\n", escaped(clipped(message, kTextBytes)));
  part.summary = clipped(message, kLineBytes);
  return part;
}

std::string page_of(const std::vector<PagePart>& parts) {
  std::string programs;
  std::string data;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const PagePart& part = parts[i];
    const bool text_fits = programs.size() + part.body.size() <= kMostBodies;
    const bool data_fits = text_fits && data.size() + part.data.size() <= kMostData;
    programs += fmt::format("<article class=\"program\" id=\"p{}\" data-verdict=\"{}\">\n", i + 1,
                            css_class(part.verdict));
    programs += text_fits ? placed(part.body, i + 1) : heading(part);
    if (data_fits) data += placed(part.data, i + 1);
    if (!data_fits) programs += left_out(text_fits ? "views" : "table, texts and views");
    programs += "</article>\n";
  }
  const std::string title = parts.size() == 1
                                ? fmt::format("{}: {}", parts[0].name, parts[0].verdict)
                                : fmt::format("{} programs", parts.size());
  return filled(kPageTemplate, {{"TITLE", escaped(title)},
                                {"SCRIPT_HASH", source_hash(kPageScript)},
                                {"STYLE_HASH", source_hash(kPageStyle)},
                                {"STYLE", std::string(kPageStyle)},
                                {"SCRIPT", std::string(kPageScript)},
                                {"VERSION", escaped(tool_version())},
                                {"SOLVER", escaped(solver_version())},
                                {"TOTALS", totals(parts)},
                                {"MANY", parts.size() == 1 ? "one" : "many"},
                                {"CONTENTS", contents(parts)},
                                {"PROGRAMS", programs},
                                {"DATA", data}});
}

}  // namespace spatialcert::certify::views
