// Foldings that nobody should believe: whatever is claimed of a program that is refuted, either the
// claim is refused, or a rule fails on what remains of the program.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "certify/pipeline.hpp"
#include "proofs/find_subject.hpp"
#include "proofs/folding/check.hpp"
#include "proofs/folding/groups.hpp"
#include "proofs/folding/labels.hpp"
#include "tests/counts.hpp"
#include "tests/folding/loop_programs.hpp"
#include "tests/oracle/generator.hpp"

namespace spatialcert::tests {
namespace {

using certify::Verdict;

/// SPATIALCERT_LONG: 20,000 programs, or as many as it says if that is a number above 1.
std::uint64_t samples() {
  const char* const wanted = std::getenv("SPATIALCERT_LONG");
  if (wanted == nullptr) return 400;
  const std::uint64_t number = std::strtoull(wanted, nullptr, 10);
  return number > 1 ? number : 20'000;
}
std::uint64_t first_seed() {
  const char* const wanted = std::getenv("SPATIALCERT_SEED");
  return wanted == nullptr ? 1 : std::strtoull(wanted, nullptr, 10);
}

certify::Options unrolled() {
  certify::Options options;
  options.fold_from.reset();
  options.keep_witnesses = true;
  return options;
}

/// Every loop of at least four trips, in groups or out of them.
std::vector<std::vector<ir::FoldedLoop>> loops_in_groups(const ir::Program& program,
                                                         Random& random) {
  std::vector<std::vector<ir::FoldedLoop>> out;
  if (random.chance(70)) {
    for (auto& candidate : proofs::folding::candidate_groups(program, 4))
      out.push_back(std::move(candidate.loops));
    return out;
  }
  out.emplace_back();
  for (std::uint32_t p = 0; p < program.programs.size(); ++p) {
    const auto& ops = program.programs[p].ops;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      if (ops[i].code != ir::OpCode::repeat || ops[i].count < 4) continue;
      const bool taken = !out.back().empty() && out.back().back().program == p;
      if (taken && random.chance(50)) continue;
      if (taken || random.chance(20)) out.emplace_back();
      out.back().push_back({p, i, random.between(1, 2), 0});
    }
  }
  std::erase_if(out, [](const auto& loops) { return loops.empty(); });
  return out;
}

ir::Folding forge(const ir::Program& program, Random& random) {
  ir::Folding out;
  for (auto& loops : loops_in_groups(program, random)) {
    if (random.chance(15)) continue;
    if (loops.size() > 1 && random.chance(15))
      loops.erase(loops.begin() + random.below(loops.size()));
    std::int64_t segments = std::numeric_limits<std::int64_t>::max();
    const std::int64_t factor = random.chance(15) ? 2 : 1;
    for (ir::FoldedLoop& loop : loops) {
      loop.turns *= factor;
      if (random.chance(20)) loop.skip = random.between(0, 3);
      const std::int64_t trips = program.programs[loop.program].ops[loop.op].count;
      segments = std::min(segments, (trips - loop.skip) / loop.turns);
    }
    const std::int64_t left = random.between(1, std::max<std::int64_t>(segments - 1, 1));
    out.push_back({segments - left, std::move(loops)});
  }
  return out;
}

TEST_CASE("no folding makes a refuted program one that holds") {
  std::uint64_t refuted = 0, forged = 0, accepted = 0, by_labels = 0;
  std::map<std::string, std::uint64_t> why;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + samples(); ++seed) {
    const auto program = generate_loops(seed);
    if (!program || certify::certify(*program, unrolled()).verdict != Verdict::refuted) continue;
    ++refuted;
    Random random(seed + 77);
    for (int attempt = 0; attempt < 12; ++attempt) {
      const ir::Folding folding = forge(*program, random);
      if (folding.empty()) continue;
      ++forged;
      const auto made = ir::fold(*program, folding);
      if (const auto* no = std::get_if<ir::Unfoldable>(&made)) {
        ++why["fold: " + no->why.substr(0, no->why.find(':'))];
        continue;
      }
      const auto& folded = std::get<ir::Folded>(made);
      const auto subject = proofs::find_subject(folded.program);
      REQUIRE(std::holds_alternative<proofs::Subject>(subject));
      const auto objections =
          proofs::folding::check(folding, folded, std::get<proofs::Subject>(subject));
      if (!objections.empty()) {
        ++why[fmt::format("premise {}", static_cast<int>(objections.front().kind))];
        continue;
      }
      ++accepted;
      const certify::ProgramReport left = certify::certify(folded.program, unrolled());
      if (left.verdict != Verdict::certified) continue;
      ++by_labels;
      CHECK_MESSAGE(
          (left.certificate->shard &&
           proofs::folding::labels_change(folding, folded, std::get<proofs::Subject>(subject),
                                          *left.certificate->shard)),
          "seed ", seed, " attempt ", attempt);
    }
  }
  count("foldings of refuted programs forged", forged);
  std::string reasons;
  for (const auto& [reason, number] : why) reasons += fmt::format("\n  {} {}", number, reason);
  MESSAGE(
      fmt::format("{} refuted programs, {} foldings, {} accepted (and something else refuted, "
                  "{} times labels that change); refused:{}",
                  refuted, forged, accepted, by_labels, reasons));
  CHECK(accepted > 20);
}

}  // namespace
}  // namespace spatialcert::tests
