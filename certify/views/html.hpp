// The report as one HTML file that needs nothing else: it opens by double click, asks no network
// (its policy forbids that) and works without its script as far as text goes.
//
// Per program: verdict, table of rules, sections and phases, and per counterexample the text of the
// report and its views: engine programs side by side with the ops that matter, hand-offs between
// them, the replayed schedules step by step, maps of memory, data and slices. States come from the
// token game; the script of the page only looks them up. Pages are bounded in size, whatever the
// programs: what was left out is said. Deterministic, times apart.
#pragma once

#include <string>
#include <vector>

#include "certify/report.hpp"

namespace spatialcert::certify {

/// What a page says of one program or file.
struct HtmlPart {
  std::string name;     ///< for the table of contents
  std::string verdict;  ///< likewise: `certified`, ..., `refused`, `fault`
  std::string summary;  ///< likewise: one line
  std::string body;     ///< markup, without what depends on the place in the page
  std::string data;     ///< of the views: `body` works without, where a page becomes too large
};

/// Parts may be made by several threads at once.
[[nodiscard]] HtmlPart html_part(const ir::Program& program, const ProgramReport& report,
                                 const Provenance& provenance = {});
/// A file that was refused.
[[nodiscard]] HtmlPart html_refusal(const std::string& file, const ir::Refusal& refusal);
/// A fault of our own.
[[nodiscard]] HtmlPart html_fault(const std::string& file, const std::string& what);
/// The page, with parts in the order given.
[[nodiscard]] std::string html_page(const std::vector<HtmlPart>& parts);

/// A page of one program.
[[nodiscard]] std::string html(const ir::Program& program, const ProgramReport& report,
                               const Provenance& provenance = {});

}  // namespace spatialcert::certify
