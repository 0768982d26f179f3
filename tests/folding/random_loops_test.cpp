// Folded and unrolled, the verdict is the same: on random programs, right and damaged ones.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <string>

#include "certify/pipeline.hpp"
#include "proofs/folding/find.hpp"
#include "proofs/recheck/recheck.hpp"
#include "tests/counts.hpp"
#include "tests/folding/loop_programs.hpp"

namespace spatialcert::tests {
namespace {

using certify::Verdict;

/// SPATIALCERT_LONG: 50,000 programs, or as many as it says if that is a number above 1.
std::uint64_t samples() {
  const char* const wanted = std::getenv("SPATIALCERT_LONG");
  if (wanted == nullptr) return 1'000;
  const std::uint64_t number = std::strtoull(wanted, nullptr, 10);
  return number > 1 ? number : 50'000;
}
std::uint64_t first_seed() {
  const char* const wanted = std::getenv("SPATIALCERT_SEED");
  return wanted == nullptr ? 1 : std::strtoull(wanted, nullptr, 10);
}

certify::Options folding(bool fold) {
  certify::Options options;
  options.fold_from = fold ? std::optional<std::uint64_t>(0) : std::nullopt;
  options.keep_witnesses = fold;
  return options;
}

TEST_CASE("folded and unrolled, the verdict is the same") {
  std::uint64_t programs = 0, folded = 0, certified = 0, refuted = 0, folded_certified = 0,
                sharded = 0;
  std::map<std::string, std::uint64_t> why;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + samples(); ++seed) {
    const auto program = generate_loops(seed);
    if (!program) continue;
    ++programs;
    const certify::ProgramReport whole = certify::certify(*program, folding(false));
    const certify::ProgramReport few = certify::certify(*program, folding(true));
    certified += whole.verdict == Verdict::certified ? 1 : 0;
    refuted += whole.verdict == Verdict::refuted ? 1 : 0;
    if (few.folded) {
      ++folded;
      folded_certified += few.verdict == Verdict::certified ? 1 : 0;
      REQUIRE(few.certificate);
      const auto read = proofs::decode(proofs::encode(*few.certificate));
      REQUIRE(std::holds_alternative<proofs::Certificate>(read));
      sharded += few.certificate->shard ? 1 : 0;
      const auto outcome = proofs::recheck(*program, std::get<proofs::Certificate>(read));
      CHECK_MESSAGE(!outcome.denial, "seed ", seed, ": ", outcome.detail);
    } else if (whole.verdict == Verdict::certified) {
      const auto found = proofs::folding::find(*program);
      const auto* none = std::get_if<proofs::folding::NoFold>(&found);
      ++why[none != nullptr ? none->why : "not shown of what remained"];
    }
    CHECK_MESSAGE(whole.verdict == few.verdict, "seed ", seed, ": ", to_string(whole.verdict), " ",
                  whole.reason, ", folded ", to_string(few.verdict));
  }
  count("loop programs compared, folded and unrolled", programs);
  std::string reasons;
  for (const auto& [reason, number] : why) reasons += fmt::format("\n  {} {}", number, reason);
  MESSAGE(
      fmt::format("{} programs, {} certified, {} refuted; {} folded, {} of them certified, "
                  "{} with data of one chip; certified and not folded:{}",
                  programs, certified, refuted, folded, folded_certified, sharded, reasons));
  CHECK(folded_certified * 3 > certified);
  CHECK(sharded * 20 > certified);
  CHECK(refuted * 10 > programs);
}

}  // namespace
}  // namespace spatialcert::tests
