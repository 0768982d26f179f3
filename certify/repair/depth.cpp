#include "certify/repair/depth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "certify/repair/propose.hpp"
#include "ir/token_game.hpp"
#include "smt/query.hpp"

namespace spatialcert::certify::repair {
namespace {

/// Plays, and steps of all plays together.
constexpr unsigned kMostPlays = 2'000;
constexpr std::uint64_t kMostSteps = 30'000'000;
/// Pages that a FIFO may have.
constexpr std::int64_t kMostPages = 1 << 20;

/// "FIFO has at least so many pages", one of which must hold.
using Clause = std::map<std::uint32_t, std::int64_t>;

/// Which engine programs raise a counter, by the ops of their texts.
std::vector<std::vector<std::uint32_t>> suppliers(const ir::Program& program,
                                                  const ir::Counters& counters) {
  std::vector<std::vector<std::uint32_t>> out(counters.size());
  for (std::uint32_t p = 0; p < program.programs.size(); ++p) {
    for (const ir::Op& op : program.programs[p].ops) {
      std::optional<ir::CounterId> counter;
      if (op.code == ir::OpCode::post) counter = counters.of(ir::SemaphoreId(op.object));
      if (op.code == ir::OpCode::push) counter = counters.filled(ir::BufferId(op.object));
      if (op.code == ir::OpCode::pop) counter = counters.free(ir::BufferId(op.object));
      if (!counter) continue;
      auto& all = out[counter->value()];
      if (all.empty() || all.back() != p) all.push_back(p);
    }
  }
  return out;
}

class DepthSearch {
 public:
  DepthSearch(const ir::Program& program, ir::Unrolled unrolled)
      : program_(program),
        deeper_(program),
        unrolled_(std::move(unrolled)),
        suppliers_(suppliers(program, ir::Counters(program))) {}

  std::variant<Depths, NoDepths> run() {
    std::uint64_t steps = 0;
    for (unsigned play = 0; play < kMostPlays && steps < kMostSteps; ++play) {
      const ir::TokenGame game(deeper_, unrolled_);
      const ir::FreePlay played = ir::play_freely(game);
      steps += played.result.steps + 1;
      if (played.result.fault) return NoDepths{"a play ends in a fault before it gets stuck"};
      const auto stuck = waiting(game, played.result.state);
      if (stuck.empty()) return found();
      const std::size_t before = clauses_.size();
      for (const std::uint32_t p : stuck) {
        Clause clause = clause_of(game, played.result.state, p);
        if (clause.empty()) {
          return NoDepths{
              fmt::format("{} waits in a circle that holds no full FIFO, so no depth helps",
                          engine_text(program_, ir::ProgramId(p)))};
        }
        if (std::find(clauses_.begin(), clauses_.end(), clause) == clauses_.end())
          clauses_.push_back(std::move(clause));
      }
      if (clauses_.size() == before) return NoDepths{"the search for depths does not get on"};
      if (auto failed = solve()) return *std::move(failed);
    }
    return NoDepths{"the search for depths passed its limit"};
  }

 private:
  /// Engine programs that can never step again.
  std::vector<std::uint32_t> waiting(const ir::TokenGame& game, const ir::PlayState& state) const {
    std::vector<std::uint32_t> out;
    const auto blocked = ir::blocked_for_ever(game, state);
    for (std::uint32_t p = 0; p < blocked.size(); ++p) {
      if (blocked[p] != 0) out.push_back(p);
    }
    return out;
  }

  /// Of `start` and those it waits for, directly or not: who waits for room, and how many pages
  /// that would take.
  Clause clause_of(const ir::TokenGame& game, const ir::PlayState& state,
                   std::uint32_t start) const {
    Clause out;
    std::vector<char> seen(program_.programs.size(), 0);
    std::vector<std::uint32_t> open{start};
    seen[start] = 1;
    while (!open.empty()) {
      const ir::ProgramId p(open.back());
      open.pop_back();
      if (game.finished(state, p)) continue;
      const auto test = game.blocked(state, p);
      if (!test) continue;
      const ir::Counter& counter = game.counters()[test->counter];
      if (counter.kind == ir::CounterKind::free) {
        const auto pages = static_cast<std::int64_t>(deeper_.buffers[counter.object].pages) +
                           test->need - test->have;
        const auto [at, fresh] = out.emplace(counter.object, pages);
        if (!fresh) at->second = std::min(at->second, pages);
      }
      for (const std::uint32_t q : suppliers_[test->counter.value()]) {
        if (seen[q] == 0) {
          seen[q] = 1;
          open.push_back(q);
        }
      }
    }
    return out;
  }

  /// The cheapest pages that satisfy all clauses, by halving the range of what they may cost.
  std::optional<NoDepths> solve() {
    std::vector<std::uint32_t> fifos;
    for (const Clause& clause : clauses_) {
      for (const auto& [fifo, pages] : clause) {
        if (pages > kMostPages) return NoDepths{"a FIFO would need more than a million pages"};
        fifos.push_back(fifo);
      }
    }
    std::sort(fifos.begin(), fifos.end());
    fifos.erase(std::unique(fifos.begin(), fifos.end()), fifos.end());
    std::optional<std::vector<std::int64_t>> best;
    std::int64_t low = least_, high = -1;
    while (high < 0 || low < high) {
      const bool bounded = high >= 0;
      const std::int64_t most = bounded ? low + (high - low) / 2 : 0;
      smt::Query query = session_.query(smt::Logic::linear);
      std::vector<smt::Term> pages;
      const smt::Term cost = write(fifos, query, pages);
      if (bounded) query.require(query.at_most(cost, query.constant(most)));
      const smt::Answer answer = session_.solve(query);
      if (const auto* undecided = std::get_if<smt::Undecided>(&answer))
        return NoDepths{"Z3: " + undecided->reason};
      if (std::holds_alternative<smt::Impossible>(answer)) {
        if (!bounded) return NoDepths{"no depths satisfy what stuck plays ask for"};
        low = most + 1;
        continue;
      }
      best.emplace();
      for (const smt::Term term : pages) best->push_back(query.value(term));
      high = query.value(cost);
    }
    least_ = high;
    if (!best) return std::nullopt;
    deeper_.buffers = program_.buffers;
    for (std::size_t i = 0; i < fifos.size(); ++i)
      deeper_.buffers[fifos[i]].pages = static_cast<std::uint64_t>((*best)[i]);
    return std::nullopt;
  }

  /// Pages of every FIFO, and what they cost in bytes more than now.
  smt::Term write(const std::vector<std::uint32_t>& fifos, smt::Query& query,
                  std::vector<smt::Term>& pages) const {
    std::map<std::uint32_t, smt::Term> of;
    std::vector<smt::Term> costs{query.constant(0)};
    for (const std::uint32_t fifo : fifos) {
      const ir::Buffer& buffer = program_.buffers[fifo];
      const smt::Term term = query.integer(fmt::format("pages{}", fifo));
      const smt::Term now = query.constant(static_cast<std::int64_t>(buffer.pages));
      query.require(query.at_most(now, term));
      query.require(query.at_most(term, query.constant(kMostPages)));
      costs.push_back(
          query.scaled(static_cast<std::int64_t>(buffer.page_bytes), query.minus(term, now)));
      pages.push_back(term);
      of.emplace(fifo, term);
    }
    for (const Clause& clause : clauses_) {
      std::vector<smt::Term> either;
      for (const auto& [fifo, least] : clause)
        either.push_back(query.at_most(query.constant(least), of.at(fifo)));
      query.require(query.any_of(either));
    }
    const smt::Term cost = query.sum(costs);
    query.require(query.at_most(query.constant(least_), cost));
    return cost;
  }

  std::variant<Depths, NoDepths> found() const {
    Depths out;
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
      if (deeper_.buffers[b].pages != program_.buffers[b].pages)
        out.emplace(b, deeper_.buffers[b].pages);
    }
    if (out.empty()) return NoDepths{"it does not get stuck for want of pages"};
    return out;
  }

  const ir::Program& program_;
  ir::Program deeper_;
  ir::Unrolled unrolled_;
  std::vector<std::vector<std::uint32_t>> suppliers_;
  std::vector<Clause> clauses_;
  std::int64_t least_ = 0;  ///< that any depths cost which do not get stuck
  smt::Session session_;
};

bool waits_for_room(const Case& what) {
  return std::any_of(what.counterexample.chain.begin(), what.counterexample.chain.end(),
                     [&](const proofs::WaitLink& link) {
                       return what.names.counters()[link.counter].kind == ir::CounterKind::free;
                     });
}

}  // namespace

std::variant<Depths, NoDepths> least_depths(const ir::Program& program, std::uint32_t iterations) {
  auto unrolled = ir::unroll(program, iterations, 4'000'000);
  if (!std::holds_alternative<ir::Unrolled>(unrolled))
    return NoDepths{"the program is too large to be played for depths"};
  return DepthSearch(program, std::get<ir::Unrolled>(std::move(unrolled))).run();
}

void propose_depths(const Case& what, Proposals& out) {
  if (!waits_for_room(what)) return;
  out.tried.emplace_back("deeper FIFOs");
  const bool persistent = what.program.execution == ir::Execution::persistent;
  const auto answer =
      least_depths(what.program, persistent ? std::max(3U, what.counterexample.iterations) : 1);
  if (const auto* none = std::get_if<NoDepths>(&answer)) {
    out.obstacles.push_back(none->why);
    return;
  }
  Candidate candidate;
  candidate.idea = "deeper FIFOs, the least memory that is enough";
  const auto& depths = std::get<Depths>(answer);
  const auto edits_of = [&](std::uint32_t less) {
    Edits edits;
    for (const auto& [fifo, pages] : depths) {
      const std::uint64_t now = pages - (fifo == less ? 1 : 0);
      if (now != what.program.buffers[fifo].pages)
        edits.push_back(ChangeDepth{ir::BufferId(fifo), now});
    }
    return edits;
  };
  candidate.edits = edits_of(static_cast<std::uint32_t>(what.program.buffers.size()));
  for (const auto& [fifo, pages] : depths) candidate.smaller.push_back(edits_of(fifo));
  if (!place_buffers(what.program, candidate.edits, out)) return;
  out.candidates.push_back(std::move(candidate));
}

}  // namespace spatialcert::certify::repair
