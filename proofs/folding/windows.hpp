// The open pages at both ends of every FIFO, segment by segment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/folding.hpp"
#include "proofs/folding/segments.hpp"

namespace spatialcert::proofs::folding {

class FifoWindows {
 public:
  FifoWindows(const ir::Program& program, const ir::Unrolled& stretch);

  /// Largest window at the producing end of the FIFO plus the largest at its consuming end, pages.
  [[nodiscard]] std::int64_t widest(std::uint32_t buffer) const {
    constexpr std::int64_t kMost = std::int64_t{1} << 61;  // no net is exact beyond it
    return std::min(widest_back_[buffer], kMost) + std::min(widest_front_[buffer], kMost);
  }
  /// A group one of whose loops has other windows at the start of some segment >= early[group] than
  /// one segment later. `one`: what the segments number.
  [[nodiscard]] std::optional<std::uint32_t> changing(const Segments& segments,
                                                      const ir::Folding& folding,
                                                      const ir::Unrolled& one,
                                                      const std::vector<std::int64_t>& early) const;

 private:
  const ir::Program& program_;
  const ir::Unrolled& stretch_;
  std::vector<std::int64_t> widest_back_, widest_front_;  // by buffer
};

}  // namespace spatialcert::proofs::folding
