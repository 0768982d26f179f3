// Suggestions as text and as JSON (docs/report.md).
#include <fmt/format.h>

#include "certify/names.hpp"
#include "certify/repair/repair.hpp"
#include "ir/io/json_writer.hpp"

namespace spatialcert::certify::repair {
namespace {

/// Edits of a step that are printed: a rendezvous of a large program has one per engine program.
constexpr std::size_t kMostLines = 20;

std::string tried_text(const Suggestion& suggestion) {
  std::string text;
  for (const std::string& idea : suggestion.tried) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", idea);
  }
  return text.empty() ? std::string("nothing, as no repair that is known fits") : text;
}

std::string step_text(const Step& step, bool numbered, std::size_t number) {
  std::string text = fmt::format(
      "  {}against {} ({}): {}\n", numbered ? fmt::format("{}. ", number + 1) : std::string(),
      proofs::to_string(step.kind), proofs::to_string(step.rule), step.idea);
  const std::size_t shown = step.edits.size() > kMostLines ? kMostLines - 1 : step.edits.size();
  for (std::size_t i = 0; i < shown; ++i) text += fmt::format("    - {}\n", step.edits[i].text);
  if (shown < step.edits.size())
    text +=
        fmt::format("    - and {} more, which --format json lists\n", step.edits.size() - shown);
  for (const std::string& remark : step.remarks) text += fmt::format("    {}\n", remark);
  return text;
}

void write_cost(const Cost& cost, ir::io::JsonWriter& json) {
  json.object(true);
  json.key("bytes").integer(cost.bytes);
  json.key("pages").integer(cost.pages);
  json.key("semaphores").integer(cost.semaphores);
  json.key("ops").integer(cost.ops);
  json.key("operands").integer(cost.operands);
  json.close();
}

void write_lines(const std::vector<std::string>& lines, ir::io::JsonWriter& json) {
  json.array();
  for (const std::string& line : lines) json.text(line);
  json.close();
}

void write_edit(const EditReport& edit, ir::io::JsonWriter& json) {
  json.object();
  json.key("kind").text(edit.kind);
  json.key("text").text(edit.text);
  if (!edit.engine.empty()) json.key("engine").text(edit.engine);
  if (edit.op) json.key("op").natural(*edit.op);
  if (!edit.source.empty()) json.key("source").text(edit.source);
  json.close();
}

}  // namespace

std::string suggestion_text(const Suggestion& suggestion, const std::string& written) {
  if (suggestion.outcome == Outcome::none) {
    std::string text =
        fmt::format("suggestion: no repair found; tried {}\n", tried_text(suggestion));
    for (const std::string& line : suggestion.obstacles) text += fmt::format("  {}\n", line);
    if (suggestion.limited)
      text += "  candidates were left: the limit on certifications was reached\n";
    return text;
  }
  const bool certified = suggestion.outcome == Outcome::certified;
  const bool numbered = suggestion.steps.size() > 1;
  std::string text = certified
                         ? "suggestion: a repair, and the repaired program was certified\n"
                         : "suggestion: a partial repair; the program is NOT certified with it\n";
  for (std::size_t i = 0; i < suggestion.steps.size(); ++i)
    text += step_text(suggestion.steps[i], numbered, i);
  if (numbered) text += "  ops are numbered as they are after the steps before\n";
  text += fmt::format("  costs {}; {} certified to find it\n", cost_text(suggestion.cost),
                      count_text(suggestion.certifications, "program"));
  if (!certified) {
    text += fmt::format("  left: {}\n  tried {}\n", suggestion.remaining, tried_text(suggestion));
    for (const std::string& line : suggestion.obstacles) text += fmt::format("  {}\n", line);
    if (suggestion.limited)
      text += "  candidates were left: the limit on certifications was reached\n";
  }
  text += fmt::format("  {} program{}: digest {}\n", certified ? "repaired" : "changed",
                      written.empty() ? std::string() : " in " + written,
                      suggestion.digest.substr(0, 12));
  return text;
}

std::string suggestion_json(const Suggestion& suggestion, std::size_t indentation,
                            const std::string& written) {
  ir::io::JsonWriter json(indentation);
  json.object();
  json.key("outcome").text(to_string(suggestion.outcome));
  json.key("steps").array();
  for (const Step& step : suggestion.steps) {
    json.object();
    json.key("rule").text(proofs::to_string(step.rule));
    json.key("kind").text(proofs::to_string(step.kind));
    json.key("idea").text(step.idea);
    json.key("edits").array();
    for (const EditReport& edit : step.edits) write_edit(edit, json);
    json.close();
    write_cost(step.cost, json.key("cost"));
    write_lines(step.remarks, json.key("remarks"));
    json.close();
  }
  json.close();
  write_cost(suggestion.cost, json.key("cost"));
  if (suggestion.program) json.key("digest").text(suggestion.digest);
  if (!written.empty()) json.key("file").text(written);
  if (suggestion.outcome == Outcome::partial) json.key("remaining").text(suggestion.remaining);
  write_lines(suggestion.tried, json.key("tried"));
  write_lines(suggestion.obstacles, json.key("obstacles"));
  json.key("certifications").natural(suggestion.certifications);
  json.key("limited").boolean(suggestion.limited);
  json.key("text").text(suggestion_text(suggestion, written));
  json.close();
  return json.take();
}

}  // namespace spatialcert::certify::repair
