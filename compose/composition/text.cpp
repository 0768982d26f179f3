#include "compose/composition/text.hpp"

#include <fmt/format.h>

namespace spatialcert::compose {

std::string text_of(const ir::Site& site) {
  return fmt::format("[{},{},{}]", site.chip, site.x, site.y);
}

}  // namespace spatialcert::compose
