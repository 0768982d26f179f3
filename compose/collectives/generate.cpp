#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "compose/collectives/algorithms.hpp"
#include "compose/collectives/collectives.hpp"
#include "compose/collectives/faults.hpp"
#include "ir/require.hpp"

namespace spatialcert::compose {
namespace {

constexpr std::uint32_t kMostRanks = 256;

ir::Refusal refuse(std::string path, std::string expected, std::string found) {
  return {"", 0, std::move(path), std::move(expected), std::move(found)};
}

const SupportedPair* find_pair(const CollectiveOptions& options) {
  const auto& pairs = supported_pairs();
  const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const SupportedPair& pair) {
    return pair.algorithm == options.algorithm && pair.collective == options.collective;
  });
  return found == pairs.end() ? nullptr : &*found;
}

ir::Refusal unsupported_pair(const CollectiveOptions& options) {
  std::string all;
  for (const auto& pair : supported_pairs()) {
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", to_string(pair.algorithm),
                       to_string(pair.collective));
  }
  return refuse("collective and op", "one of: " + all,
                fmt::format("{} {}", to_string(options.algorithm), to_string(options.collective)));
}

ir::Status check_ranks(const CollectiveOptions& options, const SupportedPair& pair) {
  const bool powers_only = options.algorithm == Algorithm::recursive_doubling &&
                           options.collective != Collective::allreduce;
  if (options.ranks < 2 || options.ranks > kMostRanks ||
      (powers_only && !std::has_single_bit(options.ranks))) {
    return refuse("ranks", pair.ranks, fmt::format("{}", options.ranks));
  }
  if (options.algorithm == Algorithm::hierarchical &&
      (options.ranks_per_node == 0 || options.ranks % options.ranks_per_node != 0)) {
    return refuse("ranks per node", fmt::format("a divisor of the {} ranks", options.ranks),
                  fmt::format("{}", options.ranks_per_node));
  }
  return std::nullopt;
}

ir::Status check(const CollectiveOptions& options) {
  const auto* pair = find_pair(options);
  if (pair == nullptr) {
    return unsupported_pair(options);
  }
  if (auto refusal = check_ranks(options, *pair)) {
    return refusal;
  }
  if (options.protocol != "Simple" && options.protocol != "LL" && options.protocol != "LL128") {
    return refuse("protocol", "Simple, LL or LL128", options.protocol);
  }
  if (options.fault != Fault::none &&
      std::find(pair->faults.begin(), pair->faults.end(), options.fault) == pair->faults.end()) {
    std::string all = "none";
    for (const auto fault : pair->faults) {
      all += fmt::format(", {}", to_string(fault));
    }
    return refuse("fault", "one of: " + all, std::string(to_string(options.fault)));
  }
  return std::nullopt;
}

CollectiveProgram build(const CollectiveOptions& options) {
  const Plan plan{options.collective,     options.ranks,
                  options.ranks_per_node, options.protocol == "Simple" ? 2U : 8U,
                  options.in_place,       options.fault == Fault::send_first};
  switch (options.algorithm) {
    case Algorithm::ring:
      return build_ring(plan);
    case Algorithm::allpairs:
      return build_allpairs(plan);
    case Algorithm::recursive_doubling:
      return build_recursive_doubling(plan);
    case Algorithm::tree:
      return build_tree(plan);
    case Algorithm::hierarchical:
      return build_hierarchical(plan);
  }
  SPATIALCERT_REQUIRE(false, "algorithm without a builder");
  return {};
}

ir::Refusal no_place(const CollectiveOptions& options) {
  return refuse(
      "fault",
      fmt::format("a program with a place for the fault {}; more ranks or the other placement "
                  "may have one",
                  to_string(options.fault)),
      fmt::format("{} {} of {} ranks {}", to_string(options.algorithm),
                  to_string(options.collective), options.ranks,
                  options.in_place ? "in place" : "out of place"));
}

}  // namespace

ir::Result<std::string> generate_collective(const CollectiveOptions& options) {
  if (auto refusal = check(options)) {
    return *std::move(refusal);
  }
  auto program = build(options);
  if (!edit_steps(program, options.fault, options.collective)) {
    return no_place(options);
  }
  for (auto& rank : program.ranks) {
    add_dependencies(rank);
  }
  if (!edit_waits(program, options.fault)) {
    return no_place(options);
  }
  return print_msccl(program, options);
}

}  // namespace spatialcert::compose
