// Collective algorithms from their textbook definitions, written as MSCCL XML.
//
// A plain clone has no collective algorithms of its own to certify; this generator makes them for
// any rank count. Every algorithm it emits is right for every message size unless a fault is asked
// for, and every fault is one of the known ways to get such a program wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/result.hpp"

namespace spatialcert::compose {

enum class Algorithm : std::uint8_t { ring, allpairs, recursive_doubling, tree, hierarchical };
enum class Collective : std::uint8_t { allreduce, allgather, reduce_scatter, alltoall };

enum class Fault : std::uint8_t {
  none,
  drop_dependency,   ///< a step no longer waits for the step whose result it uses: ordering
  dependency_cycle,  ///< two steps wait for each other: liveness
  send_first,       ///< both partners send before they receive: deadlocks only above a message size
  wrong_slot,       ///< a received chunk lands in a neighbouring slot: reduction (or ordering)
  reduce_twice,     ///< one contribution is added twice: reduction
  skip_rank,        ///< one contribution is never added / one chunk never delivered: reduction
  missing_receive,  ///< a message that nobody receives: refused
  count_mismatch,   ///< sender and receiver disagree about the chunk count: refused
  out_of_range      ///< offset plus count passes the end of a buffer: refused
};

struct CollectiveOptions {
  Algorithm algorithm = Algorithm::ring;
  Collective collective = Collective::allreduce;
  std::uint32_t ranks = 8;
  std::uint32_t ranks_per_node = 8;  ///< hierarchical only; divides `ranks`
  std::string protocol = "Simple";   ///< Simple, LL, LL128
  bool in_place = false;
  Fault fault = Fault::none;
};

/// A pair of algorithm and collective that is supported, with the rank counts it takes. A fault of
/// the list can still have no place in a small program or in one of the placements: then
/// `generate_collective` refuses it. docs/collectives.md says where each fault strikes and which
/// requests have no place for it.
struct SupportedPair {
  Algorithm algorithm;
  Collective collective;
  std::string ranks;          ///< in words, e.g. "a power of two, 2 to 256"
  std::vector<Fault> faults;  ///< that exist for this pair
};
[[nodiscard]] const std::vector<SupportedPair>& supported_pairs();

/// The XML text, or a refusal that says what is supported (`expected`) and what was asked
/// (`found`).
[[nodiscard]] ir::Result<std::string> generate_collective(const CollectiveOptions& options);

/// Names are lower case with hyphens; parsing takes underscores for hyphens.
[[nodiscard]] std::string_view to_string(Algorithm);
[[nodiscard]] std::string_view to_string(Collective);
[[nodiscard]] std::string_view to_string(Fault);
[[nodiscard]] std::optional<Algorithm> parse_algorithm(std::string_view);
[[nodiscard]] std::optional<Collective> parse_collective(std::string_view);
[[nodiscard]] std::optional<Fault> parse_fault(std::string_view);

}  // namespace spatialcert::compose
