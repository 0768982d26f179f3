// The requests that the tests go through.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compose/collectives/collectives.hpp"

namespace spatialcert::test {

inline std::vector<std::uint32_t> tested_ranks() {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t n = 2; n <= 17; ++n) {
    ranks.push_back(n);
  }
  ranks.insert(ranks.end(), {32, 64});
  return ranks;
}

inline std::string describe(const compose::CollectiveOptions& options) {
  return fmt::format("{} {} {} ranks ({} per node) {} {} fault {}", to_string(options.algorithm),
                     to_string(options.collective), options.ranks, options.ranks_per_node,
                     options.protocol, options.in_place ? "in place" : "out of place",
                     to_string(options.fault));
}

inline bool takes(const compose::SupportedPair& pair, std::uint32_t ranks) {
  return pair.ranks.find("power of two") == std::string::npos || (ranks & (ranks - 1)) == 0;
}

/// Every supported pair at `ranks` ranks, every node size, both placements, a shallow and a deep
/// protocol.
inline void for_each_case(std::uint32_t ranks,
                          const std::function<void(const compose::CollectiveOptions&)>& visit) {
  for (const auto& pair : compose::supported_pairs()) {
    if (!takes(pair, ranks)) {
      continue;
    }
    const bool nodes = pair.algorithm == compose::Algorithm::hierarchical;
    for (std::uint32_t per_node = 1; per_node <= (nodes ? ranks : 1); ++per_node) {
      if (ranks % per_node != 0) {
        continue;
      }
      for (const char* protocol : {"Simple", "LL"}) {
        for (const bool in_place : {false, true}) {
          compose::CollectiveOptions options;
          options.algorithm = pair.algorithm;
          options.collective = pair.collective;
          options.ranks = ranks;
          options.ranks_per_node = per_node;
          options.protocol = protocol;
          options.in_place = in_place;
          visit(options);
        }
      }
    }
  }
}

}  // namespace spatialcert::test
