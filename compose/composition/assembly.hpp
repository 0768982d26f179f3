// The program that checked sections make, section after section. Throws Refused.
#pragma once

#include <vector>

#include "compose/composition/composer.hpp"

namespace spatialcert::compose {

/// `sections` are in source order and have passed check_sections; `phases` names each of them once;
/// `offsets` fit the mesh. Linear in the sections and the ops that are written, up to sorting.
[[nodiscard]] Composed assemble(const std::vector<ir::Program>& sections, const PhaseOrder& phases,
                                const std::vector<Offset>& offsets, const ComposeOptions& options);

/// Takes the value out, or throws the refusal on.
template <typename T>
[[nodiscard]] T take(Outcome<T> outcome) {
  if (auto* refused = std::get_if<Refused>(&outcome)) throw std::move(*refused);
  return std::move(std::get<T>(outcome));
}

}  // namespace spatialcert::compose
