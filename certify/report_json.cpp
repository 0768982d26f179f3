// JSON of reports, format `spatialcert-report`, version 1 (docs/report.md).
#include <fmt/format.h>

#include "certify/report.hpp"
#include "certify/views/text.hpp"
#include "ir/io/json_writer.hpp"
#include "smt/query.hpp"

namespace spatialcert::certify {

using ir::io::json_string;
using ir::io::JsonWriter;
namespace {

/// Elements of `programs` are two levels deep.
constexpr std::size_t kElementLevel = 2;

void write_rule(const ir::Program& program, const RuleReport& rule, JsonWriter& json) {
  json.object();
  json.key("rule").text(proofs::to_string(rule.rule));
  json.key("verdict").text(to_string(rule.verdict));
  json.key("detail").text(rule.detail);
  json.key("obligations").natural(rule.obligations);
  json.key("queries").natural(rule.queries);
  json.key("resource_units").natural(rule.resource);
  json.key("seconds").seconds(rule.seconds);
  if (rule.counterexample) {
    json.key("counterexample")
        .raw(views::moved_right(counterexample_json(program, *rule.counterexample, rule.rule), 10));
    json.key("text").text(counterexample_text(program, *rule.counterexample));
  }
  json.close();
}

void write_totals(const ProgramReport& report, JsonWriter& json) {
  std::uint64_t obligations = 0;
  std::uint64_t queries = 0;
  std::uint64_t resource = 0;
  for (const RuleReport& rule : report.rules) {
    obligations += rule.obligations;
    queries += rule.queries;
    resource += rule.resource;
  }
  json.key("ops").natural(report.ops);
  json.key("transitions").natural(report.transitions);
  if (report.folded) {
    json.key("folded").object(true);
    json.key("loops").natural(report.folded->loops);
    json.key("transitions").natural(report.folded->transitions);
    json.close();
  }
  if (report.divided) {
    json.key("divided").object(true);
    json.key("sections").natural(report.divided->sections);
    json.key("classes").natural(report.divided->classes);
    json.key("transitions").natural(report.divided->transitions);
    json.close();
  }
  json.key("places").natural(report.places);
  json.key("pairs").natural(report.pairs);
  json.key("obligations").natural(obligations);
  json.key("queries").natural(queries);
  json.key("resource_units").natural(resource);
  json.key("seconds").seconds(report.seconds);
}

}  // namespace

std::string report_json(const ir::Program& program, const ProgramReport& report,
                        const Provenance& provenance) {
  JsonWriter json(kElementLevel);
  json.object();
  json.key("file").text(provenance.file);
  json.key("name").text(report.name);
  if (!provenance.variant.empty()) json.key("variant").text(provenance.variant);
  json.key("digest").text(report.digest);
  json.key("verdict").text(to_string(report.verdict));
  json.key("reason").text(report.reason);
  json.key("partial").boolean(report.partial);
  json.key("result_specified").boolean(!program.result_unspecified);
  write_totals(report, json);
  json.key("rules").array();
  for (const RuleReport& rule : report.rules) write_rule(program, rule, json);
  json.close();
  if (provenance.deadlocks_above) {
    json.key("deadlocks_above").object(true);
    json.key("bytes").natural(provenance.deadlocks_above->bytes);
    json.key("chunks_per_transfer").natural(provenance.deadlocks_above->chunks_per_transfer);
    json.key("text").text(size_limit_text(*provenance.deadlocks_above));
    json.close();
  }
  if (provenance.certificate) {
    json.key("certificate").object(true);
    json.key("file").text(provenance.certificate->path);
    json.key("written").boolean(provenance.certificate->bytes != 0);
    json.key("bytes").natural(provenance.certificate->bytes);
    json.close();
  }
  if (!provenance.suggestion_json.empty()) json.key("suggestion").raw(provenance.suggestion_json);
  json.key("notes").array();
  for (const std::string& note : report.notes) json.text(note);
  json.close();
  json.close();
  return json.take();
}

std::string refusal_json(const std::string& file, const ir::Refusal& refusal) {
  JsonWriter json(kElementLevel);
  json.object();
  json.key("file").text(file);
  json.key("verdict").text("refused");
  json.key("refusal").object();
  json.key("file").text(refusal.file);
  json.key("line").natural(refusal.line);
  json.key("path").text(refusal.path);
  json.key("expected").text(refusal.expected);
  json.key("found").text(refusal.found);
  json.key("message").text(refusal.message());
  json.close().close();
  return json.take();
}

std::string fault_json(const std::string& file, const std::string& what) {
  JsonWriter json(kElementLevel);
  json.object();
  json.key("file").text(file);
  json.key("verdict").text("fault");
  json.key("fault").text(what);
  json.close();
  return json.take();
}

int Totals::exit_status() const {
  if (faults != 0) return 70;
  if (refuted != 0) return 1;
  if (refused != 0) return 3;
  if (undecided != 0) return 2;
  return certified != 0 ? 0 : 64;
}

std::string report_json_head() {
  return fmt::format(
      "{{\n"
      "  \"format\": \"spatialcert-report\",\n"
      "  \"version\": 1,\n"
      "  \"tool\": {{\"name\": \"spatialcert\", \"version\": {}}},\n"
      "  \"solver\": {{\"name\": \"z3\", \"version\": {}}},\n"
      "  \"programs\": [",
      json_string(tool_version()), json_string(solver_version()));
}

std::string report_json_tail(const Totals& totals, double seconds) {
  return fmt::format(
      "\n  ],\n"
      "  \"totals\": {{\"certified\": {}, \"refuted\": {}, \"undecided\": {}, \"refused\": {}, "
      "\"faults\": {}}},\n"
      "  \"seconds\": {:.6f},\n"
      "  \"exit_status\": {}\n"
      "}}\n",
      totals.certified, totals.refuted, totals.undecided, totals.refused, totals.faults, seconds,
      totals.exit_status());
}

std::string_view tool_version() { return SPATIALCERT_VERSION; }
std::string solver_version() { return smt::solver_version(); }

}  // namespace spatialcert::certify
