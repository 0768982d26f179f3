// flow: every location that is read was written before or has declared contents, and the write that
// a read sees belongs to a declared producer.
//
// Premises: `ordering` and `liveness`, so that which write a read sees is the same in every
// schedule; along one linear extension, every segment read has an earlier write or an init; where
// edges are declared for (buffer, consumer stage), the writer's stage is one of their producers,
// within a section. Conclusion: no schedule reads undefined contents, and no read sees another
// stage's value.
//
// Z3 is asked for a reachable state in which a read was performed and the write it needs was not,
// unless `ordering` has already shown that there is none.
// Reads for which no edge is declared are checked for definedness only; the report counts them.
#pragma once

#include <cstdint>
#include <vector>

#include "proofs/ordering/rule.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::smt {
struct Session;
}
namespace spatialcert::proofs {
struct Cuts;
}

namespace spatialcert::proofs::flow {

/// All facts are recomputed along a linear extension.
struct Witness {};

/// A read whose source is not right.
struct BadRead {
  Rejected::Reason reason = Rejected::Reason::undefined_read;
  std::uint32_t read = 0;  ///< index into AccessMap::accesses
  std::uint32_t segment = 0;
  std::uint32_t writer = ordering::kNoAccess;
};

struct Sources {
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      needed;                    ///< (writer, reader) transitions, other programs
  std::optional<BadRead> bad;    ///< the first in the order of the extension
  std::uint64_t reads = 0;       ///< segments read
  std::uint64_t undeclared = 0;  ///< of them, without a declared edge
};
[[nodiscard]] Sources sources(const Subject& subject, const std::vector<std::uint32_t>& position);

struct Found {
  Search<Witness> search;
  std::uint64_t undeclared = 0;
};
[[nodiscard]] Found prove(const Subject& subject, const std::vector<std::uint32_t>& position,
                          const std::vector<ordering::ExaminedPair>& ordered,
                          smt::Session& session);
[[nodiscard]] Found prove(const Subject& subject, const std::vector<std::uint32_t>& position,
                          const std::vector<ordering::ExaminedPair>& ordered, smt::Session& session,
                          const Cuts& cuts);
[[nodiscard]] Check check(const Subject& subject, const Witness& witness);

}  // namespace spatialcert::proofs::flow
