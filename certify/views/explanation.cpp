// A counterexample and its text in one JSON object (docs/explanation.schema.json).
#include "certify/views/text.hpp"
#include "certify/views/view.hpp"
#include "ir/io/json_writer.hpp"

namespace spatialcert::certify::views {

std::string explanation_json(const ir::Program& program,
                             const proofs::Counterexample& counterexample,
                             const Provenance& provenance) {
  ir::io::JsonWriter json;
  json.object();
  json.key("format").text("spatialcert-explanation");
  json.key("version").natural(1);
  json.key("tool").object(true);
  json.key("name").text("spatialcert");
  json.key("version").text(tool_version());
  json.close();
  json.key("file").text(provenance.file);
  if (!provenance.variant.empty()) json.key("variant").text(provenance.variant);
  json.key("program").text(program.name);
  json.key("rule").text(proofs::to_string(rule_of(counterexample)));
  json.key("statement").text(statement_of(rule_of(counterexample)));
  json.key("kind").text(proofs::to_string(counterexample.kind));
  json.key("replayed").boolean(true);
  json.key("text").text(counterexample_text(program, counterexample));
  if (!provenance.suggestion_json.empty()) json.key("suggestion").raw(provenance.suggestion_json);
  json.key("counterexample").raw(moved_right(counterexample_json(program, counterexample), 2));
  json.close();
  return json.take() + '\n';
}

}  // namespace spatialcert::certify::views
