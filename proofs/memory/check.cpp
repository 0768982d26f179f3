#include <algorithm>

#include "proofs/memory/rule.hpp"

namespace spatialcert::proofs::memory {

Check check(const Subject& subject, const Witness& witness) {
  const ir::Program& program = *subject.program;
  const auto all = occupancies(program);
  if (witness.order.size() != all.size())
    return Rejected{Rejected::Reason::wrong_size, "one order per occupancy"};
  std::uint64_t obligations = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& order = witness.order[i];
    // The witness must name exactly the buffers that live there.
    auto sorted = order;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != all[i].buffers)
      return Rejected{Rejected::Reason::missing_obligation, "a buffer of an occupancy"};
    for (std::size_t k = 0; k < order.size(); ++k) {
      const ir::Buffer& buffer = program.buffers[order[k].value()];
      const ir::MemorySpace& space = program.target.spaces[buffer.space.value()];
      std::uint64_t end = 0;
      if (__builtin_add_overflow(buffer.address, buffer.bytes(), &end) || end > space.bytes) {
        return Rejected{Rejected::Reason::out_of_range, buffer.name};
      }
      if (buffer.address % space.alignment != 0)
        return Rejected{Rejected::Reason::misaligned, buffer.name};
      ++obligations;
      if (k + 1 == order.size()) continue;
      const ir::Buffer& next = program.buffers[order[k + 1].value()];
      if (next.address < buffer.address) return Rejected{Rejected::Reason::not_sorted, next.name};
      if (next.address < end) return Rejected{Rejected::Reason::overlapping, next.name};
    }
  }
  return Accepted{obligations};
}

}  // namespace spatialcert::proofs::memory
