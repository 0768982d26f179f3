// Forgeries by the thousand: of certificates, of their bytes, and of programs behind their backs.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "ir/validate.hpp"
#include "tests/counts.hpp"
#include "tests/forgery/changes.hpp"
#include "tests/forgery/claims.hpp"
#include "tests/forgery/court.hpp"
#include "tests/forgery/specimen.hpp"

namespace spatialcert::tests {
namespace {

/// Specimens to forge. SPATIALCERT_LONG: 4,000, or as many as it says beyond that.
std::uint64_t specimens() {
  const char* const wanted = std::getenv("SPATIALCERT_LONG");
  return wanted == nullptr ? 150
                           : std::max<std::uint64_t>(4'000, std::strtoull(wanted, nullptr, 10));
}

std::uint32_t transitions(const ir::Program& program) {
  const auto unrolled = ir::unroll(program, 1, 100'000);
  const auto* one = std::get_if<ir::Unrolled>(&unrolled);
  return one == nullptr ? 100'000 : one->transitions();
}

/// Forgeries of the certificate of a program that is as it was.
void forge_certificate(const Specimen& s, Random& random, Court& court) {
  court.open(s.program);
  const std::uint32_t n = transitions(s.program);
  for (int i = 0; i < 20; ++i) {
    proofs::Certificate claim = s.certificate;
    std::string how = alter(claim, n, random);
    if (random.chance(20)) how = alter(claim, n, random) + ", and more";
    court.judge(claim, how);
  }
  for (int i = 0; i < 10; ++i) {
    std::string bytes;
    const std::string how = alter_bytes(s.certificate, bytes, random);
    court.judge_bytes(bytes, how);
  }
  for (int i = 0; i < 2; ++i)
    court.judge(best_claim(s.program, most_places(s.program, random, 20)), "more places");
}

/// The old certificate, the old places with new witnesses, the most places that pass with new
/// witnesses: all claimed for another program.
void claim_for(const ir::Program& other, const Specimen& s, const std::string& what, Random& random,
               Court& court) {
  court.open(other);
  court.judge(claimed_for(other, s.certificate), what);
  auto places = moved_places(s.program, s.certificate.justified, other);
  court.judge(best_claim(other, places), what + ", new witnesses");
  const std::uint32_t n = transitions(other);
  if (n > 1'000) return;
  if (!places.empty()) {
    places.erase(places.begin() + random.below(places.size()));
    court.judge(best_claim(other, places), what + ", new witnesses, a place less");
  }
  auto best = best_claim(other, most_places(other, random, 8));
  court.judge(best, what + ", new places and witnesses");
  const std::string how = alter(best, n, random);
  court.judge(best, what + ", new witnesses, and " + how);
}

/// `changes` changes of the program, picked from all; 0: every one.
std::uint64_t forge_program(const Specimen& s, std::uint32_t changes, Random& random,
                            Court& court) {
  std::vector<Change> all = all_changes(s.sketch);
  for (std::uint32_t i = 0; i < 10; ++i) {
    Sketch damaged = s.sketch;
    Fault fault = Fault::none;
    if (damage(damaged, random, fault))
      all.push_back({"damage: " + std::string(to_string(fault)), std::move(damaged)});
  }
  std::uint64_t made = 0;
  const std::uint64_t wanted = changes == 0 ? all.size() : changes;
  for (std::uint64_t i = 0; i < wanted; ++i) {
    const Change& change = changes == 0 ? all[i] : all[random.below(all.size())];
    const ir::Program other = assemble(change.sketch);
    if (ir::validate(other)) continue;  // no reader would take it
    claim_for(other, s, change.what, random, court);
    ++made;
  }
  return made;
}

/// No specimen has all-reduce stages (tests/proofs/shard_random_test.cpp has), and no change makes
/// something that no rule covers.
bool out_of_reach(const std::string& reason) {
  return reason == "misplaced access" || reason == "missing chip" ||
         reason == "double contribution" || reason == "uncovered";
}

/// Everything that can be denied was, and nearly every reason of a rejection was given.
void check_reach(const Court& court, std::size_t missing) {
  for (const std::string& denial : all_denials()) {
    CAPTURE(denial);
    CHECK(court.denials.contains(denial));
  }
  std::string never;
  std::size_t absent = 0;
  for (const std::string& reason : all_reasons()) {
    if (court.reasons.contains(reason) || out_of_reach(reason)) continue;
    never += " " + reason;
    ++absent;
  }
  CAPTURE(never);
  CHECK(absent <= missing);
}

}  // namespace

TEST_CASE("random forgeries are denied, or true") {
  Court court;
  Random random(20'240'601);
  std::uint64_t taken = 0;
  std::uint64_t by_order = 0;
  std::uint64_t programs = 0;
  for (std::uint64_t seed = 1; taken < specimens() && court.in_order(); ++seed) {
    auto s = specimen(seed);
    if (!s) continue;
    // Half of them at least with places by known order: those are what can be claimed.
    if (s->certificate.justified.empty() && by_order * 2 < taken) continue;
    ++taken;
    by_order += s->certificate.justified.empty() ? 0 : 1;
    forge_certificate(*s, random, court);
    programs += forge_program(*s, 12, random, court);
  }
  MESSAGE(fmt::format("{} certificates, {} of them with places by known order; {} other programs\n",
                      taken, by_order, programs)
          << court.text());
  count("forgeries", court.forgeries);
  CHECK(by_order * 2 >= taken);
  CHECK(court.forgeries >= 1'000);
  CHECK(court.about_false * 4 >= court.forgeries);
  CHECK(court.accepted > 0);
  CHECK(court.too_large * 100 <= court.accepted);
  CHECK(court.unencodable > 0);
  check_reach(court, 1);
}

TEST_CASE("every change of programs that are certified, one by one") {
  Court court;
  Random random(7);
  std::uint64_t programs = 0;
  for (const Specimen& s : named_specimens()) {
    CAPTURE(s.name);
    programs += forge_program(s, 0, random, court);
  }
  MESSAGE(fmt::format("{} other programs\n", programs) << court.text());
  count("forgeries", court.forgeries);
  CHECK(court.about_false * 4 >= court.forgeries);
  check_reach(court, 0);
}

/// Beyond what the search finds: whatever the check of places lets pass holds in every schedule.
TEST_CASE("as many places as pass, claimed for tangled programs") {
  Court court;
  Random random(11);
  std::uint64_t places = 0;
  for (std::uint64_t seed = 1; seed <= specimens() * 10 && court.in_order(); ++seed) {
    const Sample sample = seed % 2 == 0 ? generate_wild(seed) : generate(seed);
    if (conceivable_places(sample.program).empty()) continue;
    const auto most = most_places(sample.program, random, 40);
    Oracle oracle(sample.program);
    const std::string untrue = oracle.untrue(most);
    if (!untrue.empty())
      FAIL_CHECK("seed " << seed << ": " << untrue << "\n" << listing(sample.program));
    places += most.size();
    court.open(sample.program);
    court.judge(best_claim(sample.program, most), "most places");
  }
  MESSAGE(fmt::format("{} places let pass\n", places) << court.text());
  count("forgeries", court.forgeries);
  count("places let pass", places);
  CHECK(places >= 1'000);
}

}  // namespace spatialcert::tests
