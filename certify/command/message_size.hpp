// The message size above which an imported algorithm deadlocks.
#pragma once

#include <optional>

#include "certify/command/import_options.hpp"
#include "certify/report.hpp"

namespace spatialcert::command {

/// For a foreign file whose program is live with one transfer per step and not live with one
/// transfer per chunk: the least number of chunks per transfer at which it still finishes, by
/// binary search, because fewer transfers can only need less room. Nothing if that cannot be told.
[[nodiscard]] std::optional<certify::SizeLimit> find_size_limit(const LoadedFile& file,
                                                                ir::MscclPlacement placement,
                                                                ir::MscclRuntime runtime);

}  // namespace spatialcert::command
