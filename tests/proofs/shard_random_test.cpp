// `shard` against its oracle on random programs of several chips, both ways: what stores a chip's
// own data is refuted, and everything else is proved and accepted.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "proofs/shard/labels.hpp"
#include "proofs/shard/rule.hpp"
#include "tests/counts.hpp"
#include "tests/oracle/shares.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/sharded.hpp"

namespace spatialcert::tests {
namespace {

namespace shard = proofs::shard;

/// Rounds that the oracle plays: more than the labels of these programs take to recur.
constexpr std::uint32_t kRounds = 16;

std::uint64_t samples() { return std::getenv("SPATIALCERT_LONG") != nullptr ? 50'000 : 1'500; }

struct Tally {
  std::uint64_t proved = 0, misplaced = 0, later_tokens = 0, several_rounds = 0, wrapped = 0;
  std::map<std::string, std::uint64_t> refuted;
};

void judge(const Draft& draft, std::uint64_t seed, Tally& tally) {
  Fixture f(draft);
  INFO(draft.json());
  REQUIRE(f.subject.net.exact());
  const ShareFindings oracle = shares(f.program, kRounds, seed);
  const auto answer = shard::prove(f.subject, f.session);
  const std::string text = outcome(answer);
  const std::string most = outcome(shard::check(f.subject, {0, shard::kMostRounds}));
  if (oracle.misplaced) {
    ++tally.misplaced;
    CHECK(text == "refuted: leak");
    CHECK(most == rejected(proofs::Rejected::Reason::misplaced_access));
    return;
  }
  if (!oracle.first) {
    REQUIRE(text == "proved");
    const shard::Witness w = witness(answer);
    CHECK(w.rounds < kRounds);
    CHECK(outcome(shard::check(f.subject, w)) == "accepted");
    ++tally.proved;
    tally.several_rounds += w.rounds > 1 ? 1 : 0;
    return;
  }
  CHECK(most != "accepted");
  if (*oracle.first > 0 && !f.subject.persistent()) {
    ++tally.later_tokens;
    CHECK(text.find(fmt::format("{} tokens later", *oracle.first)) != std::string::npos);
    return;
  }
  REQUIRE(std::holds_alternative<proofs::Refuted>(answer));
  const proofs::Counterexample& c = counterexample(answer);
  CHECK(oracle.kinds.contains(c.kind));
  CHECK(c.iterations == (f.subject.persistent() ? *oracle.first + 1 : 1));
  CHECK(replayed(f.program, c) == "reproduced");
  CHECK(most == "rejected: " + std::string(c.kind == proofs::Kind::leak ? "leak"
                                           : c.kind == proofs::Kind::missing_chip
                                               ? "missing chip"
                                               : "double contribution"));
  ++tally.refuted[std::string(proofs::to_string(c.kind))];
  tally.wrapped += c.iterations > 1 ? 1 : 0;
}

TEST_CASE("shard and its oracle agree on random programs") {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= samples(); ++seed) {
    CAPTURE(seed);
    judge(sharded_program(seed), seed, tally);
  }
  MESSAGE(
      fmt::format("{} proved ({} over several rounds), {} misplaced, {} later tokens; refuted: "
                  "{} leak, {} missing-chip, {} double-contribution, {} after a wrap",
                  tally.proved, tally.several_rounds, tally.misplaced, tally.later_tokens,
                  tally.refuted["leak"], tally.refuted["missing-chip"],
                  tally.refuted["double-contribution"], tally.wrapped));
  count("programs of several chips", samples());
  // The test means nothing if the generator degenerates.
  CHECK(tally.proved * 10 > samples());
  CHECK(tally.several_rounds * 50 > samples());
  CHECK(tally.wrapped * 200 > samples());
  CHECK(tally.later_tokens > 0);
  CHECK(tally.misplaced * 100 > samples());
  for (const char* kind : {"leak", "missing-chip", "double-contribution"})
    CHECK(tally.refuted[kind] * 50 > samples());
}

}  // namespace
}  // namespace spatialcert::tests
