// The programs that are measured: three families, each in sizes named by their approximate number
// of ops.
#pragma once

#include <cstdint>
#include <string>

#include "ir/program.hpp"

namespace spatialcert::bench {

/// `ring`: an all-reduce as `generate` writes it, many engine programs and FIFOs. `pipeline`: load,
/// compute and store of one site, tile after tile through two FIFOs; few engine programs, long
/// ones. `composed`: sections of four chains on four chips, in phases of four with a rendezvous
/// after each.
enum class Family : std::uint8_t { ring, pipeline, composed };

[[nodiscard]] ir::Program make(Family family, std::uint64_t ops);

struct Sample {
  ir::Program program;
  std::string path;  ///< a file that holds it, removed when the process ends
  std::uint64_t bytes = 0;
};

/// Made when first asked for, then kept.
[[nodiscard]] const Sample& sample(Family family, std::int64_t ops);

}  // namespace spatialcert::bench
