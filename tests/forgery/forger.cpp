#include "tests/forgery/forger.hpp"

#include <algorithm>
#include <cstdlib>

#include "ir/validate.hpp"
#include "tests/forgery/changes.hpp"
#include "tests/forgery/claims.hpp"

namespace spatialcert::tests {
namespace {

std::uint32_t transitions(const ir::Program& program) {
  const auto unrolled = ir::unroll(program, 1, 100'000);
  const auto* one = std::get_if<ir::Unrolled>(&unrolled);
  return one == nullptr ? 100'000 : one->transitions();
}

}  // namespace

std::uint64_t specimens() {
  const char* const wanted = std::getenv("SPATIALCERT_LONG");
  return wanted == nullptr ? 150
                           : std::max<std::uint64_t>(4'000, std::strtoull(wanted, nullptr, 10));
}

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

}  // namespace spatialcert::tests
