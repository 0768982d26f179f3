// coverage: every op, access and tensor of the program occurs in some obligation, and nothing in
// the program needs a rule that does not exist.
//
// Premises: every op belongs to exactly one section or boundary; every blocking op is a test of the
// net; every access resolved to locations; the program has ops, no view of a FIFO. Conclusion: the
// verdict speaks of the whole program.
//
// Never refuted: what is not covered is not wrong, only not shown.
#pragma once

#include <string>

#include "proofs/rules.hpp"

namespace spatialcert::smt {
struct Session;
}

namespace spatialcert::proofs::coverage {

/// Op texts that each kind of obligation covers.
struct Witness {
  std::uint64_t tests = 0;     ///< wait, await, reserve, front: liveness
  std::uint64_t supplies = 0;  ///< post, push, pop: bounds and quiescence
  std::uint64_t runs = 0;      ///< ordering and flow
  std::uint64_t loops = 0;     ///< repeat: unrolled
};

[[nodiscard]] Search<Witness> prove(const Subject& subject, smt::Session& session);
[[nodiscard]] Check check(const Subject& subject, const Witness& witness);

/// The first thing that no rule covers, or nothing.
[[nodiscard]] std::optional<std::string> uncovered(const Subject& subject);

}  // namespace spatialcert::proofs::coverage
