// Leaving out what no op uses.
#pragma once

#include "ir/program.hpp"

namespace spatialcert::compose::sections {

/// Takes out the buffers and semaphores that no op uses: slots of a hand-over with fewer tiles than
/// slots, partial sums of a single product. A buffer that nobody touches counts as there at all
/// times, and would be in the way of every other section. What is left keeps its address. No views.
void leave_out_unused(ir::Program& section);

}  // namespace spatialcert::compose::sections
