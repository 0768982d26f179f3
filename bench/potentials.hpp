// What certifying is compared with: the liveness of the whole net as one query, in the logic that
// suits it best.
#pragma once

#include <string>

#include "ir/program.hpp"

namespace spatialcert::bench {

struct Potentials {
  double seconds = 0;  ///< CPU time of the solver alone
  std::string answer;  ///< `found`, `none`, or why there is no answer
};

/// A number per op instance that grows along program order and token-free places, asked of Z3's
/// difference logic for the whole net at once.
[[nodiscard]] Potentials potentials_by_one_query(const ir::Program& program);

}  // namespace spatialcert::bench
