// Which statements may be fused into one op.
#pragma once

#include <optional>

#include "compose/parallel/manifest.hpp"
#include "compose/parallel/refusal.hpp"
#include "compose/parallel/sharding.hpp"

namespace spatialcert::compose::parallel {

/// A fused op runs on one chip, and what replaces a collective's folds is a section of its own. So
/// refused, naming two members: those that bind tensors of different owners (the spine counts as
/// one), and a fold of a collective with whatever it is fused with. Nothing if it is legal.
[[nodiscard]] std::optional<Refused> check_fusion(const SourceOp& op, const Sharding& sharding);

/// The first refusal over all statements of a valid manifest.
[[nodiscard]] std::optional<Refused> check_fusions(const Manifest& manifest);

}  // namespace spatialcert::compose::parallel
