// Forgeries by the thousand: of certificates, of their bytes, and of programs behind their backs.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/counts.hpp"
#include "tests/forgery/claims.hpp"
#include "tests/forgery/forger.hpp"

namespace spatialcert::tests {
namespace {

/// No specimen has all-reduce stages or closed boundaries (those of
/// tests/forgery/composed_forgeries.cpp have), and no change makes something that no rule covers.
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
