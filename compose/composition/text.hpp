// How messages of the composer name things.
#pragma once

#include <string>

#include "ir/program.hpp"

namespace spatialcert::compose {

/// `[chip,x,y]`, as in program files.
[[nodiscard]] std::string text_of(const ir::Site& site);

}  // namespace spatialcert::compose
