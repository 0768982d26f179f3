#include "tests/folding/loop_programs.hpp"

#include <fmt/format.h>

#include <numeric>

#include "ir/validate.hpp"
#include "tests/oracle/maker.hpp"

namespace spatialcert::tests {
namespace {

constexpr std::int64_t kRows = 1024;

/// How one engine program hands on to the next.
struct Channel {
  enum class Kind : std::uint8_t { fifo, handshake, tokens } kind = Kind::fifo;
  std::uint32_t object = 0;  ///< FIFO, or the semaphore that the consumer waits for
  std::uint32_t credit = 0;  ///< handshake: the semaphore that the producer waits for
  Shared store;              ///< handshake, tokens
  std::int64_t pushed = 1;   ///< per trip
  std::int64_t popped = 1;
  std::int64_t ahead = 0;  ///< pages that the consumer looks ahead
};

/// What an engine program does in one phase.
struct Worker {
  std::uint32_t program = 0;
  std::int64_t trips = 0;
  std::int64_t inner = 1;   ///< trips of a nested loop; the product is what counts
  std::int64_t before = 0;  ///< trips that are spelled out before the loop, and after it
  std::int64_t after = 0;
};

class LoopMaker {
 public:
  LoopMaker(Maker& maker, bool sharded) : m_(maker), r_(maker.random), sharded_(sharded) {}

  void phase() {
    const auto programs = m_.choose(1 + r_.below(m_.programs()));
    const std::int64_t base = r_.between(40, 60);
    const std::int64_t inner = r_.chance(15) ? r_.between(2, 3) : 1;
    std::vector<Worker> workers;
    for (const std::uint32_t p : programs) {
      Worker w{p, base * (r_.chance(25) ? r_.between(2, 3) : 1), inner, 0, 0};
      if (r_.chance(15)) w.before = r_.between(1, 3);
      if (r_.chance(15)) w.after = r_.between(1, 2);
      workers.push_back(w);
    }
    std::vector<Channel> channels;
    for (std::size_t i = 0; i + 1 < workers.size(); ++i)
      channels.push_back(channel(workers[i], workers[i + 1]));
    // Now and then a way back, so that the workers are a ring.
    in_place_.reset();
    if (r_.chance(20)) in_place_ = tensor(ir::Init::external, programs.front());
    for (std::size_t i = 0; i < workers.size(); ++i) {
      work(workers[i], i == 0 ? nullptr : &channels[i - 1],
           i + 1 == workers.size() ? nullptr : &channels[i]);
    }
  }

 private:
  std::uint32_t tensor(ir::Init init, std::uint32_t program) {
    ir::Tensor t;
    t.name = fmt::format("m{}", m_.sketch.frame.tensors.size());
    t.role = init == ir::Init::external ? ir::TensorRole::input : ir::TensorRole::output;
    t.rows = kRows;
    t.cols = kCell;
    t.dtype = ir::DType::i8;
    t.init = init;
    if (sharded_ && r_.chance(60)) t.owner = m_.site(program).chip;
    m_.sketch.frame.tensors.push_back(t);
    return static_cast<std::uint32_t>(m_.sketch.frame.tensors.size() - 1);
  }

  Channel channel(const Worker& from, const Worker& to) {
    Channel c;
    const std::int64_t all = std::lcm(from.trips, to.trips);
    const std::int64_t unit = r_.chance(20) ? 2 : 1;
    c.pushed = unit * all / from.trips;
    c.popped = unit * all / to.trips;
    const std::uint32_t form = r_.below(10);
    if (form < 6) {
      c.ahead = r_.chance(25) ? r_.between(1, 2) : 0;
      c.object =
          m_.fifo(from.program, to.program, c.pushed + c.popped + c.ahead - 1 + r_.between(0, 2));
      return c;
    }
    c.kind = form < 9 ? Channel::Kind::handshake : Channel::Kind::tokens;
    const std::int64_t room = std::max(c.pushed, c.popped) + r_.between(0, 1);
    c.object = m_.semaphore(to.program, 0, room + r_.between(0, 2));
    c.credit = m_.semaphore(from.program, std::lcm(c.pushed, c.popped), room + c.pushed * 2);
    c.store = m_.shared({from.program, to.program}, 1);
    return c;
  }

  void work(const Worker& w, const Channel* in, const Channel* out) {
    Ops& ops = m_.sketch.ops[w.program];
    const auto read =
        r_.chance(60) ? std::optional(tensor(ir::Init::external, w.program)) : std::nullopt;
    const auto write =
        r_.chance(60) ? std::optional(tensor(ir::Init::undefined, w.program)) : std::nullopt;
    const bool also_in_place = in_place_ && r_.chance(60);
    const std::int64_t step = r_.between(1, 2);
    const std::int64_t width = r_.chance(80) ? step : r_.between(1, 3);
    const std::int64_t shift = r_.between(0, 2);
    const bool down = r_.chance(10);
    const bool grows = r_.chance(5);  // the farther on, the less is touched, in the end nothing
    const auto body = [&](Ops& list, const Bound& trip) {
      std::vector<SketchAccess> reads;
      if (in != nullptr) acquire_in(list, *in, reads);
      if (out != nullptr) acquire_out(list, *out);
      const auto rows = [&](std::uint32_t t, bool writes) {
        SketchAccess a;
        a.kind = ir::RegionKind::tensor;
        a.object = t;
        a.bound[0] = scaled(trip, down ? -step : step).plus(down ? kRows - 8 : shift);
        a.bound[1] = a.bound[0].plus(width);
        if (grows) a.bound[1] = fixed(kRows / 2);
        a.bound[3] = fixed(kCell);
        a.write = writes;
        return a;
      };
      if (read) reads.push_back(rows(*read, false));
      if (also_in_place && r_.chance(70)) reads.push_back(rows(*in_place_, false));
      std::optional<SketchAccess> result;
      if (out != nullptr && out->kind == Channel::Kind::fifo) {
        result = Maker::page(out->object, r_.below(static_cast<std::uint64_t>(out->pushed)), true);
      } else if (out != nullptr) {
        result = Maker::cell(out->store, fixed(0), true);
      } else if (also_in_place) {
        result = rows(*in_place_, true);
      } else if (write) {
        result = rows(*write, true);
      }
      m_.run(list, std::move(reads), result);
      if (out != nullptr && write && r_.chance(30)) m_.run(list, {}, rows(*write, true));
      if (out != nullptr) release_out(list, *out);
      if (in != nullptr) release_in(list, *in);
    };
    for (std::int64_t t = 0; t < w.before; ++t) body(ops, fixed(t));
    const std::int64_t trips = w.trips - w.before - w.after;
    SketchOp loop{ir::OpCode::repeat, 0, trips, {}, {}};
    if (w.inner > 1 && trips % w.inner == 0) {
      loop.count = trips / w.inner;
      SketchOp inner{ir::OpCode::repeat, 0, w.inner, {}, {}};
      body(inner.body, {w.before, {{0, w.inner}, {1, 1}}});
      loop.body.push_back(std::move(inner));
    } else {
      body(loop.body, {w.before, {{0, 1}}});
    }
    ops.push_back(std::move(loop));
    for (std::int64_t t = 0; t < w.after; ++t) body(ops, fixed(w.trips - w.after + t));
    // Who looks ahead needs something to look at in the last trips.
    if (out != nullptr && out->ahead > 0) {
      Maker::emit(ops, ir::OpCode::reserve, out->object, out->ahead);
      for (std::int64_t a = 0; a < out->ahead; ++a)
        m_.run(ops, {}, Maker::page(out->object, static_cast<std::uint32_t>(a), true));
      Maker::emit(ops, ir::OpCode::push, out->object, out->ahead);
    }
    if (in != nullptr && in->ahead > 0) {
      Maker::emit(ops, ir::OpCode::front, in->object, in->ahead);
      Maker::emit(ops, ir::OpCode::pop, in->object, in->ahead);
    }
  }

  void acquire_in(Ops& list, const Channel& c, std::vector<SketchAccess>& reads) {
    if (c.kind == Channel::Kind::fifo) {
      Maker::emit(list, ir::OpCode::front, c.object, c.popped + c.ahead);
      const std::int64_t page = r_.chance(70) ? 0 : r_.between(0, c.popped + c.ahead - 1);
      reads.push_back(Maker::page(c.object, static_cast<std::uint32_t>(page), false));
      return;
    }
    Maker::emit(list, ir::OpCode::wait, c.object, c.popped);
    reads.push_back(Maker::cell(c.store, fixed(0), false));
  }
  void acquire_out(Ops& list, const Channel& c) {
    if (c.kind == Channel::Kind::fifo) Maker::emit(list, ir::OpCode::reserve, c.object, c.pushed);
    if (c.kind == Channel::Kind::handshake) Maker::emit(list, ir::OpCode::wait, c.credit, c.pushed);
  }
  void release_out(Ops& list, const Channel& c) {
    const auto code = c.kind == Channel::Kind::fifo ? ir::OpCode::push : ir::OpCode::post;
    // One page after the other, or all at once.
    if (c.pushed > 1 && r_.chance(30)) {
      for (std::int64_t i = 0; i < c.pushed; ++i) Maker::emit(list, code, c.object, 1);
    } else {
      Maker::emit(list, code, c.object, c.pushed);
    }
  }
  static void release_in(Ops& list, const Channel& c) {
    if (c.kind == Channel::Kind::fifo) Maker::emit(list, ir::OpCode::pop, c.object, c.popped);
    if (c.kind == Channel::Kind::handshake) Maker::emit(list, ir::OpCode::post, c.credit, c.popped);
  }

  Maker& m_;
  Random& r_;
  bool sharded_;
  std::optional<std::uint32_t> in_place_;
};

void fill(Maker& maker, Random& coin) {
  LoopMaker loops(maker, coin.chance(30));
  const std::uint32_t phases = coin.chance(35) ? 2 : 1;
  for (std::uint32_t i = 0; i < phases; ++i) {
    if (coin.chance(25)) append_motif(maker);
    loops.phase();
  }
  if (coin.chance(25)) append_motif(maker);
}

}  // namespace

std::optional<ir::Program> generate_loops(std::uint64_t seed) {
  Random coin(seed ^ 0x10095U);
  Maker maker(seed, coin.chance(25));
  fill(maker, coin);
  Fault fault = Fault::none;
  if (coin.chance(50)) damage(maker.sketch, maker.random, fault);
  ir::Program program = assemble(maker.sketch);
  program.name = fmt::format("loops-{}", seed);
  if (ir::validate(program)) return std::nullopt;
  return program;
}

ir::Program generate_loop_section(std::uint64_t seed) {
  Random coin(seed ^ 0x5ec7104U);
  Maker maker(seed, false);
  fill(maker, coin);
  return assemble(maker.sketch);
}

}  // namespace spatialcert::tests
