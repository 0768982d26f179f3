// Other people's algorithms, where they are present: imported or refused as their labels say, stuck
// exactly where they are labelled a deadlock, and right in what they compute where they are
// labelled right.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ir/import/msccl.hpp"
#include "value_machine.hpp"

namespace spatialcert::ir {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestSteps = 20'000;

struct Label {
  fs::path file;
  std::string per_step;  ///< the verdict with every step as one transfer
  std::string any_size;
};

std::vector<std::string> split(const std::string& line, char at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = line.find(at); end != line.npos; end = line.find(at, begin)) {
    parts.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(line.substr(begin));
  return parts;
}

fs::path corpus_folder() {
  const char* chosen = std::getenv("SPATIALCERT_CORPUS");
  return fs::path(chosen != nullptr ? chosen : SPATIALCERT_CORPUS_DEFAULT) / "msccl";
}

std::vector<Label> labels(const fs::path& folder) {
  std::vector<Label> all;
  std::ifstream lines(folder / "expected.tsv");
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> columns = split(line, '\t');
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), name) -
                                    columns.begin());
  };
  const std::size_t file = column("file");
  const std::size_t per_step = column("one transfer per step");
  const std::size_t any_size = column("any message size");
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = split(line, '\t');
    REQUIRE(std::max({file, per_step, any_size}) < cells.size());
    all.push_back({folder / cells[file], cells[per_step], cells[any_size]});
  }
  return all;
}

/// Whether one play of `program` is what the label says.
void check_play(const Program& program, const std::string& label, MscclRuntime runtime) {
  CAPTURE(program.name);
  CAPTURE(label);
  const fixtures::Execution played = fixtures::execute(program);
  CHECK(!played.fault);
  CHECK(played.finished == (label.find("liveness") == std::string::npos));
  if (runtime == MscclRuntime::rccl) return;  // the labels are about the other
  if (label == "certified") {
    CHECK(played.right);
    CHECK(fixtures::execute(program, 1).right);
  }
  if (label == "refuted reduction") CHECK(!played.right);
}

void check_variants(const MscclImport& imported, const Label& label, MscclRuntime runtime) {
  if (imported.summary.steps > kLargestSteps) return;
  for (const MscclVariant& variant : imported.variants) {
    const bool per_step = variant.transfers.mode == MscclTransfers::Mode::one_per_step;
    const bool only = imported.summary.largest_count == 1;
    if (per_step || only) check_play(variant.program, label.per_step, runtime);
    if (!per_step) check_play(variant.program, label.any_size, runtime);
  }
}

void check_file(const Label& label) {
  CAPTURE(label.file.string());
  const Result<MscclImport> imported = import_msccl(label.file.string(), {});
  CHECK(imported.has_value() == (label.per_step != "refused"));
  if (!imported) return;
  check_variants(*imported, label, MscclRuntime::msccl);
  if (imported->summary.protocol != "LL") return;
  MscclOptions options;
  options.runtime = MscclRuntime::rccl;
  const Result<MscclImport> helped = import_msccl(label.file.string(), options);
  REQUIRE(helped.has_value());
  check_variants(*helped, label, MscclRuntime::rccl);
}

void check_folder(const fs::path& folder) {
  if (!fs::exists(folder / "expected.tsv")) {
    MESSAGE("skipped: there is no " << (folder / "expected.tsv").string());
    return;
  }
  const std::vector<Label> all = labels(folder);
  CHECK(!all.empty());
  for (const Label& label : all) check_file(label);
}

TEST_CASE("algorithms that were shipped or generated") { check_folder(corpus_folder()); }

TEST_CASE("algorithms with a known fault") { check_folder(corpus_folder() / "broken"); }

}  // namespace
}  // namespace spatialcert::ir
