// Thousands of random compositions: the whole pipeline against the oracle, against itself without
// cuts and classes, and its certificates against the checker.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "certify/pipeline.hpp"
#include "proofs/boundary/rule.hpp"
#include "proofs/find_subject.hpp"
#include "proofs/recheck/recheck.hpp"
#include "tests/composed/compositions.hpp"
#include "tests/counts.hpp"
#include "tests/oracle/sketch.hpp"
#include "tests/random/judge.hpp"

namespace spatialcert::tests {
namespace {

using certify::Verdict;

constexpr std::uint64_t kStates = 60'000;

/// SPATIALCERT_LONG: 100,000 programs, or as many as it says if that is a number above 1.
std::uint64_t samples() {
  const char* const wanted = std::getenv("SPATIALCERT_LONG");
  if (wanted == nullptr) return 2'000;
  const std::uint64_t number = std::strtoull(wanted, nullptr, 10);
  return number > 1 ? number : 100'000;
}
/// Beginning with this one.
std::uint64_t first_seed() {
  const char* const wanted = std::getenv("SPATIALCERT_SEED");
  return wanted == nullptr ? 1 : std::strtoull(wanted, nullptr, 10);
}

/// What does not fit, of the verdicts and of the certificate; empty if nothing.
std::string against_itself(const ir::Program& program, const certify::ProgramReport& report) {
  certify::Options whole;
  whole.monolithic = true;
  const auto other = certify::certify(program, whole);
  if (other.verdict != report.verdict || other.rules.size() != report.rules.size())
    return fmt::format("{} in parts, {} as a whole", to_string(report.verdict),
                       to_string(other.verdict));
  for (std::size_t r = 0; r < report.rules.size(); ++r) {
    if (report.rules[r].verdict == other.rules[r].verdict) continue;
    return fmt::format("{}: {} in parts ({}), {} as a whole ({})",
                       proofs::to_string(report.rules[r].rule), to_string(report.rules[r].verdict),
                       report.rules[r].detail, to_string(other.rules[r].verdict),
                       other.rules[r].detail);
  }
  return "";
}

std::string rechecked(const ir::Program& program, const certify::ProgramReport& report) {
  const bool certified = report.verdict == Verdict::certified;
  if (certified != report.certificate.has_value()) return "certified without a certificate";
  if (!certified) return "";
  const auto decoded = proofs::decode(proofs::encode(*report.certificate));
  if (const auto* no = std::get_if<proofs::Unreadable>(&decoded))
    return fmt::format("its certificate cannot be read: {}", no->detail);
  const auto outcome = proofs::recheck(program, std::get<proofs::Certificate>(decoded));
  if (outcome.denial) return fmt::format("its certificate is denied: {}", outcome.detail);
  return "";
}

/// The same, judged section by section: what does not fit.
std::string against_sections(const ir::Program& program, const certify::ProgramReport& report) {
  certify::Options options;
  options.divide_from = 0;
  options.divide_percent = 100;
  options.keep_witnesses = true;
  const auto other = certify::certify(program, options);
  if (other.verdict != report.verdict || other.rules.size() != report.rules.size())
    return fmt::format("{} as a whole, {} section by section", to_string(report.verdict),
                       to_string(other.verdict));
  for (std::size_t r = 0; r < report.rules.size(); ++r) {
    if (report.rules[r].verdict == other.rules[r].verdict) continue;
    return fmt::format("{}: {} as a whole, {} section by section",
                       proofs::to_string(report.rules[r].rule), to_string(report.rules[r].verdict),
                       to_string(other.rules[r].verdict));
  }
  return rechecked(program, other);
}

/// How it is certified section by section, if it is.
std::optional<certify::DividedSections> divided_sections(const ir::Program& program) {
  certify::Options options;
  options.divide_from = 0;
  options.divide_percent = 100;
  return certify::certify(program, options).divided;
}

/// Is there a witness of `boundary` at all that the check accepts? Of a program that slips through.
std::string accepted_centres(const ir::Program& program) {
  const auto found = proofs::find_subject(program);
  const auto* subject = std::get_if<proofs::Subject>(&found);
  if (subject == nullptr) return "";
  proofs::boundary::Meetings meetings(*subject);
  const std::vector<std::uint32_t> none(meetings.size(), proofs::boundary::kNone);
  // What each boundary might claim if the others did not matter; then all of it together.
  std::vector<std::vector<std::uint32_t>> witnesses{none};
  for (std::size_t k = 0; k < meetings.size(); ++k) {
    std::vector<std::vector<std::uint32_t>> longer;
    for (std::uint32_t t = 0; t <= subject->one.transitions(); ++t) {
      auto alone = none;
      if (t < subject->one.transitions()) alone[k] = t;
      if (meetings.gap(k, alone)) continue;
      for (auto witness : witnesses) {
        witness[k] = alone[k];
        longer.push_back(std::move(witness));
      }
    }
    constexpr std::size_t kMost = 1'000;
    if (longer.size() > kMost) longer.resize(kMost);
    witnesses = std::move(longer);
  }
  for (const auto& witness : witnesses) {
    if (std::holds_alternative<proofs::Accepted>(proofs::boundary::check(*subject, {witness})))
      return fmt::format("boundary accepts centres {}", fmt::join(witness, ", "));
  }
  return "";
}

Judgement judge_all(const ir::Program& program) {
  certify::Options options;
  options.keep_witnesses = true;
  Judgement j = judge(program, options, kStates);
  if (j.disagreement.empty()) j.disagreement = against_itself(program, j.report);
  if (j.disagreement.empty()) j.disagreement = rechecked(program, j.report);
  if (j.disagreement.empty()) j.disagreement = against_sections(program, j.report);
  if (j.disagreement.empty() && j.findings.complete && !j.findings.slips.empty())
    j.disagreement = accepted_centres(program);
  return j;
}

std::string small_listing(const ir::Program& program,
                          const std::function<bool(const ir::Program&)>& wanted) {
  const ir::Program small = shrink_ops(program, wanted);
  const Judgement j = judge_all(small);
  return fmt::format("{}\n{}{}", j.disagreement, listing(small), verdicts(j));
}

void check_shape(const Tally& t) {
  CHECK(t.certified * 100 >= t.programs * 30);
  CHECK(t.too_large * 100 <= t.programs * 2);
  const auto share = [&](const std::vector<const char*>& kinds) {
    std::uint64_t sum = 0;
    for (const char* kind : kinds) {
      const auto at = t.refuted_as.find(kind);
      if (at != t.refuted_as.end()) sum += at->second;
    }
    return sum;
  };
  for (const auto& kinds : std::vector<std::vector<const char*>>{{"slip-through"},
                                                                 {"interference"},
                                                                 {"wrong-order"},
                                                                 {"race"},
                                                                 {"undefined-read"},
                                                                 {"cycle", "starved"},
                                                                 {"overlap"}}) {
    CAPTURE(kinds.front());
    CHECK(share(kinds) * 100 >= t.programs);
  }
}

TEST_CASE("pipeline, oracle and checker agree on random compositions") {
  Tally tally;
  std::map<std::string, std::uint64_t> features;
  std::uint64_t damaged = 0, divided = 0, damaged_and_divided = 0;
  int shown = 0;
  const std::uint64_t first = first_seed();
  for (std::uint64_t seed = first; seed < first + samples() && shown < 3; ++seed) {
    const CompositionSample sample = random_composition(seed);
    const Judgement j = judge_all(sample.program);
    tally.add(j, sample.fault);
    for (const std::string& name : sample.features) ++features[name];
    damaged += sample.fault == "none" ? 0 : 1;
    if (j.report.verdict == Verdict::certified && divided_sections(sample.program)) {
      ++divided;
      damaged_and_divided += sample.fault == "none" ? 0 : 1;
    }
    if (!j.disagreement.empty()) {
      ++shown;
      FAIL_CHECK("seed " << seed << ", " << sample.fault << ": " << j.disagreement << "\n"
                         << small_listing(sample.program, [](const ir::Program& p) {
                              return !judge_all(p).disagreement.empty();
                            }));
    } else if (j.undecided_in_class()) {
      ++shown;
      FAIL_CHECK("undecided, seed " << seed << ", " << sample.fault << "\n"
                                    << small_listing(sample.program, [&](const ir::Program& p) {
                                         const Judgement x = judge_all(p);
                                         return x.undecided_in_class() &&
                                                x.findings.fails() == j.findings.fails();
                                       }));
    }
  }
  MESSAGE(tally.text() << counts_text("features", features));
  tally.report("random compositions");
  count("random compositions certified section by section", divided);
  MESSAGE(divided << " certified section by section, " << damaged_and_divided
                  << " of them damaged");
  if (shown > 0) return;
  CHECK(damaged * 2 > tally.programs);
  CHECK(tally.undecided_in_class == 0);
  CHECK(divided * 2 > tally.certified);
  CHECK(damaged_and_divided * 50 > tally.programs);
  check_shape(tally);
}

TEST_CASE(
    "sections that are alike, or almost: certified once or not, the verdict is that of the "
    "oracle") {
  Tally tally;
  std::uint64_t divided = 0, once = 0, damaged = 0;
  int shown = 0;
  const std::uint64_t first = first_seed();
  for (std::uint64_t seed = first; seed < first + samples() / 4 && shown < 3; ++seed) {
    const CompositionSample sample = repeated_composition(seed);
    const Judgement j = judge_all(sample.program);
    tally.add(j, sample.fault);
    if (j.report.verdict == Verdict::certified) {
      const auto how = divided_sections(sample.program);
      divided += how ? 1 : 0;
      once += how && how->classes < how->sections ? 1 : 0;
      damaged += how && how->classes < how->sections && sample.fault != "none" ? 1 : 0;
    }
    if (j.disagreement.empty()) continue;
    ++shown;
    FAIL_CHECK("seed " << seed << ", " << sample.fault << ": " << j.disagreement << "\n"
                       << small_listing(sample.program, [](const ir::Program& p) {
                            return !judge_all(p).disagreement.empty();
                          }));
  }
  MESSAGE(tally.text() << divided << " certified section by section, " << once
                       << " with a class of several sections, " << damaged << " of them damaged");
  count("compositions with sections certified once", once);
  CHECK(once * 10 > tally.programs);
  CHECK(damaged * 50 > tally.programs);
}

}  // namespace
}  // namespace spatialcert::tests
