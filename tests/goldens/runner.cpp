// Golden counterexamples: tests/golden/NAME.json has the verdict of NAME.expect and exactly the
// text of NAME.report.
//
// `NAME.expect` holds one line: `certified`, `undecided`, or `refuted` and the refuting rules. To
// add a case, write these two files and run with SPATIALCERT_REWRITE_GOLDEN=1, which writes the
// reports anew; then read them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "certify/pipeline.hpp"
#include "certify/report.hpp"
#include "ir/program_file.hpp"

using namespace spatialcert;
using certify::Verdict;
namespace fs = std::filesystem;

namespace {

const fs::path kFolder = fs::path(SPATIALCERT_SOURCE_DIR) / "tests" / "golden";

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::set<std::string> cases() {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".json") names.insert(entry.path().stem().string());
  }
  return names;
}

std::string outcome(const certify::ProgramReport& report) {
  std::string text(certify::to_string(report.verdict));
  for (const certify::RuleReport& rule : report.rules) {
    if (rule.verdict == Verdict::refuted) text += fmt::format(" {}", proofs::to_string(rule.rule));
  }
  return text;
}

/// Every refutation survives the way through a file, and is reproduced from there.
void check_counterexamples(const ir::Program& program, const certify::ProgramReport& report) {
  for (const certify::RuleReport& rule : report.rules) {
    CHECK(rule.counterexample.has_value() == (rule.verdict == Verdict::refuted));
    if (!rule.counterexample) continue;
    CHECK(certify::rule_of(*rule.counterexample) == rule.rule);
    const std::string json = certify::counterexample_json(program, *rule.counterexample, rule.rule);
    const auto back = certify::parse_counterexample(json, "counterexample", program);
    REQUIRE_MESSAGE(back.has_value(), (back ? "" : back.error().message()));
    CHECK(certify::counterexample_json(program, *back, rule.rule) == json);
    const proofs::ReplayResult result = proofs::replay(program, *back);
    CHECK(std::holds_alternative<proofs::Reproduced>(result));
  }
}

}  // namespace

TEST_CASE("every golden case has its verdict and its report") {
  const bool rewrite = std::getenv("SPATIALCERT_REWRITE_GOLDEN") != nullptr;
  REQUIRE_FALSE(cases().empty());
  for (const std::string& name : cases()) {
    CAPTURE(name);
    const auto program = ir::read_program((kFolder / (name + ".json")).string());
    REQUIRE_MESSAGE(program.has_value(), (program ? "" : program.error().message()));
    CHECK(program->name == name);
    const certify::ProgramReport report = certify::certify(*program);
    CHECK(outcome(report) + '\n' == read_file(kFolder / (name + ".expect")));
    check_counterexamples(*program, report);
    const std::string text = certify::report_text(*program, report, false);
    if (rewrite) std::ofstream(kFolder / (name + ".report"), std::ios::binary) << text;
    CHECK(text == read_file(kFolder / (name + ".report")));
  }
}

TEST_CASE("nothing lies in the folder that no case claims") {
  const std::set<std::string> names = cases();
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const std::string extension = entry.path().extension().string();
    CAPTURE(entry.path().string());
    CHECK((extension == ".json" || extension == ".expect" || extension == ".report"));
    CHECK(names.contains(entry.path().stem().string()));
  }
}
