#include "compose/sections/unused.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace spatialcert::compose::sections {
namespace {

bool is_semaphore_op(const ir::Op& op) {
  return op.code == ir::OpCode::wait || op.code == ir::OpCode::await || op.code == ir::OpCode::post;
}
bool is_fifo_op(const ir::Op& op) {
  return op.code == ir::OpCode::reserve || op.code == ir::OpCode::push ||
         op.code == ir::OpCode::front || op.code == ir::OpCode::pop;
}

/// Keeps the items that are used; new numbers by old ones.
template <typename Items>
std::vector<std::uint32_t> compact(Items& items, const std::vector<char>& used) {
  std::vector<std::uint32_t> number(items.size(), 0);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    number[i] = next;
    if (used[i] == 0) continue;
    if (next != i) items[next] = std::move(items[i]);
    ++next;
  }
  items.resize(next);
  return number;
}

}  // namespace

void leave_out_unused(ir::Program& section) {
  std::vector<char> buffers(section.buffers.size(), 0), semaphores(section.semaphores.size(), 0);
  for (const ir::EngineProgram& one : section.programs) {
    for (const ir::Op& op : one.ops) {
      if (is_semaphore_op(op)) semaphores[op.object] = 1;
      if (is_fifo_op(op)) buffers[op.object] = 1;
    }
  }
  for (const ir::Access& access : section.accesses) {
    if (access.region.kind != ir::RegionKind::tensor) buffers[access.region.object] = 1;
  }
  std::erase_if(section.edges, [&](const ir::Edge& e) { return buffers[e.buffer.value()] == 0; });
  const auto buffer = compact(section.buffers, buffers);
  const auto semaphore = compact(section.semaphores, semaphores);
  for (ir::Edge& edge : section.edges) edge.buffer = ir::BufferId(buffer[edge.buffer.value()]);
  for (ir::Access& access : section.accesses) {
    if (access.region.kind != ir::RegionKind::tensor)
      access.region.object = buffer[access.region.object];
  }
  for (ir::EngineProgram& one : section.programs) {
    for (ir::Op& op : one.ops) {
      if (is_semaphore_op(op)) op.object = semaphore[op.object];
      if (is_fifo_op(op)) op.object = buffer[op.object];
    }
  }
}

}  // namespace spatialcert::compose::sections
