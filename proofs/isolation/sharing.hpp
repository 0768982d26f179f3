// What sections of one phase share. Trusted; linear in ops and in the segments of accesses.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/accesses.hpp"
#include "ir/counters.hpp"
#include "ir/sections.hpp"
#include "ir/unroll.hpp"

namespace spatialcert::proofs::isolation {

/// Per section, the first section of its unit: those of one phase that declared links join.
[[nodiscard]] std::vector<std::uint32_t> units_of(const ir::Program& program,
                                                  const ir::Unrolled& one,
                                                  const ir::Phases& phases);

/// The phases that a closed boundary lies between; the same twice if there is none after it.
[[nodiscard]] std::pair<std::uint32_t, std::uint32_t> phases_beside(const ir::Program& program,
                                                                    const ir::Phases& phases,
                                                                    ir::BoundaryId boundary);

/// The unit of all boundaries: their ops run at the same time as those of the phases beside them.
inline constexpr std::uint32_t kBoundaryUnit = 0xfffffffeU;

/// A part of one unit in one phase, by phase, then engine program.
struct Part {
  std::uint32_t phase = 0;
  std::uint32_t unit = 0;
  std::uint32_t begin = 0;  ///< transitions of one iteration
  std::uint32_t end = 0;
};
[[nodiscard]] std::vector<Part> parts_of(const ir::Program& program, const ir::Unrolled& one);

/// The counter that stands for the semaphore or FIFO that an op uses.
[[nodiscard]] std::optional<ir::CounterId> counter_of(const ir::Counters& counters,
                                                      const ir::Op& op);

/// Two uses by different units of one phase of what at least one of them writes.
struct Shared {
  ir::TransitionId first;  ///< of one iteration
  ir::TransitionId second;
  std::optional<ir::CounterId> counter;  ///< otherwise a location:
  std::uint32_t first_access = 0;        ///< into AccessMap::accesses
  std::uint32_t second_access = 0;
  std::uint32_t segment = 0;
};

struct Sharing {
  std::optional<Shared> first;  ///< by transition of the second use; locations before counters
  std::uint64_t uses = 0;       ///< of locations and counters, that were compared
};

/// `accesses`: of a stretch whose first iteration is `one`.
[[nodiscard]] Sharing sharing(const ir::Program& program, const ir::Unrolled& one,
                              const ir::Unrolled& stretch, const ir::AccessMap& accesses);

}  // namespace spatialcert::proofs::isolation
