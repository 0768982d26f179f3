// Where slices do not tile their full tensor, or parts do not belong together. Trusted.
#pragma once

#include <optional>

#include "proofs/counterexample.hpp"

namespace spatialcert::proofs::slices {

/// Length of the axis that is cut.
[[nodiscard]] std::uint64_t length_of(const ir::SlicedTensor& sliced);

/// The first index of the axis that is in too few parts (`gap`), or in too many or twice in one
/// (`overlap`).
[[nodiscard]] std::optional<Counterexample> untiled(const ir::Program& program,
                                                    std::uint32_t sliced);
/// The first two parts of one dimension that are not on one chip, or not cut alike (`mismatch`).
[[nodiscard]] std::optional<Counterexample> mismatched(const ir::Program& program);

/// Is it one? Looks at what it names only.
[[nodiscard]] ReplayResult recompute(const ir::Program& program, const Counterexample& c);

}  // namespace spatialcert::proofs::slices
