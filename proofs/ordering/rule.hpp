// ordering: conflicting accesses of different engine programs are ordered, the same way in every
// schedule, and those of different sections in the order of the source.
//
// Premises: for every neighbouring pair of accesses to a location (proofs/ordering/pairs.hpp) there
// is a path in the net from the earlier to the later one. Paths use program order and justified
// places; never the credits of a FIFO of guaranteed depth, which a deeper FIFO would not give.
// Conclusion: no two schedules perform conflicting accesses in different orders.
//
// Why: a justified place is an order of every schedule, so is a path; neighbouring pairs suffice
// because order is transitive along one linear extension. Pages of one FIFO never conflict between
// different page numbers: a page is written inside the producer's window and read inside the
// consumer's. Along the same linear extension, the accesses to a location must not go back in the
// source: so what a read of another section sees is the last write before it in the source,
// however the sections were reordered.
//
// Z3 is asked for a reachable state in which the later access was performed and the earlier was
// not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proofs/ordering/pairs.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::smt {
struct Session;
}
namespace spatialcert::proofs {
struct Cuts;
}

namespace spatialcert::proofs::ordering {

/// One path per pair, in the order of conflicting_pairs: indices of places of the stretch.
struct Witness {
  std::vector<std::uint32_t> begin;  ///< path of pair i: [begin[i], begin[i + 1])
  std::vector<std::uint32_t> places;
};

/// How far one has to look to see that two ops are ordered: at one hand-off between their engine
/// programs, at the engine programs of their site, anywhere, or at the boundary between them.
enum class Reach : std::uint8_t { direct, site, anywhere, boundary };

/// Two transitions whose order was examined.
struct ExaminedPair {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  Reach reach = Reach::anywhere;
  bool shown = false;  ///< Z3 found the other order impossible
};

struct Found {
  Search<Witness> search;
  std::vector<ExaminedPair> ordered;  ///< by (first, last)
  std::string strategy;  ///< how Z3 was asked: in how many queries, about what part of the net
};

/// `position`: a linear extension of the subject.
/// `cuts`: where the program may be cut (proofs/cuts.hpp); without any it is one window.
[[nodiscard]] Found prove(const Subject& subject, const std::vector<std::uint32_t>& position,
                          smt::Session& session);
[[nodiscard]] Found prove(const Subject& subject, const std::vector<std::uint32_t>& position,
                          smt::Session& session, const Cuts& cuts);
[[nodiscard]] Check check(const Subject& subject, const Witness& witness);

}  // namespace spatialcert::proofs::ordering
