// What this process has asked of operator new so far. Z3 allocates behind its back.
#pragma once

#include <cstdint>

namespace spatialcert::bench {

struct Allocations {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};
[[nodiscard]] Allocations allocations();

}  // namespace spatialcert::bench
