// Which sections of a composed program are alike. Untrusted: `divide` looks at every section.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "proofs/composition/check.hpp"

namespace spatialcert::proofs::composition {

/// Why the program is judged as a whole.
struct NoDivision {
  std::string why;
};

/// The division of the program. Nothing if a premise does not hold, or if what stands for the
/// classes has more than so many percent of the program's op texts. Linear.
[[nodiscard]] std::variant<Division, NoDivision> find(const ir::Program& program,
                                                      unsigned percent = 50);

}  // namespace spatialcert::proofs::composition
