// What a composition came to, for people: phases and their sections, rendezvous, memory.
#pragma once

#include <string>

#include "compose/composition/composer.hpp"

namespace spatialcert::compose {

/// Several lines; equal compositions give equal text.
[[nodiscard]] std::string explain(const Composed& composed);

}  // namespace spatialcert::compose
