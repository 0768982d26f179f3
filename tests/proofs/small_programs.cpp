#include "tests/proofs/small_programs.hpp"

#include <algorithm>
#include <deque>

namespace spatialcert::tests {
namespace {

constexpr const char* kHalf = R"("page_bytes": 32)";

/// Tensors of two rows of 16 bytes, x and w given, and a buffer that holds one. A byte is an
/// element, which the oracle needs to follow values through buffers.
Draft halves(const std::string& name) {
  Draft d(name);
  for (const char* given : {"x", "w"}) d.tensor(given, "external", 2, "i8");
  d.tensor("y", "undefined", 2, "i8");
  for (const char* stage : {"load", "store", "bias"}) d.stage(stage, "copy");
  return d.buffer("b", kHalf);
}

/// Names of places that lead from one transition to another, shortest first.
std::vector<std::uint32_t> path(const proofs::Subject& subject, std::uint32_t from,
                                std::uint32_t to) {
  const auto& program = subject.stretch.program;
  constexpr std::uint32_t kNone = 0xffffffffU;
  std::vector<std::uint32_t> by(program.size(), kNone), before(program.size(), kNone);
  std::deque<std::uint32_t> work{from};
  const auto reach = [&](std::uint32_t t, std::uint32_t previous, std::uint32_t place) {
    if (t == from || before[t] != kNone) return;
    before[t] = previous;
    by[t] = place;
    work.push_back(t);
  };
  while (!work.empty()) {
    const std::uint32_t t = work.front();
    work.pop_front();
    if (t + 1 < program.size() && program[t] == program[t + 1]) reach(t + 1, t, kNone);
    for (std::uint32_t p = 0; p < subject.places.size(); ++p) {
      const ir::Place& place = subject.places[p];
      if (!place.credit && place.from.value() == t) reach(place.to.value(), t, p);
    }
  }
  std::vector<std::uint32_t> places;
  for (std::uint32_t t = to; before[t] != kNone; t = before[t]) {
    if (by[t] != kNone) places.insert(places.begin(), by[t]);
  }
  return places;
}

}  // namespace

std::vector<Ops> sequences(const Ops& ops, std::size_t longest) {
  std::vector<Ops> all{{}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].size() == longest) continue;
    for (const std::string& op : ops) {
      Ops more = all[i];
      more.push_back(op);
      all.push_back(std::move(more));
    }
  }
  return all;
}

std::vector<Ops> arrangements(const Ops& ops) {
  std::vector<Ops> all;
  for (Ops& some : sequences(ops, ops.size())) {
    Ops sorted = some;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end())
      all.push_back(std::move(some));
  }
  return all;
}

std::vector<Draft> hand_offs() {
  std::vector<Draft> all;
  for (const bool persistent : {false, true}) {
    for (const Ops& load : arrangements({"run load x > b", "post s", "wait t"})) {
      for (const Ops& store : arrangements({"run store b > y", "wait s", "post t"})) {
        if (load.empty() || store.empty()) continue;
        Draft d = halves("hand-off");
        d.edge("load", "b", "store").sum("y", {"x"});
        d.semaphore("s", 0, 1).semaphore("t", persistent ? 1 : 0, 1);
        if (persistent) d.persistent();
        all.push_back(d.engine("load", load).engine("store", store));
      }
    }
  }
  return all;
}

std::vector<Draft> fifo_uses() {
  std::vector<Draft> all;
  const auto add = [&](const std::string& name, int pages, const std::string& depth,
                       const Ops& load, const Ops& store) {
    Draft d(name);
    d.tensor("x", "external", 1, "i8").tensor("y", "undefined", 1, "i8").sum("y", {"x"});
    d.fifo("q", pages, R"("page_bytes": 16, "depth": ")" + depth + "\"");
    if (!load.empty()) d.engine("load", load);
    all.push_back(store.empty() ? d : d.engine("store", store));
  };
  const Ops fill{"reserve q 4",      "run load x > q",   "run load x > q@1",
                 "run load x > q@2", "run load x > q@3", "push q 4"};
  for (const Ops& load : sequences(
           {"reserve q", "reserve q 2", "push q", "push q 2", "run load x > q", "run load x > q@1"},
           3)) {
    add("producer", 6, "exact", load, {});
  }
  for (const Ops& store : sequences(
           {"front q", "front q 2", "pop q", "pop q 2", "run store q > y", "run store q@1 > y"},
           3)) {
    add("consumer", 4, "exact", fill, store);
  }
  const Ops one_page{"front q", "pop q", "run store q > y"};
  const Ops two_pages{"front q", "front q 2", "pop q", "run store q > y"};
  const Ops item{"reserve q", "run load x > q", "push q"};
  Ops twice = item;
  twice.insert(twice.end(), item.begin(), item.end());
  for (const std::string depth : {"exact", "guaranteed"}) {
    for (const int pages : {1, 2}) {
      for (const Ops& store : sequences(pages == 1 ? one_page : two_pages, 4)) {
        add("both", pages, depth, twice, store);
      }
    }
  }
  return all;
}

std::vector<Draft> partial_accesses() {
  std::vector<Draft> all;
  const Ops reads{"run store b > y", "run store b[0:16] > y[0:1]", "run store b[16:32] > y[1:2]"};
  const Ops writes{"run load x > b", "run load x[0:1] > b[0:16]", "run bias x[1:2] > b[16:32]"};
  Ops any = writes;
  any.insert(any.end(), reads.begin(), reads.end());
  for (const Ops& ops : sequences(any, 3)) {
    if (ops.empty()) continue;
    Draft d = halves("one engine");
    all.push_back(d.edge("load", "b", "store").sum("y", {"x"}).engine("load", ops));
  }
  for (const Ops& first : sequences(any, 2)) {
    for (const Ops& second : sequences(reads, 1)) {
      for (std::size_t posted = 0; posted <= first.size(); ++posted) {
        Draft d = halves("two engines");
        Ops load = first, store = second;
        load.insert(load.begin() + static_cast<std::ptrdiff_t>(posted), "post s");
        store.insert(store.begin(), "wait s");
        d.semaphore("s").edge("load", "b", "store").engine("load", load).engine("store", store);
        all.push_back(d);
      }
    }
  }
  return all;
}

std::vector<Draft> sums() {
  std::vector<Draft> all;
  const Ops ops{"run add x w > y",
                "run sub x w > b",
                "run add y w > y",
                "run neg b > b",
                "run copy b > y",
                "run add b[0:16] w[0:1] > y[0:1]",
                "run copy x[0:1] > y[1:2]",
                "run add x x > y",
                "run silu x > b"};
  for (const Ops& some : sequences(ops, 3)) {
    if (some.empty()) continue;
    for (const Ops& terms : {Ops{"x", "w"}, Ops{"x"}, Ops{"x", "x", "w"}}) {
      Draft d = halves("sums");
      for (const char* op : {"add", "sub", "neg", "silu"}) d.stage(op, op);
      all.push_back(d.engine("compute", some).sum("y", terms));
    }
  }
  return all;
}

std::optional<proofs::liveness::Witness> potential(const proofs::Subject& subject) {
  const auto& program = subject.one.program;
  proofs::liveness::Witness w;
  w.potential.assign(program.size(), 0);
  w.period = static_cast<std::int64_t>(program.size()) + 1;
  for (std::size_t round = 0; round <= program.size(); ++round) {
    bool stable = true;
    const auto above = [&](std::uint32_t from, std::uint32_t to, std::int64_t tokens = 0) {
      const std::int64_t least = w.potential[from] + 1 - tokens * w.period;
      if (w.potential[to] >= least) return;
      w.potential[to] = least;
      stable = false;
    };
    for (std::uint32_t t = 0; t + 1 < program.size(); ++t) {
      if (program[t] == program[t + 1]) above(t, t + 1);
    }
    for (const ir::Place& place : subject.net.places) {
      above(place.from.value(), place.to.value(), place.tokens);
    }
    const auto& begin = subject.one.begin;
    for (std::size_t p = 0; subject.persistent() && p + 1 < begin.size(); ++p) {
      if (begin[p] != begin[p + 1]) above(begin[p + 1] - 1, begin[p], 1);
    }
    if (stable) return w;
  }
  return std::nullopt;
}

proofs::ordering::Witness paths(const proofs::Subject& subject,
                                const std::vector<std::uint32_t>& position) {
  proofs::ordering::Witness w{{0}, {}};
  for (const proofs::ordering::Pair& pair :
       proofs::ordering::conflicting_pairs(subject, position)) {
    const auto transition = [&](std::uint32_t access) {
      return subject.accesses.accesses[access].transition.value();
    };
    const auto places = path(subject, transition(pair.earlier), transition(pair.later));
    w.places.insert(w.places.end(), places.begin(), places.end());
    w.begin.push_back(static_cast<std::uint32_t>(w.places.size()));
  }
  return w;
}

proofs::memory::Witness by_address(const ir::Program& program) {
  proofs::memory::Witness w;
  for (const proofs::memory::Occupancy& o : proofs::memory::occupancies(program)) {
    w.order.push_back(o.buffers);
    std::stable_sort(
        w.order.back().begin(), w.order.back().end(), [&](ir::BufferId a, ir::BufferId b) {
          return program.buffers[a.value()].address < program.buffers[b.value()].address;
        });
  }
  return w;
}

}  // namespace spatialcert::tests
