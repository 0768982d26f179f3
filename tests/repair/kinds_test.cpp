// Every kind of counterexample is in the table of docs/repair.md, and is repaired somewhere unless
// the table says that no repair is known.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "certify/pipeline.hpp"
#include "certify/repair/repair.hpp"
#include "compose/models/faults.hpp"
#include "ir/program_file.hpp"
#include "proofs/counterexample.hpp"
#include "tests/models/fixture.hpp"

namespace spatialcert::tests {
namespace {

namespace fs = std::filesystem;
namespace repair = certify::repair;
using certify::Verdict;
using models::ModelFault;

const fs::path kSource = SPATIALCERT_SOURCE_DIR;

/// Names of all kinds: there is none behind the last one.
std::set<std::string> all_kinds() {
  std::set<std::string> out;
  unsigned k = 0;
  for (; k <= static_cast<unsigned>(proofs::Kind::gap); ++k)
    out.emplace(proofs::to_string(static_cast<proofs::Kind>(k)));
  CHECK_THROWS((void)proofs::to_string(static_cast<proofs::Kind>(k)));
  CHECK(out.size() == k);
  return out;
}

struct Row {
  std::set<std::string> kinds;
  bool none = false;
};

/// The rows of the table: `| `kind`, `kind` of something | what is looked for |`.
std::vector<Row> table() {
  std::ifstream file(kSource / "docs" / "repair.md");
  REQUIRE(file.good());
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `")) continue;
    const std::size_t end = line.find(" | ", 2);
    REQUIRE(end != std::string::npos);
    Row row;
    for (std::size_t at = line.find('`'); at < end; at = line.find('`', at)) {
      const std::size_t close = line.find('`', at + 1);
      row.kinds.insert(line.substr(at + 1, close - at - 1));
      at = close + 1;
    }
    row.none = line.substr(end + 3).starts_with("none: ");
    rows.push_back(std::move(row));
  }
  return rows;
}

ir::Program golden(const std::string& name) {
  auto program = ir::read_program((kSource / "tests" / "golden" / (name + ".json")).string());
  REQUIRE_MESSAGE(program.has_value(), name);
  return *std::move(program);
}

/// Kinds against which a step of a repair was, the repaired program being certified; and kinds that
/// were found.
struct Seen {
  std::set<std::string> repaired, found;

  void look_at(const ir::Program& program) {
    CAPTURE(program.name);
    const certify::ProgramReport report = certify::certify(program);
    if (report.verdict != Verdict::refuted) return;
    for (const certify::RuleReport& rule : report.rules) {
      if (rule.counterexample) found.emplace(proofs::to_string(rule.counterexample->kind));
    }
    const repair::Suggestion suggestion = repair::suggest(program, report, {});
    if (suggestion.outcome != repair::Outcome::certified) return;
    // By a run of its own, on what a file of it holds.
    const auto back = ir::parse_program(ir::serialise(*suggestion.program), "repaired");
    REQUIRE(back.has_value());
    CHECK(certify::certify(*back).verdict == Verdict::certified);
    for (const repair::Step& step : suggestion.steps)
      repaired.emplace(proofs::to_string(step.kind));
  }
};

TEST_CASE("every kind of counterexample is repaired somewhere, or the table says why it is not") {
  Seen seen;
  for (const auto& entry : fs::directory_iterator(kSource / "tests" / "golden")) {
    if (entry.path().extension() == ".json") seen.look_at(golden(entry.path().stem().string()));
  }
  // A state that the section before it in the source reads first, as the last token left it.
  ir::Program state = golden("reordered-against-the-source");
  for (ir::Tensor& tensor : state.tensors) {
    if (tensor.name == "h") {
      tensor.init = ir::Init::external;
      tensor.role = ir::TensorRole::state;
    }
  }
  seen.look_at(state);
  models::Configuration two_layers = dense_model(DType::f32);
  two_layers.layers = 1;
  const ir::Program good = program_of(generated(two_layers, small_options(2)));
  for (const ModelFault fault : {ModelFault::slice_gap, ModelFault::slice_overlap,
                                 ModelFault::swapped_parts, ModelFault::nonlinear_before}) {
    const auto program = models::with_fault(good, fault);
    REQUIRE(program.has_value());
    seen.look_at(*program);
  }

  std::map<std::string, bool> known;  // kind -> none is known
  for (const Row& row : table()) {
    for (const std::string& kind : row.kinds) known[kind] = row.none;
  }
  const std::set<std::string> kinds = all_kinds();
  CHECK(kinds.size() >= 21);
  for (const std::string& kind : kinds) {
    CAPTURE(kind);
    REQUIRE_MESSAGE(known.contains(kind), "not in the table of docs/repair.md");
    CHECK_MESSAGE(seen.repaired.contains(kind) != known[kind],
                  "repaired somewhere: " << seen.repaired.contains(kind));
  }
  for (const auto& [kind, none] : known) CHECK_MESSAGE(kinds.contains(kind), kind);
  // What nothing is known for is seen too, but for what no rule covers, of which there is none.
  for (const char* kind : {"wrong-result", "nonlinear"}) CHECK(seen.found.contains(kind));
}

}  // namespace
}  // namespace spatialcert::tests
