#include "ir/counters.hpp"

namespace spatialcert::ir {

Counters::Counters(const Program& program) : fifo_(program.buffers.size(), 0xffffffffU) {
  all_.reserve(program.semaphores.size() + 2 * program.buffers.size());
  for (std::uint32_t s = 0; s < program.semaphores.size(); ++s) {
    all_.push_back({CounterKind::semaphore, s, program.semaphores[s].initial});
  }
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.kind != BufferKind::fifo) continue;
    fifo_[b] = size();
    all_.push_back({CounterKind::filled, b, 0});
    all_.push_back({CounterKind::free, b, static_cast<std::int64_t>(buffer.pages)});
  }
}

}  // namespace spatialcert::ir
