// What every section must be before sections are looked at together. Throws Refused.
#pragma once

#include <vector>

#include "compose/composition/composer.hpp"

namespace spatialcert::compose {

/// Every section has a name of its own.
void check_section_names(const std::vector<ir::Program>& sections);

void check_sections(const std::vector<ir::Program>& sections, const ComposeOptions& options);

}  // namespace spatialcert::compose
