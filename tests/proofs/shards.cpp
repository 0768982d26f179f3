#include "tests/proofs/shards.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace spatialcert::tests::shards {

using namespace proofs;
using namespace proofs::shard;
using Reason = Rejected::Reason;

Draft sharded(const std::string& name, int chips, bool crossing) {
  Draft d(name);
  d.member("target",
           fmt::format(R"({{"name": "tile", "engines": ["load", "compute", "store", "move"],
      "chips": {}, "spaces": [{{"name": "sram", "bytes": 4096, "alignment": 4}}],
      "semaphores": {{"per_site": 16, "maximum": 31}},
      "handoffs": [{{"name": "wire", "crosses_chips": {}}}]}})",
                       chips, crossing));
  d.stage("all", "add", R"("kind": "allreduce")");
  return d;
}

std::string owned(int chip) { return fmt::format(R"("owner": {})", chip); }
std::string on(int chip) { return fmt::format(R"("site": [{}, 0, 0])", chip); }

Draft& weights(Draft& d, int chips) {
  for (int c = 0; c < chips; ++c) d.tensor(fmt::format("w{}", c), "external", 4, "f32", owned(c));
  return d.tensor("y");
}

Draft gathered(const std::string& name, int chips, const std::vector<std::string>& ops) {
  Draft d = sharded(name, chips);
  weights(d, chips);
  std::vector<std::string> root, all = ops;
  for (int c = 1; c < chips; ++c) {
    const std::string q = fmt::format("q{}", c);
    d.fifo(q, 1, R"("handoff": "wire")");
    d.engine(fmt::format("{}:load", c),
             {"reserve " + q, fmt::format("run load w{} > {}", c, q), "push " + q});
    root.push_back("front " + q);
    all.push_back("pop " + q);
  }
  root.insert(root.end(), all.begin(), all.end());
  return d.engine("compute", root);
}

Search<Witness> found(Fixture& f) { return prove(f.subject, f.session); }
std::string checked(const Fixture& f, Witness witness) {
  return outcome(check(f.subject, witness));
}

void proves(const Draft& draft, Witness expected) {
  CAPTURE(draft.name());
  Fixture f(draft);
  const auto answer = found(f);
  REQUIRE(outcome(answer) == "proved");
  const Witness witness = tests::witness(answer);
  CHECK(witness.first == expected.first);
  CHECK(witness.rounds == expected.rounds);
  CHECK(checked(f, witness) == "accepted");
}

Counterexample refutes(const Draft& draft, const std::string& kind, Reason reason) {
  CAPTURE(draft.name());
  Fixture f(draft);
  const auto answer = found(f);
  REQUIRE(outcome(answer) == "refuted: " + kind);
  CHECK(replayed(f.program, counterexample(answer)) == "reproduced");
  CHECK(checked(f, {0, kMostRounds}) == rejected(reason));
  return tests::counterexample(answer);
}

void leaks(const Draft& d) { refutes(d, "leak", Reason::leak); }
void misses(const Draft& d) { refutes(d, "missing-chip", Reason::missing_chip); }
void doubles(const Draft& d) { refutes(d, "double-contribution", Reason::double_contribution); }
void stands_wrong(const Draft& d) { refutes(d, "leak", Reason::misplaced_access); }

std::string times(const Counterexample& c) {
  std::string out;
  for (const TermDifference& term : c.terms)
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", term.source, term.found);
  return out;
}

}  // namespace spatialcert::tests::shards
