// The hand-offs that random programs are made of. Every motif is right by itself, in `persistent`
// programs also across the wrap-around, save where it says so.
#include <algorithm>
#include <numeric>

#include "tests/oracle/maker.hpp"

namespace spatialcert::tests {
namespace {

using ir::OpCode;

/// Stages of both ends, for a declared edge.
struct Ends {
  std::vector<std::uint32_t> producers, consumers;
};

void declare_edges(Maker& m, std::uint32_t fifo, const Ends& ends) {
  if (m.random.chance(30)) return;
  for (const std::uint32_t p : ends.producers) {
    for (const std::uint32_t c : ends.consumers) m.edge(p, fifo, c);
  }
}

/// Producer of `trips` batches of `batch` pages.
void produce(Maker& m, std::uint32_t p, std::uint32_t fifo, std::int64_t trips, std::int64_t batch,
             Ends& ends) {
  const std::int64_t base = m.input_rows(trips * batch);
  m.loop(m.sketch.ops[p], trips, [&](Ops& out, const Bound& trip) {
    Maker::emit(out, OpCode::reserve, fifo, batch);
    for (std::int64_t i = 0; i < batch; ++i) {
      const Bound row = scaled(trip, batch).plus(base + i);
      ends.producers.push_back(
          m.run(out, {m.input(row)}, Maker::page(fifo, static_cast<std::uint32_t>(i), true)));
    }
    Maker::emit(out, OpCode::push, fifo, batch);
  });
}

void consume(Maker& m, std::uint32_t q, std::uint32_t fifo, std::int64_t trips, std::int64_t batch,
             Ends& ends) {
  const std::int64_t base = m.result_rows(trips * batch);
  m.loop(m.sketch.ops[q], trips, [&](Ops& out, const Bound& trip) {
    Maker::emit(out, OpCode::front, fifo, batch);
    for (std::int64_t i = 0; i < batch; ++i) {
      const Bound row = scaled(trip, batch).plus(base + i);
      ends.consumers.push_back(
          m.run(out, {Maker::page(fifo, static_cast<std::uint32_t>(i), false)}, m.result(row)));
    }
    Maker::emit(out, OpCode::pop, fifo, batch);
  });
}

bool pipeline(Maker& m) {
  const auto who = m.choose(2);
  if (who.size() < 2) return false;
  m.note(Feature::fifo);
  std::int64_t from = 1;
  std::int64_t to = 1;
  std::int64_t total = m.random.between(1, 4);
  if (m.random.chance(40)) {
    m.note(Feature::unequal_fifo);
    from = m.random.between(1, 2);
    to = 3 - from;
    total = 2 * m.random.between(1, 2);
  }
  const std::int64_t pages = from + to - std::gcd(from, to) + m.random.below(2);
  const std::uint32_t fifo = m.fifo(who[0], who[1], pages);
  Ends ends;
  produce(m, who[0], fifo, total / from, from, ends);
  consume(m, who[1], fifo, total / to, to, ends);
  declare_edges(m, fifo, ends);
  return true;
}

/// The section that the builder makes: load, compute, store.
bool chain(Maker& m) {
  const auto who = m.choose(3);
  if (who.size() < 3) return false;
  m.note(Feature::fifo);
  m.note(Feature::chain);
  const std::int64_t trips = m.random.between(1, 4);
  const std::uint32_t in = m.fifo(who[0], who[1], m.random.between(1, 2));
  const std::uint32_t out_fifo = m.fifo(who[1], who[2], m.random.between(1, 2));
  Ends first;
  Ends second;
  produce(m, who[0], in, trips, 1, first);
  m.loop(m.sketch.ops[who[1]], trips, [&](Ops& out, const Bound&) {
    Maker::emit(out, OpCode::front, in, 1);
    Maker::emit(out, OpCode::reserve, out_fifo, 1);
    const auto stage = m.run(out, {Maker::page(in, 0, false)}, Maker::page(out_fifo, 0, true));
    first.consumers.push_back(stage);
    second.producers.push_back(stage);
    Maker::emit(out, OpCode::push, out_fifo, 1);
    Maker::emit(out, OpCode::pop, in, 1);
  });
  consume(m, who[2], out_fifo, trips, 1, second);
  declare_edges(m, in, first);
  declare_edges(m, out_fifo, second);
  return true;
}

bool sliding_window(Maker& m) {
  const auto who = m.choose(2);
  if (who.size() < 2) return false;
  m.note(Feature::fifo);
  m.note(Feature::sliding_window);
  const std::int64_t steps = m.random.between(1, 3);
  const std::uint32_t fifo = m.fifo(who[0], who[1], m.random.between(2, 3));
  Ends ends;
  produce(m, who[0], fifo, steps + 1, 1, ends);
  const std::int64_t base = m.result_rows(steps);
  Ops& ops = m.sketch.ops[who[1]];
  m.loop(ops, steps, [&](Ops& out, const Bound& trip) {
    Maker::emit(out, OpCode::front, fifo, 2);
    ends.consumers.push_back(m.run(out, ir::OpKind::add,
                                   {Maker::page(fifo, 0, false), Maker::page(fifo, 1, false)},
                                   m.result(trip.plus(base))));
    Maker::emit(out, OpCode::pop, fifo, 1);
  });
  Maker::emit(ops, OpCode::front, fifo, 1);
  Maker::emit(ops, OpCode::pop, fifo, 1);
  declare_edges(m, fifo, ends);
  return true;
}

/// One program writes cells and posts, another waits and reads them; at unequal rates. With a
/// credit the writer may come again.
bool hand_off(Maker& m) {
  const auto who = m.choose(2);
  if (who.size() < 2) return false;
  m.note(Feature::semaphore);
  const std::int64_t cells = m.random.between(1, 4);
  const std::int64_t post = cells % 2 == 0 && m.random.chance(40) ? 2 : 1;
  const std::int64_t wait = cells % 2 == 0 && m.random.chance(40) ? 2
                            : m.random.chance(50)                 ? 1
                                                                  : cells;
  if (post != wait) m.note(Feature::unequal_semaphore);
  const Shared store = m.shared(who, cells);
  const std::uint32_t full = m.semaphore(who[1], 0, cells);
  const bool credit = m.persistent() || m.random.chance(25);
  const std::uint32_t free = credit ? m.semaphore(who[0], cells, cells) : 0;
  Ops& writer = m.sketch.ops[who[0]];
  if (credit) Maker::emit(writer, OpCode::wait, free, cells);
  const std::int64_t from = m.input_rows(cells);
  m.loop(writer, cells / post, [&](Ops& out, const Bound& trip) {
    for (std::int64_t i = 0; i < post; ++i) {
      const Bound at = scaled(trip, post).plus(i);
      m.run(out, {m.input(at.plus(from))}, Maker::cell(store, at, true));
    }
    Maker::emit(out, OpCode::post, full, post);
  });
  Ops& reader = m.sketch.ops[who[1]];
  const std::int64_t to = m.result_rows(cells);
  m.loop(reader, cells / wait, [&](Ops& out, const Bound& trip) {
    Maker::emit(out, OpCode::wait, full, wait);
    for (std::int64_t i = 0; i < wait; ++i) {
      const Bound at = scaled(trip, wait).plus(i);
      m.run(out, {Maker::cell(store, at, false)}, m.result(at.plus(to)));
    }
  });
  if (credit) Maker::emit(reader, OpCode::post, free, cells);
  return true;
}

bool double_buffer(Maker& m) {
  const auto who = m.choose(2);
  if (who.size() < 2) return false;
  m.note(Feature::semaphore);
  m.note(Feature::double_buffer);
  const std::int64_t trips = m.random.between(1, 3);
  const Shared store = m.shared(who, 2);
  const std::uint32_t full = m.semaphore(who[1], 0, 2);
  const std::uint32_t free = m.semaphore(who[0], 2, 2);
  const std::int64_t from = m.input_rows(2 * trips);
  const std::int64_t to = m.result_rows(2 * trips);
  m.loop(m.sketch.ops[who[0]], trips, [&](Ops& out, const Bound& trip) {
    for (std::int64_t half = 0; half < 2; ++half) {
      Maker::emit(out, OpCode::wait, free, 1);
      m.run(out, {m.input(scaled(trip, 2).plus(from + half))},
            Maker::cell(store, fixed(half), true));
      Maker::emit(out, OpCode::post, full, 1);
    }
  });
  m.loop(m.sketch.ops[who[1]], trips, [&](Ops& out, const Bound& trip) {
    for (std::int64_t half = 0; half < 2; ++half) {
      Maker::emit(out, OpCode::wait, full, 1);
      m.run(out, {Maker::cell(store, fixed(half), false)},
            m.result(scaled(trip, 2).plus(to + half)));
      Maker::emit(out, OpCode::post, free, 1);
    }
  });
  return true;
}

/// Several write a cell each and post; one waits for all and adds them up.
bool gather(Maker& m) {
  auto who = m.choose(4);
  if (who.size() < 2) return false;
  m.note(Feature::gather);
  const std::uint32_t root = who.back();
  who.pop_back();
  const auto posters = static_cast<std::int64_t>(who.size());
  const std::uint32_t arrived = m.semaphore(root, 0, posters);
  auto users = who;
  users.push_back(root);
  const Shared store = m.shared(users, posters);
  std::vector<std::uint32_t> credits;
  std::vector<SketchAccess> reads;
  for (std::int64_t i = 0; i < posters; ++i) {
    const std::uint32_t p = who[static_cast<std::size_t>(i)];
    Ops& out = m.sketch.ops[p];
    if (m.persistent()) {
      credits.push_back(m.semaphore(p, 1, 1));
      Maker::emit(out, OpCode::wait, credits.back(), 1);
    }
    m.run(out, {m.input(fixed(m.input_rows(1)))}, Maker::cell(store, fixed(i), true));
    Maker::emit(out, OpCode::post, arrived, 1);
    reads.push_back(Maker::cell(store, fixed(i), false));
  }
  Ops& out = m.sketch.ops[root];
  Maker::emit(out, OpCode::wait, arrived, posters);
  m.run(out, std::move(reads), m.result(fixed(m.result_rows(1))));
  for (const std::uint32_t credit : credits) Maker::emit(out, OpCode::post, credit, 1);
  return true;
}

/// One writes, several on one site wait for it on one semaphore. In `persistent` programs each
/// waiter gets a semaphore of its own, or (sometimes) not, and then a fast waiter may take
/// another's token.
bool release(Maker& m) {
  auto who = m.choose(4);
  if (who.size() < 3) return false;
  const std::uint32_t root = who.front();
  who.erase(who.begin());
  const ir::Site site = m.site(who.front());
  who.erase(
      std::remove_if(who.begin(), who.end(), [&](std::uint32_t p) { return m.site(p) != site; }),
      who.end());
  if (who.size() < 2) return false;
  m.note(Feature::release);
  const auto waiters = static_cast<std::int64_t>(who.size());
  auto users = who;
  users.push_back(root);
  const Shared store = m.shared(users, 1);
  const bool common = !m.persistent() || m.random.chance(15);
  const std::uint32_t credit = m.persistent() ? m.semaphore(root, waiters, waiters) : 0;
  Ops& out = m.sketch.ops[root];
  if (m.persistent()) Maker::emit(out, OpCode::wait, credit, waiters);
  m.run(out, {m.input(fixed(m.input_rows(1)))}, Maker::cell(store, fixed(0), true));
  const std::uint32_t go = common ? m.semaphore(who.front(), 0, waiters) : 0;
  if (common) Maker::emit(out, OpCode::post, go, waiters);
  for (const std::uint32_t p : who) {
    const std::uint32_t own = common ? go : m.semaphore(p, 0, 1);
    if (!common) Maker::emit(out, OpCode::post, own, 1);
    Maker::emit(m.sketch.ops[p], OpCode::wait, own, 1);
    m.run(m.sketch.ops[p], {Maker::cell(store, fixed(0), false)},
          m.result(fixed(m.result_rows(1))));
    if (m.persistent()) Maker::emit(m.sketch.ops[p], OpCode::post, credit, 1);
  }
  return true;
}

/// Gather and release over all programs (DESIGN 4): what one writes before it, its neighbour reads
/// after it. `persistent` programs need two boundaries of different colour.
bool rendezvous(Maker& m) {
  const std::uint32_t n = m.programs();
  if (n < 2) return false;
  m.note(Feature::rendezvous);
  const std::int64_t boundaries = m.persistent() ? 2 : m.random.between(1, 2);
  std::vector<std::uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0U);
  std::vector<std::pair<ir::Site, std::vector<std::uint32_t>>> sites;
  for (const std::uint32_t p : all) {
    if (sites.empty() || sites.back().first != m.site(p)) sites.push_back({m.site(p), {}});
    sites.back().second.push_back(p);
  }
  const Shared store = m.shared(all, n);
  const std::uint32_t arrival = m.semaphore(0, 0, n);
  for (std::int64_t b = 0; b < boundaries; ++b) {
    for (const std::uint32_t p : all) {
      Ops& out = m.sketch.ops[p];
      if (b == 0) m.run(out, {m.input(fixed(m.input_rows(1)))}, Maker::cell(store, fixed(p), true));
      Maker::emit(out, OpCode::post, arrival, 1);
    }
    Maker::emit(m.sketch.ops[0], OpCode::wait, arrival, n);
    for (const auto& [site, on_site] : sites) {
      const auto count = static_cast<std::int64_t>(on_site.size());
      const std::uint32_t go = m.semaphore(on_site.front(), 0, count);
      Maker::emit(m.sketch.ops[0], OpCode::post, go, count);
      for (const std::uint32_t p : on_site) Maker::emit(m.sketch.ops[p], OpCode::wait, go, 1);
    }
    for (const std::uint32_t p : all) {
      if (b != 0) continue;
      m.run(m.sketch.ops[p], {Maker::cell(store, fixed((p + 1) % n), false)},
            m.result(fixed(m.result_rows(1))));
    }
  }
  return true;
}

/// A flag that several test. In `persistent` programs it is lowered when all have seen it, and
/// nobody goes on before that.
bool await(Maker& m) {
  auto who = m.choose(1 + 1 + m.random.below(3));
  if (who.size() < 2) return false;
  const std::uint32_t root = who.front();
  who.erase(who.begin());
  who.erase(std::remove_if(who.begin(), who.end(),
                           [&](std::uint32_t p) { return m.site(p) != m.site(root); }),
            who.end());
  if (who.empty()) return false;
  m.note(Feature::await);
  const auto waiters = static_cast<std::int64_t>(who.size());
  auto users = who;
  users.push_back(root);
  const Shared store = m.shared(users, 1);
  const std::uint32_t flag = m.semaphore(root, 0, 2, ir::Restart::reset);
  Ops& out = m.sketch.ops[root];
  const std::int64_t level = m.persistent() ? 1 : m.random.between(1, 2);
  m.run(out, {m.input(fixed(m.input_rows(1)))}, Maker::cell(store, fixed(0), true));
  Maker::emit(out, OpCode::post, flag, level);
  const std::uint32_t seen = m.persistent() ? m.semaphore(root, 0, waiters) : 0;
  if (m.persistent()) {
    Maker::emit(out, OpCode::wait, seen, waiters);
    Maker::emit(out, OpCode::wait, flag, level);
  }
  for (const std::uint32_t p : who) {
    Ops& ops = m.sketch.ops[p];
    Maker::emit(ops, OpCode::await, flag, level);
    m.run(ops, {Maker::cell(store, fixed(0), false)}, m.result(fixed(m.result_rows(1))));
    if (!m.persistent()) continue;
    Maker::emit(ops, OpCode::post, seen, 1);
    const std::uint32_t go = m.semaphore(p, 0, 1);
    Maker::emit(out, OpCode::post, go, 1);
    Maker::emit(ops, OpCode::wait, go, 1);
  }
  return true;
}

/// Two compete for a token: outside the class, and the accesses it guards race.
bool mutex(Maker& m) {
  const auto who = m.choose(2);
  if (who.size() < 2 || m.site(who[0]) != m.site(who[1])) return false;
  m.note(Feature::mutex);
  const Shared store = m.shared(who, 1, ir::Init::zero);
  const std::uint32_t token = m.semaphore(who[0], 1, 1);
  for (const std::uint32_t p : who) {
    Ops& out = m.sketch.ops[p];
    Maker::emit(out, OpCode::wait, token, 1);
    if (m.random.chance(50)) {
      m.run(out, ir::OpKind::add,
            {Maker::cell(store, fixed(0), false), m.input(fixed(m.input_rows(1)))},
            Maker::cell(store, fixed(0), true));
    }
    Maker::emit(out, OpCode::post, token, 1);
  }
  return true;
}

/// One program adds up input rows in place and stores the sum.
bool accumulate(Maker& m) {
  const std::uint32_t p = m.random.below(m.programs());
  const bool zero = m.random.chance(50);
  // An accumulator that starts at zero holds the last token's sum when a persistent program comes
  // again.
  const Shared store = m.shared({p}, 1, zero ? ir::Init::zero : ir::Init::undefined);
  Ops& out = m.sketch.ops[p];
  const std::int64_t trips = m.random.between(1, 3);
  const std::int64_t from = m.input_rows(trips);
  if (!zero)
    m.run(out, ir::OpKind::copy, {m.input(fixed(m.input_rows(1)))},
          Maker::cell(store, fixed(0), true));
  m.loop(out, trips, [&](Ops& body, const Bound& trip) {
    m.run(body, ir::OpKind::add, {Maker::cell(store, fixed(0), false), m.input(trip.plus(from))},
          Maker::cell(store, fixed(0), true));
  });
  m.run(out, ir::OpKind::copy, {Maker::cell(store, fixed(0), false)},
        m.result(fixed(m.result_rows(1))));
  return true;
}

}  // namespace

bool append_motif(Maker& m) {
  if (m.programs() == 1) return accumulate(m);
  const std::uint32_t draw = m.random.below(100);
  if (draw < 12) return pipeline(m);
  if (draw < 20) return chain(m);
  if (draw < 30) return sliding_window(m);
  if (draw < 43) return hand_off(m);
  if (draw < 53) return double_buffer(m);
  if (draw < 64) return gather(m);
  if (draw < 78) return release(m);
  if (draw < 86) return rendezvous(m);
  if (draw < 94) return await(m);
  if (draw < 96) return mutex(m);
  return accumulate(m);
}

}  // namespace spatialcert::tests
