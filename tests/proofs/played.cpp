#include "tests/proofs/played.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spatialcert::tests {

ir::Unrolled unrolled(const ir::Program& program, std::uint32_t iterations) {
  const bool persistent = program.execution == ir::Execution::persistent;
  return std::get<ir::Unrolled>(ir::unroll(program, persistent ? iterations : 1));
}

Played::Played(const Draft& draft, std::uint32_t iterations, std::uint64_t most_states)
    : program(draft.program()),
      one(unrolled(program, 1)),
      counted(ir::count_net(program, one)),
      many_(unrolled(program, iterations)),
      explored_(ir::TokenGame(program, many_), most_states) {
  std::vector<std::int64_t> extra;
  for (const ir::Buffer& buffer : program.buffers)
    extra.push_back(buffer.depth == ir::Depth::guaranteed ? 2 : 0);
  if (std::any_of(extra.begin(), extra.end(), [](std::int64_t pages) { return pages > 0; }))
    deeper_.emplace(ir::TokenGame(program, many_, extra), most_states);
}

bool Played::complete() const { return explored_.complete && (!deeper_ || deeper_->complete); }

ir::Net Played::net(const Places& places) const {
  return ir::check_net(program, one, counted, places);
}

bool Played::holds(const ir::Place& place) const {
  return holds_in(explored_, place) && (place.credit || !deeper_ || holds_in(*deeper_, place));
}

bool Played::holds_in(const Exploration& explored, const ir::Place& place) const {
  for (std::uint32_t i = 0; i < many_.iterations; ++i) {
    const std::int64_t from = std::int64_t{i} - place.tokens;
    if (from < 0) continue;
    const std::uint32_t to = at(place.to, i);
    if (from >= many_.iterations ? explored.ever_enabled(to)
                                 : explored.separates(to, at(place.from, from)))
      return false;
  }
  return true;
}

std::optional<std::string> Played::not_exact(const ir::Net& net) const {
  std::vector<char> excused(one.transitions(), 0);
  for (const ir::TestIssue& issue : net.issues) {
    if (!issue.transition.valid()) return std::nullopt;  // unbalanced, or beyond the limits
    excused[issue.transition.value()] = 1;
  }
  std::vector<ir::TransitionId> beyond;
  const auto places = ir::expand_places(net, one, many_, &beyond);
  const ir::Adjacency into(many_.transitions(), places, true);
  std::vector<char> later(many_.transitions(), 0);
  for (const ir::TransitionId t : beyond) later[t.value()] = 1;
  for (std::size_t i = 0; i < explored_.states.size(); ++i) {
    for (std::uint32_t p = 0; p + 1 < many_.begin.size(); ++p) {
      const std::uint32_t t = many_.begin[p] + explored_.states[i][p];
      if (t == many_.begin[p + 1] || (explored_.enabled[i] >> p & 1U) != 0) continue;
      if (later[t] != 0 || excused[within_one(t)] != 0) continue;
      const auto range = into.into(t);
      const bool ready = std::all_of(range.begin(), range.end(), [&](std::uint32_t place) {
        return performed(i, places[place].from.value());
      });
      if (ready) return fmt::format("program {} step {}", p, explored_.states[i][p]);
    }
  }
  return std::nullopt;
}

std::uint32_t Played::at(ir::TransitionId t, std::int64_t iteration) const {
  const std::uint32_t p = one.program[t.value()];
  return many_.begin[p] + static_cast<std::uint32_t>(iteration) * one.length(ir::ProgramId(p)) +
         (t.value() - one.begin[p]);
}

std::uint32_t Played::within_one(std::uint32_t t) const {
  const std::uint32_t p = many_.program[t];
  return one.begin[p] + (t - many_.begin[p]) % one.length(ir::ProgramId(p));
}

bool Played::performed(std::size_t state, std::uint32_t t) const {
  const std::uint32_t p = many_.program[t];
  return explored_.states[state][p] > t - many_.begin[p];
}

}  // namespace spatialcert::tests
