// Programs over several chips that own data, for the tests of `shard`, and what they expect of it.
#pragma once

#include <string>
#include <vector>

#include "proofs/shard/rule.hpp"
#include "tests/proofs/fixture.hpp"

namespace spatialcert::tests::shards {

/// Of `chips` chips, with a hand-off "wire" that crosses them or not.
[[nodiscard]] Draft sharded(const std::string& name, int chips = 2, bool crossing = true);
/// Members of what belongs to a chip: a tensor by its owner, a buffer by its site.
[[nodiscard]] std::string owned(int chip);
[[nodiscard]] std::string on(int chip);
/// Member of a buffer that outlives its section.
inline constexpr const char* kResident = R"("lifetime": "resident")";
/// Tensors w0, w1, ... of the chips, and y of the spine.
Draft& weights(Draft& d, int chips);
/// The data of every chip come over a FIFO to chip 0, which runs `ops` on pages q1, q2, ... and w0.
[[nodiscard]] Draft gathered(const std::string& name, int chips,
                             const std::vector<std::string>& ops);

[[nodiscard]] proofs::Search<proofs::shard::Witness> found(Fixture& f);
[[nodiscard]] std::string checked(const Fixture& f, proofs::shard::Witness witness = {});
void proves(const Draft& draft, proofs::shard::Witness expected = {0, 1});
/// Refuted as `kind` by a counterexample that replays, and rejected by the check for `reason`.
proofs::Counterexample refutes(const Draft& draft, const std::string& kind,
                               proofs::Rejected::Reason reason);
void leaks(const Draft& d);
void misses(const Draft& d);
void doubles(const Draft& d);
void stands_wrong(const Draft& d);
/// How often every chip's data were found, in the order of the counterexample.
[[nodiscard]] std::string times(const proofs::Counterexample& c);

}  // namespace spatialcert::tests::shards
