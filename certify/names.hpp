// What the things of a program are called in reports: the names the user wrote, and where they
// stand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/counters.hpp"
#include "ir/program.hpp"
#include "ir/unroll.hpp"

namespace spatialcert::certify {

/// `chip 0 (2,3)`; `chip 0` where chips have one site each.
[[nodiscard]] std::string site_text(const ir::Program& program, const ir::Site& site);
/// `compute at chip 0 (2,3)`.
[[nodiscard]] std::string engine_text(const ir::Program& program, ir::ProgramId id);
/// `section attention`, or `the boundary after section attention`.
[[nodiscard]] std::string part_text(const ir::Program& program, ir::ProgramId id, std::uint32_t op);
/// `attention.py:120`, `attention.py:120:8`, or nothing.
[[nodiscard]] std::string source_text(const ir::Program& program, ir::LocationIndex location);
/// `x[0:16, 0:16]`, `acc[64*i0:64*i0+64]`, `kv page 1 [0:32]`; whole objects by their name only.
[[nodiscard]] std::string region_text(const ir::Program& program, const ir::Region& region);

/// `semaphore s`, `filled pages of fifo kv`.
[[nodiscard]] std::string counter_text(const ir::Program& program, const ir::Counter& counter);
/// The name of the semaphore or FIFO alone.
[[nodiscard]] const std::string& counter_object(const ir::Program& program,
                                                const ir::Counter& counter);

/// `1 page`, `2 pages`.
[[nodiscard]] std::string count_text(std::int64_t count, const char* singular);
/// `8 MiB (8388608 bytes)`; only the bytes if no unit divides them.
[[nodiscard]] std::string size_text(std::uint64_t bytes);

/// Names the op instances of a program unrolled `iterations` times. Unrolls when it is first asked.
class OpNames {
 public:
  OpNames(const ir::Program& program, std::uint32_t iterations)
      : program_(program), iterations_(iterations), counters_(program) {}

  [[nodiscard]] const ir::Program& program() const { return program_; }
  [[nodiscard]] const ir::Counters& counters() const { return counters_; }
  /// Requires that the program can be unrolled: whoever has a transition has unrolled it before.
  [[nodiscard]] const ir::Unrolled& unrolled() const;

  [[nodiscard]] ir::ProgramId program_of(ir::TransitionId t) const {
    return ir::ProgramId(unrolled().program[t.value()]);
  }
  [[nodiscard]] const ir::Op& op_of(ir::TransitionId t) const {
    return unrolled().op_of(program_, t);
  }
  /// `compute at chip 0 (2,3)`.
  [[nodiscard]] std::string engine(ir::TransitionId t) const {
    return engine_text(program_, program_of(t));
  }
  /// ` [attention.py:120]`, or nothing.
  [[nodiscard]] std::string source(ir::TransitionId t) const;
  /// `op 14 `front kv 1` (i0 = 3)`.
  [[nodiscard]] std::string op(ir::TransitionId t) const;
  /// The same with section and source: `op 14 `front kv 1`, section attention [attention.py:120]`.
  [[nodiscard]] std::string placed_op(ir::TransitionId t) const;
  /// ` (iteration 2, i0 = 3)`: which execution of the op text; nothing if there is one.
  [[nodiscard]] std::string instance(ir::TransitionId t) const;

 private:
  const ir::Program& program_;
  std::uint32_t iterations_;
  ir::Counters counters_;
  mutable std::optional<ir::Unrolled> unrolled_;
};

}  // namespace spatialcert::certify
