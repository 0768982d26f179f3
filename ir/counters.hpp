// The counters of the token game: every semaphore, and the filled and free pages of every FIFO.
//
// Numbering: semaphores first, then for FIFO buffer b its `filled` and its `free` counter.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.hpp"

namespace spatialcert::ir {

enum class CounterKind : std::uint8_t { semaphore, filled, free };

struct Counter {
  CounterKind kind = CounterKind::semaphore;
  std::uint32_t object = 0;  ///< SemaphoreId or BufferId value
  std::int64_t initial = 0;
};

class Counters {
 public:
  explicit Counters(const Program& program);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(all_.size()); }
  [[nodiscard]] const Counter& operator[](CounterId id) const { return all_[id.value()]; }
  [[nodiscard]] CounterId of(SemaphoreId s) const { return CounterId(s.value()); }
  [[nodiscard]] CounterId filled(BufferId b) const { return CounterId(fifo_[b.value()]); }
  [[nodiscard]] CounterId free(BufferId b) const { return CounterId(fifo_[b.value()] + 1); }

 private:
  std::vector<Counter> all_;
  std::vector<std::uint32_t> fifo_;  // BufferId -> number of its `filled` counter
};

}  // namespace spatialcert::ir
