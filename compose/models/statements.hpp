// The statements of the source that a section's work stands for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compose/parallel/manifest.hpp"
#include "compose/sections/sections.hpp"

namespace spatialcert::compose::models {

/// Tensors that the work names, what it reads first.
[[nodiscard]] std::vector<std::string> names_of(const sections::Work& work);

/// One statement, or several that are fused; `called` gives the names in the model. What is inside
/// of a fused op is called after its result.
[[nodiscard]] parallel::SourceOp statements_of(
    const sections::Work& work, const std::function<std::string(const std::string&)>& called);

}  // namespace spatialcert::compose::models
