// The whole job on other people's algorithms: import, certify, compare with what is known of each
// file.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "certify/command/message_size.hpp"
#include "certify/pipeline.hpp"
#include "ir/bytes_file.hpp"
#include "ir/import/msccl.hpp"
#include "labels.hpp"
#include "tests/counts.hpp"

namespace spatialcert::tests {
namespace {

namespace fs = std::filesystem;
using certify::Verdict;

constexpr std::uint64_t kLargestSteps = 20'000;
constexpr unsigned kThreads = 2;

bool everything() { return std::getenv("SPATIALCERT_LONG") != nullptr; }

/// What became of one file.
struct Outcome {
  std::string name;
  bool skipped = false;  ///< larger than wanted
  std::size_t variants = 0;
  std::uint64_t steps = 0, ops = 0, queries = 0;
  std::map<std::string, std::size_t> verdicts;
  std::size_t columns = 0;                 ///< verdicts compared: two per file
  std::vector<std::string> disagreements;  ///< at most one per column
  double seconds = 0;
};

std::string refuted_rules(const certify::ProgramReport& report) {
  std::string rules;
  for (const auto& rule : report.rules) {
    if (rule.verdict == Verdict::refuted)
      rules += fmt::format("{}{}", rules.empty() ? "" : ",", proofs::to_string(rule.rule));
  }
  return rules;
}

std::string text_of(const certify::ProgramReport& report) {
  switch (report.verdict) {
    case Verdict::certified:
      return "certified";
    case Verdict::refuted:
      return "refuted " + refuted_rules(report);
    default:
      return "undecided: " + report.reason;
  }
}

/// `refuted X,Y`: at least one of these rules refutes.
bool agrees(const std::string& label, const certify::ProgramReport& report) {
  if (label == "certified") return report.verdict == Verdict::certified;
  constexpr std::string_view kRefuted = "refuted ";
  if (report.verdict != Verdict::refuted || !label.starts_with(kRefuted)) return false;
  const auto found = split(refuted_rules(report), ',');
  const auto wanted = split(label.substr(kRefuted.size()), ',');
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& rule) {
    return std::find(found.begin(), found.end(), rule) != found.end();
  });
}

void compare(const Label& label, const std::string& expected, const char* column,
             const std::vector<std::string>& found, const std::vector<char>& right, Outcome& out) {
  ++out.columns;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (right[i] != 0) continue;
    out.disagreements.push_back(fmt::format("{}, {}: expected {}, found {}",
                                            label.file.filename().string(), column, expected,
                                            found[i]));
    return;
  }
}

/// Both columns, from the reports of all variants. A file with only one number of transfers has the
/// same programs in both.
void compare_variants(const Label& label, const ir::MscclImport& imported,
                      const std::vector<certify::ProgramReport>& reports, Outcome& out) {
  using Mode = ir::MscclTransfers::Mode;
  const auto column = [&](Mode mode, const std::string& expected, const char* name) {
    const bool has_own = std::any_of(imported.variants.begin(), imported.variants.end(),
                                     [&](const auto& v) { return v.transfers.mode == mode; });
    std::vector<std::string> found;
    std::vector<char> right;
    for (std::size_t i = 0; i < reports.size(); ++i) {
      if (has_own && imported.variants[i].transfers.mode != mode) continue;
      found.push_back(
          fmt::format("{} ({})", text_of(reports[i]), imported.variants[i].description));
      right.push_back(agrees(expected, reports[i]) ? 1 : 0);
    }
    compare(label, expected, name, found, right, out);
  };
  column(Mode::one_per_step, label.per_step, "one transfer per step");
  column(Mode::one_per_chunk, label.any_size, "any message size");
}

void run_file(const Label& label, Outcome& out) {
  out.name = label.file.filename().string();
  if (!everything() && label.steps > kLargestSteps) {
    out.skipped = true;
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  auto imported = ir::import_msccl(label.file.string(), {});
  if (!imported) {
    ++out.verdicts["refused"];
    const char right = label.per_step == "refused" && label.any_size == "refused" ? 1 : 0;
    for (const auto& expected : {label.per_step, label.any_size})
      compare(label, expected, "import", {"refused"}, {right}, out);
    return;
  }
  out.steps = imported->summary.steps;
  if (!everything() && out.steps > kLargestSteps) {
    out.skipped = true;
    return;
  }
  std::vector<certify::ProgramReport> reports;
  for (const ir::MscclVariant& variant : imported->variants) {
    reports.push_back(certify::certify(variant.program));
    out.ops += reports.back().ops;
    count("corpus programs", 1);
    for (const auto& rule : reports.back().rules) {
      out.queries += rule.queries;
      count("queries", rule.queries);
      if (rule.verdict == Verdict::certified) count("witnesses accepted", 1);
      if (rule.verdict == Verdict::refuted) count("counterexamples replayed", 1);
    }
    ++out.verdicts[std::string(to_string(reports.back().verdict))];
  }
  out.variants = reports.size();
  compare_variants(label, *imported, reports, out);
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Largest first, so that no thread is left alone with a large one.
std::vector<Outcome> run_all(std::vector<Label> all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Label& a, const Label& b) { return a.steps > b.steps; });
  std::vector<Outcome> outcomes(all.size());
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < all.size(); i = next++) run_file(all[i], outcomes[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

std::string totals(const std::vector<Outcome>& outcomes) {
  std::size_t files = 0, skipped = 0, variants = 0, columns = 0, wrong = 0;
  std::uint64_t ops = 0, queries = 0;
  std::map<std::string, std::size_t> verdicts;
  for (const Outcome& o : outcomes) {
    ++(o.skipped ? skipped : files);
    variants += o.variants;
    ops += o.ops;
    queries += o.queries;
    columns += o.columns;
    wrong += o.disagreements.size();
    for (const auto& [verdict, count] : o.verdicts) verdicts[verdict] += count;
  }
  std::string text =
      fmt::format("{} files, {} variants, {} ops, {} queries:", files, variants, ops, queries);
  for (const auto& [verdict, count] : verdicts) text += fmt::format(" {} {},", count, verdict);
  const double agreement =
      columns == 0 ? 0
                   : 100.0 * static_cast<double>(columns - wrong) / static_cast<double>(columns);
  text += fmt::format(" {} of {} expected verdicts agree ({:.2f} %)", columns - wrong, columns,
                      agreement);
  if (skipped != 0)
    text += fmt::format("; {} files of more than {} steps left out (SPATIALCERT_LONG)", skipped,
                        kLargestSteps);
  return text;
}

std::string slowest(std::vector<Outcome> outcomes) {
  std::sort(outcomes.begin(), outcomes.end(),
            [](const Outcome& a, const Outcome& b) { return a.seconds > b.seconds; });
  std::string text = "slowest:";
  for (std::size_t i = 0; i < std::min<std::size_t>(6, outcomes.size()); ++i) {
    text += fmt::format(" {} {:.1f} s ({} ops),", outcomes[i].name, outcomes[i].seconds,
                        outcomes[i].ops);
  }
  return text;
}

void check_folder(const fs::path& folder) {
  const auto all = labels(folder);
  if (all.empty()) {
    MESSAGE("skipped: there is no " << (folder / "expected.tsv").string());
    return;
  }
  const auto outcomes = run_all(all);
  MESSAGE(totals(outcomes));
  MESSAGE(slowest(outcomes));
  for (const Outcome& o : outcomes) {
    for (const std::string& disagreement : o.disagreements) FAIL_CHECK(disagreement);
    CHECK((o.skipped || o.columns == 2));
  }
}

TEST_CASE("algorithms that were shipped or generated") { check_folder(corpus_folder()); }

TEST_CASE("algorithms with a known fault") { check_folder(corpus_folder() / "broken"); }

std::uint64_t size_limit(const fs::path& path) {
  auto text = ir::read_bytes(path.string());
  REQUIRE(text.has_value());
  const auto imported = ir::import_msccl_text(*text, path.string(), {});
  REQUIRE(imported.has_value());
  command::LoadedFile file;
  file.path = path.string();
  file.foreign = imported->summary;
  file.text = std::move(*text);
  const auto limit =
      command::find_size_limit(file, imported->variants.front().placement, ir::MscclRuntime::msccl);
  return limit ? limit->bytes : 0;
}

TEST_CASE("message sizes above which real algorithms deadlock") {
  const fs::path folder = corpus_folder() / "broken";
  const std::pair<const char*, std::uint64_t> limits[] = {
      {"real_ag_recdbl_8_1_large.xml", std::uint64_t{8} << 20},
      {"real_rccl_allpairs_8n_simple_large.xml.zst", std::uint64_t{256} << 20}};
  for (const auto& limit : limits) {
    const char* const name = limit.first;
    if (!fs::exists(folder / name)) {
      MESSAGE("skipped: there is no " << (folder / name).string());
      continue;
    }
    CAPTURE(name);
    CHECK(size_limit(folder / name) == limit.second);
  }
}

}  // namespace
}  // namespace spatialcert::tests
