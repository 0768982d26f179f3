// liveness: every op is performed; in a `persistent` program, again and again.
//
// Premises: every blocking test is exact, so the net is the token game; there is a potential r on
// the transitions of one iteration with r(u) < r(v) for every token-free place u -> v, program
// order included. Conclusion: no engine program waits for ever.
//
// Why: a marked graph is live iff every cycle holds a token [Commoner, Holt, Even, Pnueli 1971,
// theorem 1]; a potential that grows along token-free places leaves no token-free cycle. A `once`
// program is the case without any token: the potential is a schedule.
//
// Refuted by a cycle of justified token-free places (none of its ops can be first), or by a test
// whose demand no schedule supplies; either way a schedule is replayed that ends where nobody can
// step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proofs/rules.hpp"

namespace spatialcert::smt {
struct Session;
}

namespace spatialcert::proofs::liveness {

struct Witness {
  std::vector<std::int64_t> potential;  ///< per transition of one iteration
};

struct Found {
  Search<Witness> search;
  std::string strategy;  ///< how Z3 was asked: one query, or how many blocks
};

[[nodiscard]] Found prove(const Subject& subject, smt::Session& session);
[[nodiscard]] Check check(const Subject& subject, const Witness& witness);

}  // namespace spatialcert::proofs::liveness
