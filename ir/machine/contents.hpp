// What tensors and buffers hold before the first op of a token.
#pragma once

#include "ir/machine/machine.hpp"
#include "ir/machine/memory.hpp"

namespace spatialcert::ir::machine {

/// Refuses inputs that name nothing external, of another shape or type, or with integers that do
/// not fit, and external buffers of which nothing says the type.
[[nodiscard]] Status check_inputs(const Program& program, const Inputs& inputs);
/// Before the first token, or (`again`) before another one. The inputs are checked.
void set_contents(const Program& program, const Inputs& inputs, bool again, Memory& memory);

}  // namespace spatialcert::ir::machine
