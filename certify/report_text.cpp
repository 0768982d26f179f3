// The verdict block of one program.
#include <fmt/format.h>

#include <algorithm>

#include "certify/names.hpp"
#include "certify/report.hpp"

namespace spatialcert::certify {
namespace {

std::string rules_with(const ProgramReport& report, Verdict verdict) {
  std::string names;
  for (const RuleReport& rule : report.rules) {
    if (rule.verdict != verdict) continue;
    if (!names.empty()) names += ", ";
    names += proofs::to_string(rule.rule);
  }
  return names;
}

/// What there is to say in one line beside the verdict.
std::string why(const ProgramReport& report) {
  if (report.verdict == Verdict::refuted) return "by " + rules_with(report, Verdict::refuted);
  if (report.verdict != Verdict::undecided) return {};
  return report.reason.empty() ? report.reason : ": " + report.reason;
}

std::string time_text(double seconds) { return fmt::format("{:.2f} s", seconds); }

/// One row of cells per rule; columns as wide as their widest cell, the last one as long as it
/// likes.
std::string table_text(const ProgramReport& report, bool with_times) {
  std::vector<std::vector<std::string>> rows;
  rows.push_back({"rule", "verdict", "obligations", "queries"});
  if (with_times) rows.back().emplace_back("time");
  rows.back().emplace_back("detail");
  for (const RuleReport& rule : report.rules) {
    rows.push_back({std::string(proofs::to_string(rule.rule)), std::string(to_string(rule.verdict)),
                    fmt::format("{}", rule.obligations), fmt::format("{}", rule.queries)});
    if (with_times) rows.back().push_back(time_text(rule.seconds));
    rows.back().push_back(rule.detail);
  }
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      const bool number = i >= 2;
      line += number ? fmt::format(" {:>{}} ", row[i], widths[i])
                     : fmt::format(" {:<{}} ", row[i], widths[i]);
    }
    line += " " + row.back();
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string indented(const std::string& text, const char* by) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) out += by + text.substr(at, end - at);
    out += '\n';
    at = end + 1;
  }
  return out;
}

std::string figures(const ProgramReport& report, bool with_times) {
  std::string text = fmt::format("{} ops, {} transitions", report.ops, report.transitions);
  if (report.folded) {
    text += fmt::format(" ({} folded to {})",
                        count_text(static_cast<std::int64_t>(report.folded->loops), "loop"),
                        report.folded->transitions);
  }
  if (report.divided) {
    text += fmt::format(" ({} in {}, {} looked at)",
                        count_text(static_cast<std::int64_t>(report.divided->sections), "section"),
                        report.divided->classes == 1
                            ? std::string("one class")
                            : fmt::format("{} classes", report.divided->classes),
                        report.divided->transitions);
  }
  text += fmt::format(", {} places, {} pairs", report.places, report.pairs);
  if (!report.digest.empty()) text += fmt::format("; digest {}", report.digest.substr(0, 12));
  if (with_times) text += fmt::format("; {}", time_text(report.seconds));
  return text;
}

std::string certificate_text(const CertificateFile& file, bool partial) {
  if (file.bytes == 0) return fmt::format("no certificate written; {} was not touched", file.path);
  return fmt::format("{}certificate: {} ({})", partial ? "partial " : "", file.path,
                     count_text(static_cast<std::int64_t>(file.bytes), "byte"));
}

}  // namespace

std::string verdict_line(const ProgramReport& report) {
  const std::string reason = why(report);
  const bool joined = reason.empty() || reason.front() == ':';
  return fmt::format("{}: {}{}{}", report.name, to_string(report.verdict), joined ? "" : " ",
                     reason);
}

std::string size_limit_text(const SizeLimit& limit) {
  return fmt::format(
      "deadlocks above {} of message: up to that size every transfer carries at least {}",
      size_text(limit.bytes), count_text(limit.chunks_per_transfer, "chunk"));
}

std::string report_text(const ir::Program& program, const ProgramReport& report, bool with_times,
                        const Provenance& provenance) {
  std::string text = verdict_line(report) + '\n';
  if (!provenance.file.empty()) text += fmt::format("  from {}\n", provenance.file);
  if (provenance.deadlocks_above) {
    text += fmt::format("  {}\n", size_limit_text(*provenance.deadlocks_above));
  }
  text += fmt::format("  {}\n", figures(report, with_times));
  if (provenance.certificate) {
    text += fmt::format("  {}\n", certificate_text(*provenance.certificate, report.partial));
  }
  text += table_text(report, with_times);
  for (const RuleReport& rule : report.rules) {
    if (!rule.counterexample) continue;
    text += fmt::format("\n  {}:\n", proofs::to_string(rule.rule));
    text += indented(counterexample_text(program, *rule.counterexample), "    ");
  }
  if (!provenance.suggestion_text.empty())
    text += '\n' + indented(provenance.suggestion_text, "  ");
  if (!report.notes.empty()) text += '\n';
  for (const std::string& note : report.notes) text += fmt::format("  note: {}\n", note);
  return text;
}

}  // namespace spatialcert::certify
