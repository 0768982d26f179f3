// The whole pipeline against the oracle, on thousands of random programs, both ways: nothing that
// fails in some schedule is certified, nothing is refuted that the oracle does not find, and
// programs of the marked-graph class are decided.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <string>

#include "certify/pipeline.hpp"
#include "tests/oracle/generator.hpp"
#include "tests/random/judge.hpp"

namespace spatialcert::tests {
namespace {

using certify::Verdict;

/// SPATIALCERT_LONG: 1,000,000 programs, or as many as it says if that is a number above 1.
std::uint64_t samples() {
  const char* const wanted = std::getenv("SPATIALCERT_LONG");
  if (wanted == nullptr) return 10'000;
  const std::uint64_t number = std::strtoull(wanted, nullptr, 10);
  return number > 1 ? number : 1'000'000;
}
/// Beginning with this one.
std::uint64_t first_seed() {
  const char* const wanted = std::getenv("SPATIALCERT_SEED");
  return wanted == nullptr ? 1 : std::strtoull(wanted, nullptr, 10);
}

/// Of the programs with one fault, every so many-th is compared with itself before the fault.
constexpr std::uint64_t kTwinEvery = 20;

/// What became of them, and of their features.
struct SampleTally : Tally {
  std::uint64_t near_misses = 0, twins = 0, right_twins = 0;  ///< with one fault, see kTwinEvery
  std::array<std::uint64_t, static_cast<std::size_t>(Feature::count)> features{};

  void add(const Sample& sample, const Judgement& j) {
    Tally::add(j, std::string(to_string(sample.fault)));
    for (std::size_t f = 0; f < features.size(); ++f)
      features[f] += sample.has(static_cast<Feature>(f)) ? 1 : 0;
    add_near_miss(sample);
  }

  void add_near_miss(const Sample& sample) {
    if (sample.fault == Fault::none || sample.second_fault) return;
    if (near_misses++ % kTwinEvery != 0) return;
    ++twins;
    if (certify::certify(sample.undamaged).verdict == Verdict::certified) ++right_twins;
  }

  [[nodiscard]] std::string text() const {
    std::string out = Tally::text() + "\nfeatures:";
    for (std::size_t f = 0; f < features.size(); ++f) {
      out += fmt::format(" {} {},", features[f], to_string(static_cast<Feature>(f)));
    }
    return out + fmt::format("\n{} with one fault, and {} of {} of those were certified without it",
                             near_misses, right_twins, twins);
  }
};

void show(const Sample& sample, const std::function<bool(const Judgement&)>& wanted) {
  const auto small =
      assemble(shrink(sample.sketch, [&](const ir::Program& p) { return wanted(judge(p)); }));
  const Judgement j = judge(small);
  FAIL_CHECK("seed " << sample.seed << ": " << j.disagreement << "\n"
                     << listing(small) << verdicts(j));
}

/// The test means nothing if the generator degenerates.
void check_shape(const SampleTally& t) {
  CHECK(t.certified * 100 >= t.programs * 40);
  CHECK(t.too_large * 100 <= t.programs);
  CHECK(t.undecided_in_class == 0);
  CHECK(t.near_misses * 100 >= t.programs * 40);
  CHECK(t.right_twins * 100 >= t.twins * 90);
  for (const char* rule :
       {"liveness", "bounds", "quiescence", "ordering", "flow", "memory", "reduction"}) {
    CAPTURE(rule);
    const auto at = t.refuted_by.find(rule);
    CHECK(at != t.refuted_by.end());
    if (at != t.refuted_by.end()) CHECK(at->second * 20 >= t.programs);
  }
  for (const Feature f :
       {Feature::fifo, Feature::semaphore, Feature::gather, Feature::release, Feature::rendezvous,
        Feature::await, Feature::sliding_window, Feature::double_buffer, Feature::guaranteed,
        Feature::loop, Feature::initial_value, Feature::view, Feature::two_chips,
        Feature::persistent}) {
    CAPTURE(to_string(f));
    CHECK(t.features[static_cast<std::size_t>(f)] * 10 >= t.programs);
  }
}

TEST_CASE("pipeline and oracle agree on random programs") {
  SampleTally tally;
  int shown = 0;
  const std::uint64_t first = first_seed();
  for (std::uint64_t seed = first; seed < first + samples() && shown < 3; ++seed) {
    const Sample sample = generate(seed);
    const Judgement j = judge(sample.program);
    tally.add(sample, j);
    if (std::getenv("SPATIALCERT_SHOW") != nullptr && j.undecided_in_class()) {
      // The same reason, but for names and numbers.
      const auto reason = [](const Judgement& x) { return x.report.reason.substr(0, 14); };
      const auto small = assemble(shrink(sample.sketch, [&](const ir::Program& p) {
        const Judgement x = judge(p);
        return x.report.verdict == Verdict::undecided && x.findings.in_class &&
               x.findings.fails() == j.findings.fails() && reason(x) == reason(j);
      }));
      MESSAGE("undecided, seed " << seed << "\n" << listing(small) << verdicts(judge(small)));
    }
    if (j.disagreement.empty()) continue;
    ++shown;
    show(sample, [](const Judgement& other) { return !other.disagreement.empty(); });
  }
  MESSAGE(tally.text());
  tally.report("random programs");
  check_shape(tally);
}

}  // namespace
}  // namespace spatialcert::tests
