// The page of a run: a summary per program and rule, and what was found in words.
#include <fmt/format.h>

#include "certify/views/text.hpp"
#include "certify/views/view.hpp"

namespace spatialcert::certify::views {
namespace {

std::string rule_row(const RuleReport& rule) {
  return fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", proofs::to_string(rule.rule),
                     to_string(rule.verdict), escaped(rule.detail));
}

std::string judged_part(const Judged& judged) {
  std::string text = fmt::format("<h2>{}</h2>\n<table>\n", escaped(verdict_line(judged.report)));
  for (const RuleReport& rule : judged.report.rules) text += rule_row(rule);
  text += "</table>\n";
  for (const RuleReport& rule : judged.report.rules) {
    if (!rule.counterexample) continue;
    text += fmt::format("<h3>{}</h3>\n<pre>{}</pre>\n", proofs::to_string(rule.rule),
                        escaped(counterexample_text(judged.program, *rule.counterexample)));
  }
  return text;
}

std::string entry_part(const Entry& entry) {
  if (const auto* judged = std::get_if<Judged>(&entry.outcome)) return judged_part(*judged);
  const auto* refusal = std::get_if<ir::Refusal>(&entry.outcome);
  return fmt::format(
      "<h2>{}: {}</h2>\n<pre>{}</pre>\n", escaped(entry.provenance.file),
      refusal != nullptr ? "refused" : "fault of spatialcert's own",
      escaped(refusal != nullptr ? refusal->message() : std::get<Fault>(entry.outcome).what));
}

}  // namespace

std::string html_view(const Run& run, const Options&) {
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<title>spatialcert</title>\n</head>\n<body>\n<h1>spatialcert</h1>\n";
  for (const Entry& entry : run.entries) text += entry_part(entry);
  return text + "</body>\n</html>\n";
}

}  // namespace spatialcert::certify::views
