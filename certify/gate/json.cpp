#include <fmt/format.h>

#include "certify/gate/report.hpp"
#include "certify/gate/wording.hpp"
#include "certify/report.hpp"
#include "ir/io/json_writer.hpp"

namespace spatialcert::certify::gate {
namespace {

using ir::io::JsonWriter;

void write_costs(JsonWriter& json, const Costs& costs) {
  json.key("costs").object(true);
  json.key("ops").natural(costs.ops).key("transitions").natural(costs.transitions);
  json.key("semaphores").natural(costs.semaphores).key("fifo_pages").natural(costs.fifo_pages);
  json.key("phases").natural(costs.phases).key("memory").object(true);
  for (const SpaceUse& use : costs.memory) json.key(use.space).natural(use.bytes);
  json.close().close();
}

void write_side(JsonWriter& json, const char* key, const std::optional<Side>& side) {
  if (!side) return;
  json.key(key).object();
  json.key("file").text(side->file).key("standing").text(to_string(side->standing));
  if (!side->detail.empty()) json.key("detail").text(side->detail);
  if (!side->digest.empty()) json.key("digest").text(side->digest);
  json.key("evidence").text(to_string(side->evidence));
  if (!side->discarded.empty()) {
    json.key("discarded_certificates").array();
    for (const std::string& why : side->discarded) json.text(why);
    json.close();
  }
  if (side->costs) write_costs(json, *side->costs);
  json.close();
}

void write_exception(JsonWriter& json, const Exception& exception) {
  json.key("excused").object(true).key("until").text(exception.until);
  json.key("reason").text(exception.reason).close();
}

void write_entry(JsonWriter& json, const Comparison& comparison, const Entry& entry) {
  const Pair& pair = comparison.pairs[entry.pair];
  json.object().key("name").text(pair.name).key("change").text(to_string(entry.change));
  json.key("is_excused").boolean(entry.excused);
  if (entry.exception) write_exception(json, comparison.policy.exceptions[*entry.exception]);
  write_side(json, "baseline", pair.baseline);
  write_side(json, "candidate", pair.candidate);
  json.key("open_rules").array();
  for (const OpenRule& open : entry.open) {
    const RuleState& state = pair.candidate->rules[open.state];
    json.object().key("rule").text(proofs::to_string(state.rule));
    json.key("verdict").text(to_string(state.verdict)).key("is_new").boolean(open.newly);
    if (!state.detail.empty()) json.key("detail").text(state.detail);
    if (!state.text.empty()) json.key("text").text(state.text);
    if (open.exception) write_exception(json, comparison.policy.exceptions[*open.exception]);
    json.close();
  }
  json.close().close();
}

void write_cell(JsonWriter& json, std::string_view key, const CostCell& cell) {
  json.key(key).object(true);
  if (cell.before) json.key("baseline").natural(*cell.before);
  if (cell.after) json.key("candidate").natural(*cell.after);
  json.close();
}

}  // namespace

std::string gate_json(const Comparison& comparison, const Folders& folders) {
  JsonWriter json;
  json.object().key("format").text("spatialcert-gate").key("version").natural(1);
  json.key("tool").object(true).key("name").text("spatialcert");
  json.key("version").text(tool_version()).close();
  json.key("solver").object(true).key("name").text("z3");
  json.key("version").text(solver_version()).close();
  json.key("baseline").text(folders.baseline).key("candidate").text(folders.candidate);
  json.key("verdict").text(comparison.exit_status == 0 ? "passed" : "failed");
  json.key("headline").text(headline(comparison));
  json.key("totals").object().key("baseline").natural(comparison.totals.baseline);
  json.key("candidate").natural(comparison.totals.candidate);
  json.key("excused").natural(comparison.totals.excused);
  for (std::size_t c = 0; c < kChanges; ++c)
    json.key(to_string(static_cast<Change>(c))).natural(comparison.totals.of[c]);
  json.close();
  json.key("violations").array();
  for (const Violation& violation : comparison.violations) {
    json.object(true).key("kind").text(to_string(violation.kind));
    if (!violation.program.empty()) json.key("program").text(violation.program);
    json.key("text").text(violation.text).close();
  }
  json.close().key("unreadable").array();
  for (const ir::Refusal& refusal : comparison.refusals) json.text(refusal.message());
  json.close().key("faults").array();
  for (const std::string& fault : comparison.faults) json.text(fault);
  json.close().key("programs").array();
  for (const Entry& entry : comparison.entries) write_entry(json, comparison, entry);
  json.close();
  const CostTable table = cost_table(comparison);
  json.key("total_costs").object();
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    write_cell(json, table.columns[i], table.total.cells[i]);
  json.close();
  json.key("exit_status").integer(comparison.exit_status).close();
  return json.take() + "\n";
}

}  // namespace spatialcert::certify::gate
