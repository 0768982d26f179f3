// Asking Z3 whether two ops can happen the wrong way round. Untrusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proofs/cuts.hpp"
#include "proofs/executed.hpp"
#include "proofs/ordering/rule.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs {

/// `first` is claimed to come before `last` in every schedule; `reach` says how much of the net a
/// query about it has to speak of.
using OrderedPair = ordering::ExaminedPair;

/// "In some reachable state `last` is done and `first` is not", within their positions.
[[nodiscard]] smt::Answer ask_reversal(const Subject& subject,
                                       const std::vector<std::uint32_t>& position,
                                       smt::Session& session, const OrderedPair& pair);

/// Has Z3 refute every reversal ("for some pair of a group, `last` is done and `first` is not",
/// within the positions from the earliest to the latest of them), in groups by window, reach, site
/// and position. Nothing if all are impossible, otherwise why it could not be decided. A reversal
/// that Z3 finds possible is a fault of ours, because a path was found. Pairs of different windows
/// are not asked about: that they are in order was shown of the boundary between them.
[[nodiscard]] std::optional<std::string> refute_reversals(
    const Subject& subject, const std::vector<std::uint32_t>& position, smt::Session& session,
    const Cuts& cuts, const std::vector<OrderedPair>& pairs);

/// The same for lists of pairs of one reach that lie close together: in groups as they come.
[[nodiscard]] std::optional<std::string> refute_near(
    const Subject& subject, const std::vector<std::uint32_t>& position, smt::Session& session,
    const std::vector<std::vector<OrderedPair>>& lists);

[[nodiscard]] std::vector<std::uint32_t> all_programs(const Subject& subject);

}  // namespace spatialcert::proofs
