// Asking Z3 whether two ops can happen the wrong way round. Untrusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proofs/executed.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs {

/// `first` is claimed to come before `last` in every schedule. `local`: already because of the
/// places between engine programs of its site, so that the query need not speak of others.
struct OrderedPair {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool local = false;
};

/// "In some reachable state, for some of `pairs`, `last` is done and `first` is not", within the
/// positions from the earliest to the latest of them.
[[nodiscard]] smt::Answer ask_reversal(const Subject& subject,
                                       const std::vector<std::uint32_t>& position,
                                       smt::Session& session,
                                       const std::vector<std::uint32_t>& programs,
                                       const OrderedPair* pairs, std::size_t count);

/// Has Z3 refute every reversal, in groups by site and position. Nothing if all are impossible,
/// otherwise why it could not be decided. A reversal that Z3 finds possible is a fault of ours,
/// because a path was found.
[[nodiscard]] std::optional<std::string> refute_reversals(
    const Subject& subject, const std::vector<std::uint32_t>& position, smt::Session& session,
    const std::vector<OrderedPair>& pairs);

[[nodiscard]] std::vector<std::uint32_t> all_programs(const Subject& subject);

}  // namespace spatialcert::proofs
