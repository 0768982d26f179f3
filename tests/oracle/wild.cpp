// Tangled programs: random semaphore and FIFO ops, of which only one schedule is known to get
// through.
//
// Unlike motifs they are mostly outside the marked-graph class. They test that nothing untrue is
// justified.
#include <fmt/format.h>

#include <algorithm>

#include "ir/require.hpp"
#include "ir/validate.hpp"
#include "tests/oracle/maker.hpp"

namespace spatialcert::tests {
namespace {

/// Plays along while it appends ops, so that every test it appends holds when it is reached in that
/// order.
class Walk {
 public:
  Walk(Maker& maker) : m_(maker) {
    const std::uint32_t semaphores = 1 + m_.random.below(3);
    for (std::uint32_t s = 0; s < semaphores; ++s) {
      // Waits are for programs on the semaphore's own site.
      const std::uint32_t home = m_.random.below(m_.programs());
      const bool flag = m_.random.chance(30);
      semaphores_.push_back(
          m_.semaphore(home, m_.random.below(3), 9, flag ? ir::Restart::reset : ir::Restart::keep));
      value_.push_back(m_.sketch.frame.semaphores.back().initial);
    }
    if (m_.programs() < 2 || m_.random.chance(50)) return;
    ends_ = m_.choose(2);
    pages_ = m_.random.between(1, 3);
    fifo_ = m_.fifo(ends_[0], ends_[1], pages_);
  }

  void step() {
    const std::uint32_t p = m_.random.below(m_.programs());
    if (!ends_.empty() && m_.random.chance(40)) {
      if (p == ends_[0]) return produce(1 + m_.random.below(2));
      if (p == ends_[1]) return consume(1 + m_.random.below(2));
    }
    const std::uint32_t s = m_.random.below(semaphores_.size());
    const ir::Semaphore& semaphore = m_.sketch.frame.semaphores[semaphores_[s]];
    const std::int64_t n = m_.random.between(1, 2);
    Ops& out = m_.sketch.ops[p];
    if (m_.random.chance(50) || value_[s] < n || m_.site(p) != semaphore.site) {
      Maker::emit(out, ir::OpCode::post, semaphores_[s], n);
      value_[s] += n;
    } else if (semaphore.restart == ir::Restart::reset && m_.random.chance(50)) {
      Maker::emit(out, ir::OpCode::await, semaphores_[s], m_.random.between(1, value_[s]));
    } else {
      Maker::emit(out, ir::OpCode::wait, semaphores_[s], n);
      value_[s] -= n;
    }
  }

  /// Brings every counter back to its initial value.
  void finish() {
    for (std::size_t s = 0; s < semaphores_.size(); ++s) {
      const ir::Semaphore& semaphore = m_.sketch.frame.semaphores[semaphores_[s]];
      std::vector<std::uint32_t> at_home;
      for (std::uint32_t p = 0; p < m_.programs(); ++p) {
        if (m_.site(p) == semaphore.site) at_home.push_back(p);
      }
      Ops& out = m_.sketch.ops[at_home[m_.random.below(at_home.size())]];
      const std::int64_t excess = value_[s] - semaphore.initial;
      if (excess > 0) Maker::emit(out, ir::OpCode::wait, semaphores_[s], excess);
      if (excess < 0) Maker::emit(out, ir::OpCode::post, semaphores_[s], -excess);
    }
    if (filled_ > 0) consume(filled_);
  }

 private:
  void produce(std::int64_t n) {
    if (filled_ + n > pages_) return;
    Maker::emit(m_.sketch.ops[ends_[0]], ir::OpCode::reserve, fifo_, n);
    Maker::emit(m_.sketch.ops[ends_[0]], ir::OpCode::push, fifo_, n);
    filled_ += n;
  }
  void consume(std::int64_t n) {
    if (n > filled_) return;
    Maker::emit(m_.sketch.ops[ends_[1]], ir::OpCode::front, fifo_, n);
    Maker::emit(m_.sketch.ops[ends_[1]], ir::OpCode::pop, fifo_, n);
    filled_ -= n;
  }

  Maker& m_;
  std::vector<std::uint32_t> semaphores_;
  std::vector<std::int64_t> value_;
  std::vector<std::uint32_t> ends_;
  std::uint32_t fifo_ = 0;
  std::int64_t pages_ = 0;
  std::int64_t filled_ = 0;
};

}  // namespace

Sample generate_wild(std::uint64_t seed) {
  for (std::uint64_t variant = 0; variant < 1000; ++variant) {
    Maker maker(seed * 1'000'003 + variant, seed % 2 == 0);
    Walk walk(maker);
    const std::uint32_t steps = 4 + maker.random.below(maker.persistent() ? 8 : 12);
    for (std::uint32_t i = 0; i < steps; ++i) walk.step();
    walk.finish();
    Sample sample{seed, std::move(maker.sketch), {}, {}, maker.features, Fault::none};
    sample.program = assemble(sample.sketch);
    if (!ir::validate(sample.program)) return sample;
  }
  ir::require_failed("generate_wild", "some variant validates", __FILE__, __LINE__);
}

}  // namespace spatialcert::tests
