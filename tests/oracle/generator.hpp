// Random small programs with the shape of real ones.
//
// Naively random ops nearly always get stuck at once and test nothing. So a program is put together
// from *motifs*, the hand-offs that compilers emit (pipelines over FIFOs, semaphores with unequal
// rates, gather, release, rendezvous, awaited flags, sliding windows, double buffers), each of them
// right; then, in more than half of the programs, one fault is made. Motifs are appended to the
// engine programs one after the other in one global order, so an undamaged program has a schedule.
// Whether it is right in every schedule is not promised (two motifs that touch one location may
// race), nor that a fault does harm.
//
// Everything is drawn from std::mt19937_64 without <random>'s distributions: a seed means the same
// program everywhere.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>

#include "ir/program.hpp"
#include "tests/oracle/sketch.hpp"

namespace spatialcert::tests {

enum class Feature : std::uint8_t {
  fifo,
  unequal_fifo,
  sliding_window,
  guaranteed,
  chain,
  semaphore,
  unequal_semaphore,
  double_buffer,
  gather,
  release,
  rendezvous,
  await,
  mutex,
  loop,
  nested_loop,
  initial_value,
  view,
  reused_store,
  two_sites,
  two_chips,
  persistent,
  postcondition,
  count  ///< not a feature
};
[[nodiscard]] std::string_view to_string(Feature feature);

enum class Fault : std::uint8_t {
  none,
  drop_op,
  double_op,
  swap_ops,
  change_count,
  change_region,
  move_address,
  lower_maximum,
  fewer_pages,
  change_initial,
  drop_init,
  change_result,
  change_edge,
  leave_token
};
[[nodiscard]] std::string_view to_string(Fault fault);

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// 0 <= result < n; the bias of the remainder is of no interest here.
  std::uint32_t below(std::uint64_t n) { return static_cast<std::uint32_t>(engine_() % n); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }
  /// low <= result <= high
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
  }

 private:
  std::mt19937_64 engine_;
};

struct Sample {
  std::uint64_t seed = 0;
  Sketch sketch;
  ir::Program program;    ///< assembled and validated
  ir::Program undamaged;  ///< the same before the fault
  std::uint32_t features = 0;
  Fault fault = Fault::none;
  bool second_fault = false;  ///< another one, which may hide the first

  [[nodiscard]] bool has(Feature f) const { return features >> static_cast<unsigned>(f) & 1U; }
};

/// The program of a seed. Always validates.
[[nodiscard]] Sample generate(std::uint64_t seed);

/// A tangle of semaphore and FIFO ops (no accesses), of which one schedule is known to get through;
/// persistent if the seed is even. Always validates.
[[nodiscard]] Sample generate_wild(std::uint64_t seed);

/// Makes one fault of a random kind; false if that kind has nothing to damage.
bool damage(Sketch& sketch, Random& random, Fault& made);

/// States what the undamaged program computes: postconditions for some stored rows that are sums of
/// input rows.
void add_postconditions(Sketch& sketch, Random& random);

}  // namespace spatialcert::tests
