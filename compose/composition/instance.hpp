// One section as several: under another name, bound to other tensors.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compose/composition/refusal.hpp"
#include "ir/program.hpp"

namespace spatialcert::compose {

/// Makes a section another one of the same ops: names it, and puts `name/` before the names that
/// are its own (stages, and buffers and semaphores that are neither resident nor links).
void rename_section(ir::Program& section, const std::string& name);

/// Old and new names, every old one once.
using Renamings = std::vector<std::pair<std::string, std::string>>;
/// Binds tensors of a section to other names, all at once. Refused: names that it does not have,
/// and names that two of its tensors would have; then the section is as it was.
[[nodiscard]] std::optional<Refused> rebind_tensors(ir::Program& section,
                                                    const Renamings& renamings);

}  // namespace spatialcert::compose
