// From a well-formed algorithm to the program of one variant.
#pragma once

#include "ir/import/layout.hpp"
#include "ir/program.hpp"
#include "ir/result.hpp"

namespace spatialcert::ir::msccl {

/// Builds the program; linear in its ops. Refused: an aliasing that does not fit, more than
/// `kUnrollLimit` ops, more than `kMaximumTerms` terms of postconditions.
[[nodiscard]] Result<Program> lower(const Source& source, const Shape& shape);

/// Every rank's result speaks of every rank.
inline constexpr std::uint64_t kMaximumTerms = std::uint64_t{1} << 22;

}  // namespace spatialcert::ir::msccl
