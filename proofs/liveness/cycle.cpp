#include "proofs/liveness/cycle.hpp"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <limits>
#include <queue>

namespace spatialcert::proofs::liveness {
namespace {

/// Steps of search that finding a shortest cycle may take; then the best so far is returned.
constexpr std::uint64_t kSearchLimit = 300'000'000;

class CycleSearch {
 public:
  explicit CycleSearch(const Subject& subject)
      : subject_(subject),
        u_(subject.one),
        out_(token_free(subject)),
        component_(u_.transitions()) {}

  std::vector<std::uint32_t> run() {
    components();
    std::vector<std::uint32_t> best;
    for (std::uint32_t t = 0; t < u_.transitions() && work_ < kSearchLimit; ++t) {
      // A cycle passes through a test; starting at one of them is enough.
      if (in_[t] && size_[component_[t]] > 1) from(t, best);
    }
    return best;
  }

 private:
  /// Hand-offs first, then ops: a cycle is read engine by engine.
  using Cost = std::uint64_t;
  static constexpr Cost kHandoff = Cost{1} << 32;

  static ir::Adjacency token_free(const Subject& subject) {
    return {subject.one.transitions(), subject.net.places, true};
  }

  [[nodiscard]] bool same_program(std::uint32_t a, std::uint32_t b) const {
    return b < u_.transitions() && u_.program[a] == u_.program[b];
  }

  void components() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    in_.assign(u_.transitions(), false);
    for (std::uint32_t t = 0; t < u_.transitions(); ++t) {
      if (same_program(t, t + 1)) edges.emplace_back(t, t + 1);
    }
    for (const ir::Place& p : subject_.net.places) {
      if (p.tokens != 0) continue;
      edges.emplace_back(p.from.value(), p.to.value());
      in_[p.to.value()] = true;
    }
    using Graph = boost::compressed_sparse_row_graph<boost::directedS>;
    const Graph graph(boost::edges_are_unsorted, edges.begin(), edges.end(), u_.transitions());
    const auto index = boost::get(boost::vertex_index, graph);
    const auto count = boost::strong_components(
        graph, boost::make_iterator_property_map(component_.begin(), index));
    size_.assign(count, 0);
    for (const std::uint32_t c : component_) ++size_[c];
  }

  /// Shortest way from `start` back to itself inside its component; replaces `best` if it is
  /// shorter.
  void from(std::uint32_t start, std::vector<std::uint32_t>& best) {
    constexpr auto kFar = std::numeric_limits<Cost>::max();
    if (cost_.empty()) {
      cost_.assign(u_.transitions(), kFar);
      via_.assign(u_.transitions(), {});
    }
    std::vector<std::uint32_t> touched;
    using Entry = std::pair<Cost, std::uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    const auto reach = [&](std::uint32_t from_t, std::uint32_t to, std::int64_t place, Cost cost) {
      if (component_[to] != component_[start] || cost >= best_cost_) return;
      if (to == start) {
        best_cost_ = cost;
        best.clear();
        via_[start] = {from_t, place};
        collect(start, best);
        return;
      }
      if (cost >= cost_[to]) return;
      if (cost_[to] == kFar) touched.push_back(to);
      cost_[to] = cost;
      via_[to] = {from_t, place};
      queue.emplace(cost, to);
    };
    expand(start, 0, reach);
    while (!queue.empty()) {
      const auto [cost, t] = queue.top();
      queue.pop();
      if (cost == cost_[t] && cost < best_cost_) expand(t, cost, reach);
    }
    for (const std::uint32_t t : touched) cost_[t] = kFar;
  }

  template <typename Reach>
  void expand(std::uint32_t t, Cost cost, const Reach& reach) {
    ++work_;
    if (same_program(t, t + 1)) reach(t, t + 1, -1, cost + 1);
    for (const std::uint32_t p : out_.out_of(t)) {
      ++work_;
      if (subject_.net.places[p].tokens == 0)
        reach(t, subject_.net.places[p].to.value(), p, cost + kHandoff);
    }
  }

  /// Places from `start` backwards: each waits for the one after it.
  void collect(std::uint32_t start, std::vector<std::uint32_t>& places) const {
    std::uint32_t t = start;
    do {
      const auto [from, place] = via_[t];
      if (place >= 0) places.push_back(static_cast<std::uint32_t>(place));
      t = from;
    } while (t != start);
  }

  const Subject& subject_;
  const ir::Unrolled& u_;
  ir::Adjacency out_;
  std::vector<std::uint32_t> component_;
  std::vector<std::uint32_t> size_;
  std::vector<bool> in_;
  std::vector<Cost> cost_;
  std::vector<std::pair<std::uint32_t, std::int64_t>> via_;
  Cost best_cost_ = std::numeric_limits<Cost>::max();
  std::uint64_t work_ = 0;
};

/// The counter that `op` raises, if any.
std::optional<ir::CounterId> raised_by(const ir::Counters& counters, const ir::Op& op) {
  switch (op.code) {
    case ir::OpCode::post:
      return counters.of(ir::SemaphoreId(op.object));
    case ir::OpCode::push:
      return counters.filled(ir::BufferId(op.object));
    case ir::OpCode::pop:
      return counters.free(ir::BufferId(op.object));
    default:
      return std::nullopt;
  }
}

/// The first op still to come, of another program, that raises `counter`.
ir::TransitionId next_supplier(const ir::TokenGame& game, const ir::PlayState& state,
                               std::uint32_t waiter, ir::CounterId counter) {
  const ir::Unrolled& u = game.unrolled();
  for (std::uint32_t p = 0; p < state.next.size(); ++p) {
    if (p == waiter) continue;
    for (std::uint32_t t = state.next[p]; t < u.begin[p + 1]; ++t) {
      if (raised_by(game.counters(), u.op_of(game.program(), ir::TransitionId(t))) == counter) {
        return ir::TransitionId(t);
      }
    }
  }
  return {};
}

}  // namespace

std::vector<std::uint32_t> shortest_cycle(const Subject& subject) {
  return CycleSearch(subject).run();
}

std::vector<WaitLink> cycle_chain(const Subject& subject,
                                  const std::vector<std::uint32_t>& places) {
  std::vector<WaitLink> chain;
  for (const std::uint32_t index : places) {
    const ir::Place& place = subject.net.places[index];
    const std::int64_t need = subject.one.op_of(*subject.program, place.to).count;
    chain.push_back({place.to, place.counter, need, 0, place.from});
  }
  return chain;
}

StuckChain stuck_chain(const ir::TokenGame& game, const ir::PlayState& state, std::size_t most) {
  StuckChain out;
  const std::uint32_t programs = static_cast<std::uint32_t>(state.next.size());
  std::vector<std::int64_t> seen_at(programs, -1);
  std::uint32_t p = 0;
  const auto stuck = ir::blocked_for_ever(game, state);
  while (p < programs && stuck[p] == 0) ++p;
  while (p < programs) {
    if (seen_at[p] >= 0) {
      out.circle = true;
      out.links.erase(out.links.begin(), out.links.begin() + seen_at[p]);
      return out;
    }
    const auto test = game.blocked(state, ir::ProgramId(p));
    if (!test || out.links.size() == most) return out;
    seen_at[p] = static_cast<std::int64_t>(out.links.size());
    WaitLink link{ir::TransitionId(state.next[p]), test->counter, test->need, test->have, {}};
    link.supplier = next_supplier(game, state, p, test->counter);
    out.links.push_back(link);
    if (!link.supplier.valid()) {
      out.links.erase(out.links.begin(), out.links.end() - 1);
      return out;
    }
    p = game.unrolled().program[link.supplier.value()];
  }
  return out;
}

}  // namespace spatialcert::proofs::liveness
