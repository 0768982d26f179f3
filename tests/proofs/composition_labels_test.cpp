// `shard`, section by section: the same verdict as on the whole, and never one that the oracle of
// shares denies.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <utility>

#include "ir/program_file.hpp"
#include "proofs/recheck/recheck.hpp"
#include "proofs/shard/rule.hpp"
#include "tests/counts.hpp"
#include "tests/oracle/generator.hpp"
#include "tests/oracle/shares.hpp"
#include "tests/proofs/compositions.hpp"

namespace spatialcert::tests::compositions {
namespace {

using certify::Verdict;
using proofs::Rule;

/// Two layers over two chips: a weight and the spine give a partial on every chip, which an
/// all-reduce adds up. `second`: what the second one reads.
Draft two_layers(const std::string& second = "p10 p11") {
  Draft d("layers");
  d.tensor("x", "external").tensor("y0").tensor("y1");
  for (std::uint32_t c = 0; c < 2; ++c) {
    for (int k = 0; k < 2; ++k) {
      d.tensor(fmt::format("w{}{}", k, c), "external", 4, "f32", owned_by(c));
      d.tensor(fmt::format("p{}{}", k, c), "undefined", 4, "f32", owned_by(c));
    }
  }
  return on_chips(d, 2,
                  {{{"run s0_a x w00 > p00"}, {"run s0_b x w01 > p01"}},
                   {{"run s1_sum p00 p01 > y0"}, {}},
                   {{"run s2_a y0 w10 > p10"}, {"run s2_b y0 w11 > p11"}},
                   {{"run s3_sum " + second + " > y1"}, {}}});
}

TEST_CASE("composition: layers over two chips, each certified once") {
  const ir::Program program = two_layers().program();
  const auto report = agreed(program);
  CHECK(report.verdict == Verdict::certified);
  REQUIRE(report.divided.has_value());
  CHECK(report.divided->classes == 2);
  REQUIRE(report.certificate->shard.has_value());
  for (const certify::RuleReport& rule : report.rules) {
    if (rule.rule != Rule::shard) continue;
    CHECK(rule.verdict == Verdict::certified);
    CHECK(rule.obligations > 0);
  }
}

TEST_CASE("composition: what leaks in one of several sections that are alike") {
  for (const char* second : {"p10 p10", "p00 p10", "p10 p01 p11"}) {
    CAPTURE(second);
    const auto report = agreed(two_layers(second).program());
    CHECK(report.verdict == Verdict::refuted);
    CHECK_FALSE(report.divided.has_value());
  }
  // Partials of an earlier layer are whole as well.
  CHECK(agreed(two_layers("p00 p11").program()).divided.has_value());
}

TEST_CASE("composition: what another chip owns is touched by copies and all-reduces only") {
  const auto reading = [](const std::string& weight) {
    Draft d("foreign");
    d.tensor("x", "external").tensor("y");
    d.tensor("w0", "external", 4, "f32", owned_by(0))
        .tensor("w1", "external", 4, "f32", owned_by(1));
    d.tensor("e", "undefined", 4, "f32", owned_by(1));
    return on_chips(d, 2,
                    {{{"run s0_a x > y"}, {"run s0_b " + weight + " > e"}},
                     {{"run s1_a y"}, {"run s1_b e"}}})
        .program();
  };
  CHECK(agreed(reading("w1")).divided.has_value());
  const auto foreign = agreed(reading("w0"));
  CHECK(foreign.verdict == Verdict::refuted);
  CHECK_FALSE(foreign.divided.has_value());
}

TEST_CASE("composition: witnesses of shard beside those of classes") {
  const ir::Program program = two_layers().program();
  const auto good = *by_sections(program).certificate;
  const auto denied = [&](const proofs::Certificate& claim) {
    const auto outcome = proofs::recheck(program, claim);
    REQUIRE(outcome.denial.has_value());
    return std::string(to_string(*outcome.denial)) + ": " + outcome.detail;
  };
  proofs::Certificate claim = good;
  claim.shard.reset();
  CHECK(denied(claim) == "missing obligation: shard: the certificate has no witness of it");
  for (const auto& [first, rounds] :
       std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1, 1}, {2, 1}, {0, 61}}) {
    claim.shard = proofs::shard::Witness{first, rounds};
    CHECK(denied(claim) == "witness rejected: shard: the rounds of the witness");
  }
  claim.shard = proofs::shard::Witness{0, 1};
  // y0 and the partials are not what they were, but nobody keeps them.
  CHECK_FALSE(proofs::recheck(program, claim).denial.has_value());
  // Where shard does not apply, there is nothing to witness.
  const ir::Program plain = chain().program();
  claim = *by_sections(plain).certificate;
  claim.shard = proofs::shard::Witness{0, 1};
  const auto outcome = proofs::recheck(plain, claim);
  REQUIRE(outcome.denial.has_value());
  CHECK(*outcome.denial == proofs::Denial::not_applicable);
}

TEST_CASE("composition: what one token leaves to the next") {
  // The state takes in chip 0's data after it has been stored: the next token stores them.
  const auto kept = [](const char* role, bool around = false) {
    Draft d("tokens");
    if (around) d.persistent();
    d.tensor("x", "external").tensor("y");
    d.tensor("w", "external", 4, "f32", owned_by(0));
    d.tensor("s", "external", 4, "f32", fmt::format(R"("owner": 1, "role": "{}")", role));
    d.tensor("t", "external", 4, "f32", fmt::format(R"("owner": 0, "role": "{}")", role));
    return on_chips(
        d, 2, {{{"run s0_sum t s > y"}, {}}, {{"run s1_a w > t"}, {"run s1_move w > s"}}}, around);
  };
  // What is carried is kept, whatever its role.
  Draft carried = kept("input");
  carried.member("carried", R"(["s", "t"])");
  const auto stays = agreed(carried.program());
  CHECK(stays.verdict != Verdict::certified);
  CHECK_FALSE(stays.divided.has_value());
  // And all tensors are, where the program wraps around.
  const auto around = agreed(kept("input", true).program());
  CHECK(around.verdict != Verdict::certified);
  CHECK_FALSE(around.divided.has_value());
  const auto begins_anew = agreed(kept("input").program());
  CHECK(begins_anew.verdict == Verdict::certified);
  CHECK(begins_anew.divided.has_value());
  // The proofs of its sections are the same, but its labels are others in the next round.
  const ir::Program state = kept("state").program();
  proofs::Certificate claim = *begins_anew.certificate;
  claim.program = ir::digest(state);
  const auto denied = [&](std::uint32_t first, std::uint32_t rounds) {
    claim.shard = proofs::shard::Witness{first, rounds};
    return proofs::recheck(state, claim).detail;
  };
  CHECK(denied(0, 1) == "shard: labels of the first and the last round");
  CHECK(denied(0, 2).starts_with("shard: section s0: "));
  CHECK(denied(1, 2).starts_with("shard: section s0: "));
  const auto goes_on = agreed(kept("state").program());
  CHECK(goes_on.verdict != Verdict::certified);
  CHECK_FALSE(goes_on.divided.has_value());
}

TEST_CASE("composition: data of parts of what a section touches") {
  // p is chip 0's in its upper half and whole in the lower one.
  Draft d("parts");
  d.tensor("x", "external").tensor("y").tensor("z");
  d.tensor("w0", "external", 4, "f32", owned_by(0)).tensor("w1", "external", 4, "f32", owned_by(1));
  d.tensor("p", "undefined", 4, "f32", owned_by(0)).tensor("q", "undefined", 4, "f32", owned_by(0));
  const auto with = [&](const char* last) {
    return on_chips(d, 2,
                    {{{"run s0_a w0[0:2] > p[0:2]"}, {}},
                     {{"run s1_sum w0[2:4] w1[2:4] > p[2:4]"}, {}},
                     {{last}, {}}});
  };
  CHECK(agreed(with("run s2_a p > q").program()).verdict == Verdict::certified);
  CHECK_FALSE(agreed(with("run s2_a p > q").program()).divided.has_value());
  CHECK(agreed(with("run s2_a p > y").program()).verdict == Verdict::refuted);
  CHECK(agreed(with("run s2_a p[2:4] > q[2:4]").program()).divided.has_value());
}

TEST_CASE("composition: a result of which one part is whole and another one is not") {
  const auto halves = [](const char* lower) {
    Draft d("blurred");
    d.tensor("x", "external").tensor("y").tensor("w1", "external", 4, "f32", owned_by(1));
    d.tensor("w0", "external", 4, "f32", owned_by(0));
    for (const char* name : {"p", "q", "t"}) d.tensor(name, "undefined", 4, "f32", owned_by(0));
    return on_chips(d, 2,
                    {{{"run s0_a w0[0:2] > p[0:2]", std::string("run s0_b ") + lower + " > p[2:4]",
                       "run s0_sum p w1 > q"},
                      {}},
                     {{"run s1_a q > t"}, {}}})
        .program();
  };
  CHECK(agreed(halves("w0[2:4]")).divided.has_value());
  const auto blurred = agreed(halves("x[2:4]"));
  CHECK(blurred.verdict == Verdict::certified);
  CHECK_FALSE(blurred.divided.has_value());
}

TEST_CASE("composition: what the host fills") {
  const auto filled = [](const char* lifetime) {
    Draft d("filled");
    d.tensor("x", "external").tensor("y").tensor("q", "undefined", 4, "f32", owned_by(0));
    d.tensor("w1", "external", 4, "f32", owned_by(1));
    d.buffer("before").buffer("kv", std::string(R"("init": "external", "lifetime": )") + lifetime);
    return on_chips(d, 2, {{{"run s0_a kv > q"}, {}}, {{"run s1_sum q w1 > y"}, {}}});
  };
  CHECK(agreed(filled("\"resident\"").program()).divided.has_value());
  // Straight to the spine.
  Draft own("own");
  own.tensor("x", "external").tensor("y").tensor("q", "undefined", 4, "f32", owned_by(0));
  own.buffer("kv", R"("init": "external")");
  CHECK(agreed(on_chips(own, 2, {{{"run s0_a kv > y"}, {}}, {{"run s1_a x > q"}, {}}}).program())
            .verdict == Verdict::refuted);
  // Half of it at least.
  Draft leaks("leaks");
  leaks.tensor("x", "external").tensor("y").tensor("q", "undefined", 4, "f32", owned_by(0));
  leaks.buffer("before").buffer("kv", R"("lifetime": "resident")");
  leaks.buffer("half",
               R"("view": {"of": "kv", "offset": 32}, "page_bytes": 32, "init": "external")");
  const auto with = [&](const char* op) {
    return on_chips(leaks, 2, {{{"run s0_a x > kv[0:32]"}, {}}, {{op}, {}}}).program();
  };
  CHECK(agreed(with("run s1_a kv[0:32] > y")).divided.has_value());
  CHECK(agreed(with("run s1_a kv[32:64] > q")).divided.has_value());
  CHECK(agreed(with("run s1_a kv[32:64] > y")).verdict == Verdict::refuted);
  const auto once = agreed(filled("\"section\"").program());
  CHECK(once.verdict == Verdict::certified);
  CHECK_FALSE(once.divided.has_value());
}

// ---- at random ----------------------------------------------------------------------------------

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed * 7919 + 3), chips_(2 + random_.below(2)) {}

  ir::Program run() {
    Draft d("random");
    d.tensor("x", "external");
    spine_ = {"x"};
    own_.resize(chips_);
    for (std::uint32_t c = 0; c < chips_; ++c) {
      const std::string name = fmt::format("w{}", c);
      const char* const role = random_.chance(30) ? "state" : "weight";
      d.tensor(name, "external", 4, "f32", fmt::format(R"("owner": {}, "role": "{}")", c, role));
      own_[c].push_back(name);
    }
    const std::uint32_t sections = 3 + random_.below(4);
    std::vector<Part> parts;
    for (std::uint32_t k = 0; k < sections; ++k) parts.push_back(section(d, k));
    return on_chips(d, chips_, parts).program();
  }

 private:
  std::string any(const std::vector<std::string>& names) {
    return names[random_.below(static_cast<std::uint32_t>(names.size()))];
  }
  std::string fresh(Draft& d, std::optional<std::uint32_t> owner) {
    const std::string name = fmt::format("t{}", made_++);
    d.tensor(name, "undefined", 4, "f32", owner ? owned_by(*owner) : "");
    return name;
  }

  Part section(Draft& d, std::uint32_t k) {
    Part part(chips_);
    if (random_.chance(40)) {
      const std::string stage = fmt::format("s{}_sum", k);
      std::string reads;
      for (std::uint32_t c = 0; c < chips_; ++c) {
        const std::uint32_t from = random_.chance(8) ? random_.below(chips_) : c;
        if (!random_.chance(4)) reads += any(own_[from]) + " ";
      }
      const bool to_spine = random_.chance(80);
      const std::string to = to_spine || random_.chance(50)
                                 ? fresh(d, to_spine ? std::nullopt : std::optional(0U))
                                 : any(own_[0]);
      part[0].push_back(fmt::format("run {} {}> {}", stage, reads, to));
      (to_spine ? spine_ : own_[0]).push_back(to);
      return part;
    }
    std::vector<std::pair<std::uint32_t, std::string>> later;
    for (std::uint32_t c = 0; c < chips_; ++c) {
      if (random_.chance(15)) continue;
      const std::string halves = random_.chance(8) ? "[0:2]" : "";
      const std::string from = any(own_[c]) + halves;
      const bool leaks = random_.chance(3);
      const std::string to = leaks                ? fresh(d, std::nullopt)
                             : random_.chance(30) ? any(own_[c])
                                                  : fresh(d, c);
      // In place only what it does not read besides.
      if (to == from) continue;
      const bool whole_spine = random_.chance(60);
      part[c].push_back(fmt::format("run s{}_c{} {}{} > {}{}", k, c, from,
                                    whole_spine && halves.empty() ? " " + any(spine_) : "", to,
                                    halves));
      if (halves.empty() && !leaks) later.emplace_back(c, to);
    }
    for (const auto& [c, to] : later) own_[c].push_back(to);
    return part;
  }

  Random random_;
  std::uint32_t chips_;
  std::uint32_t made_ = 0;
  std::vector<std::string> spine_;
  std::vector<std::vector<std::string>> own_;
};

TEST_CASE("composition: labels of random sections are those of the whole, and true") {
  std::uint64_t certified = 0, divided = 0, refuted = 0, fewer = 0;
  const char* const wanted = std::getenv("SPATIALCERT_LONG");
  const std::uint64_t programs = wanted == nullptr ? 120 : 10'000;
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    CAPTURE(seed);
    const ir::Program program = Maker(seed).run();
    const auto report = agreed(program);
    certified += report.verdict == Verdict::certified ? 1 : 0;
    divided += report.divided ? 1 : 0;
    fewer += report.divided && report.divided->classes < report.divided->sections ? 1 : 0;
    for (const certify::RuleReport& rule : report.rules)
      refuted += rule.rule == Rule::shard && rule.verdict == Verdict::refuted ? 1 : 0;
    if (!report.divided) continue;
    const ShareFindings found = shares(program, 8, seed);
    CHECK_FALSE(found.first.has_value());
    CHECK_FALSE(found.misplaced);
  }
  MESSAGE(certified << " certified, " << divided << " of them section by section, " << fewer
                    << " with a class of several; " << refuted << " refuted by shard");
  count("sharded compositions compared", programs);
  CHECK(divided * 10 > programs);
  CHECK(fewer * 50 > programs);
  CHECK(refuted * 10 > programs);
}

}  // namespace
}  // namespace spatialcert::tests::compositions
