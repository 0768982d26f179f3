// liveness: every op is performed; in a `persistent` program, again and again.
//
// Premises: every blocking test is exact, so the net is the token game; there are a period T > 0
// and a potential r on the transitions of one iteration with r(v) - r(u) + T * tokens >= 1 for
// every place u -> v, program order and the wrap-around included. Conclusion: no engine program
// waits for ever.
//
// Why: r(v) + T * i is a time at which iteration i of v can be performed: everything it waits for
// has an earlier one. So every cycle holds a token in all, and a marked graph whose cycles hold
// tokens is live [Commoner, Holt, Even, Pnueli 1971, theorem 1]; a place with negative tokens is
// one of a graph whose iterations are counted from another op. A `once` program is the case
// without any token: the potential is a schedule.
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
  std::int64_t period = 1;
};

struct Found {
  Search<Witness> search;
  std::string strategy;  ///< how Z3 was asked: one query, or how many blocks
};

[[nodiscard]] Found prove(const Subject& subject, smt::Session& session);
[[nodiscard]] Check check(const Subject& subject, const Witness& witness);

}  // namespace spatialcert::proofs::liveness
