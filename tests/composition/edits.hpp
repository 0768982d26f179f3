// Changes to the ops of a composed program that keep its spans in order.
#pragma once

#include <cstdint>
#include <string>

#include "ir/program.hpp"

namespace spatialcert::tests {

/// Takes op number `position` out.
void erase_op(ir::EngineProgram& one, std::uint32_t position);
/// Puts an op before op number `position`, into the span of that op.
void insert_op(ir::EngineProgram& one, std::uint32_t position, const ir::Op& op);
/// Puts an op at the end of section number `section`'s ops, where the program has none of it in a
/// span of their own.
void append_to_section(ir::EngineProgram& one, std::uint32_t section, const ir::Op& op,
                       const ir::Program& program);
/// Moves op number `position` behind the one that follows. What crosses the end of its span belongs
/// to the other one's span from then on: a rendezvous's op gets into a section, or the reverse.
void move_behind_next(ir::EngineProgram& one, std::uint32_t position);
/// The same with the one before it.
void move_before_previous(ir::EngineProgram& one, std::uint32_t position);

/// Span of op number `position`, a top-level one.
[[nodiscard]] std::uint32_t span_of(const ir::EngineProgram& one, std::uint32_t position);

}  // namespace spatialcert::tests
