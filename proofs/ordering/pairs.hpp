// Neighbouring accesses per location, along one linear extension of the net.
//
// If every read is ordered after the last write before it and before the first write after it, and
// consecutive writes are ordered, then all conflicting accesses are ordered, by transitivity. So
// these are all the pairs that have to be shown. Trusted; linear in the visits of segments by
// accesses.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "proofs/subject.hpp"

namespace spatialcert::proofs::ordering {

inline constexpr std::uint32_t kNoAccess = 0xffffffffU;

class NeighbourVisitor {
 public:
  virtual ~NeighbourVisitor() = default;
  /// Access `read` (index into AccessMap::accesses) sees in `segment` what `writer` wrote;
  /// kNoAccess: the initial contents.
  virtual void on_read(std::uint32_t read, std::uint32_t segment, std::uint32_t writer) = 0;
  /// `later` writes `segment`; `earlier` is the write, or one of the reads, directly before it.
  virtual void on_write(std::uint32_t earlier, std::uint32_t later, std::uint32_t segment) = 0;
};

/// Visits every access (of the judged iterations) of every segment in the order of `position` (see
/// linear_extension); a run's reads come before its writes. `last_writer` (if not null) receives
/// the final writer of every segment.
void visit_neighbours(const Subject& subject, const std::vector<std::uint32_t>& position,
                      NeighbourVisitor& visitor, std::vector<std::uint32_t>* last_writer = nullptr);

/// Two conflicting accesses of different engine programs that must be ordered.
struct Pair {
  std::uint32_t earlier = 0;  ///< index into AccessMap::accesses
  std::uint32_t later = 0;
  std::uint32_t segment = 0;  ///< the first one they meet in
};

/// All pairs to be ordered, without repetition (one per pair of transitions), in the order of the
/// transitions.
[[nodiscard]] std::vector<Pair> conflicting_pairs(const Subject& subject,
                                                  const std::vector<std::uint32_t>& position);

/// The buffer whose bytes an access (index into Program::accesses) means, that of a view being its
/// base; nothing if it means a tensor's elements.
[[nodiscard]] std::optional<std::uint32_t> base_buffer(const ir::Program& program,
                                                       std::uint32_t access);

/// The first two conflicting accesses, of whatever engine programs, that come in the order given
/// but belong to sections of the other order: iteration by iteration, that of the source (DESIGN
/// 13.5). A program of one section has no such order. Nor have accesses to different buffers that
/// use the same bytes at different times: no value passes between them (`memory` and `flow` see to
/// that), so it matters only that they are in order.
[[nodiscard]] std::optional<Pair> against_sections(const Subject& subject,
                                                   const std::vector<std::uint32_t>& position);

}  // namespace spatialcert::proofs::ordering
