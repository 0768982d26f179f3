// What is known to have lowered a semaphore before it is raised, within the segments of a group.
#pragma once

#include <cstdint>
#include <vector>

#include "proofs/folding/segments.hpp"
#include "proofs/subject.hpp"

namespace spatialcert::proofs::folding {

class BackPressure {
 public:
  BackPressure(const Subject& subject, const Segments& segments);

  /// Does the first op of `raiser` in segment `last` of the instance that raises the counter come
  /// after the first one of `lowerer` in segment `first` that lowers it, on a path through segments
  /// from `first` on? False also where looking would take too long.
  [[nodiscard]] bool holds(std::uint32_t instance, ir::CounterId counter, std::uint32_t raiser,
                           std::uint32_t lowerer, std::uint32_t first, std::uint32_t last);

 private:
  /// First transition of the engine program in that segment that raises (lowers) the counter.
  [[nodiscard]] std::uint32_t first_change(std::uint32_t instance, ir::CounterId counter,
                                           std::uint32_t program, std::uint32_t segment,
                                           bool raises) const;
  /// [begin, end) of the instance's transitions in one engine program.
  struct Run {
    std::uint32_t instance = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  [[nodiscard]] const Run* run_of(std::uint32_t instance, std::uint32_t program) const;
  [[nodiscard]] std::uint32_t segment_begin(const Run& run, std::uint32_t segment) const;

  const Subject& subject_;
  const Segments& segments_;
  ir::Counters counters_;
  ir::Adjacency order_;                 // of one iteration, without credits
  std::vector<std::vector<Run>> runs_;  // by engine program, in order of their instances
  std::vector<std::uint32_t> known_;    // by engine program: one past the latest op that is known
  std::vector<std::uint32_t> looked_;   // and one past the latest whose places were looked at
  std::uint64_t work_ = 0;
};

}  // namespace spatialcert::proofs::folding
