#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/require.hpp"
#include "ir/sections.hpp"
#include "proofs/canonical.hpp"
#include "proofs/issues.hpp"
#include "proofs/liveness/cycle.hpp"
#include "proofs/liveness/rule.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs::liveness {
namespace {

/// Tests that one query takes. Z3's difference logic is quadratic in practice, blocks of this size
/// are not.
constexpr std::size_t kBlock = 200;
/// Seeds tried on a program outside the class, and the steps that all of them may take together for
/// one number of iterations.
constexpr std::uint64_t kSeeds = 64;
constexpr std::uint64_t kOnceSteps = 8'000'000;
constexpr std::uint64_t kPersistentSteps = 400'000;
/// Engine programs that are asked what they wait for, to tell a circle where they stand.
constexpr std::size_t kMostStanding = 16;

/// Is the token-free part of the net all that matters? Yes, unless a place leads back by an
/// iteration: then a cycle can pass through places with tokens and hold none in all.
bool only_token_free(const Subject& subject) {
  return ir::iterations_back(subject.net, subject.one) == 0;
}

/// The net, or its token-free part, with runs of ops joined to their head: the first op of an
/// engine program, or a test with a place. A cycle enters a run only at its head, so the heads
/// carry all potentials.
class Heads {
 public:
  Heads(const Subject& subject, bool token_free, const std::vector<ir::Piece>& pieces)
      : u_(subject.one), head_(u_.transitions()) {
    std::vector<bool> is_head(u_.transitions(), false);
    for (const ir::Piece& piece : pieces) is_head[piece.begin] = true;
    for (const ir::Place& p : subject.net.places) {
      if (p.tokens == 0 || !token_free) is_head[p.to.value()] = true;
    }
    for (std::uint32_t t = 0; t < u_.transitions(); ++t) {
      if (is_head[t] || t == u_.begin[u_.program[t]]) heads_.push_back(t);
      head_[t] = static_cast<std::uint32_t>(heads_.size() - 1);
    }
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(heads_.size()); }
  [[nodiscard]] std::uint32_t of(std::uint32_t t) const { return head_[t]; }
  [[nodiscard]] std::int64_t behind(std::uint32_t t) const { return t - heads_[head_[t]]; }
  [[nodiscard]] std::uint32_t transition(std::uint32_t h) const { return heads_[h]; }
  [[nodiscard]] bool follows(std::uint32_t h) const {
    return h > 0 && u_.program[heads_[h]] == u_.program[heads_[h - 1]];
  }

 private:
  const ir::Unrolled& u_;
  std::vector<std::uint32_t> head_, heads_;
};

/// r(to) - r(from) >= gap, between heads.
struct Constraint {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::int64_t gap = 0;
};

/// Longer than any path of the net that repeats no op: then a token makes up for all of it.
std::int64_t long_period(const Subject& subject) {
  return std::int64_t{subject.one.transitions()} + 1;
}

std::vector<Constraint> constraints(const Subject& subject, const Heads& heads, bool token_free) {
  std::vector<Constraint> out;
  for (std::uint32_t h = 0; h < heads.size(); ++h) {
    if (!heads.follows(h)) continue;
    out.push_back({h - 1, h, std::int64_t{heads.transition(h)} - heads.transition(h - 1)});
  }
  const auto add = [&](std::uint32_t from, std::uint32_t to, std::int64_t tokens) {
    out.push_back(
        {heads.of(from), heads.of(to), heads.behind(from) + 1 - tokens * long_period(subject)});
  };
  for (const ir::Place& p : subject.net.places) {
    if (p.tokens == 0 || !token_free) add(p.from.value(), p.to.value(), p.tokens);
  }
  const auto& begin = subject.one.begin;
  for (std::uint32_t p = 0; !token_free && p + 1 < begin.size(); ++p) {
    if (begin[p] != begin[p + 1]) add(begin[p + 1] - 1, begin[p], 1);
  }
  return out;
}

constexpr std::uint32_t kNoBlock = 0xffffffffU;

/// The heads that a topological order leaves over both ways: on a cycle, or between two. They are
/// one block, and the others none: a net with a cycle is refuted by a part of it.
void only_cycles(const std::vector<Constraint>& all, std::vector<std::uint32_t>& block) {
  for (const bool forward : {true, false}) {
    std::vector<std::uint32_t> degree(block.size(), 0), begin(block.size() + 1, 0),
        next(all.size()), gone;
    const auto source = [&](const Constraint& c) { return forward ? c.from : c.to; };
    const auto target = [&](const Constraint& c) { return forward ? c.to : c.from; };
    for (const Constraint& c : all) {
      ++degree[target(c)];
      ++begin[source(c) + 1];
    }
    for (std::size_t h = 0; h < block.size(); ++h) begin[h + 1] += begin[h];
    auto at = begin;
    for (const Constraint& c : all) next[at[source(c)]++] = target(c);
    for (std::uint32_t h = 0; h < block.size(); ++h) {
      if (degree[h] == 0) gone.push_back(h);
    }
    for (std::size_t i = 0; i < gone.size(); ++i) {
      block[gone[i]] = kNoBlock;
      for (std::uint32_t e = begin[gone[i]]; e < begin[gone[i] + 1]; ++e) {
        if (--degree[next[e]] == 0) gone.push_back(next[e]);
      }
    }
  }
}

/// Blocks of heads such that no constraint leads into an earlier block; one block if the net is
/// small.
std::vector<std::uint32_t> blocks(const Heads& heads, const std::vector<Constraint>& all) {
  std::vector<std::uint32_t> block(heads.size(), 0);
  if (heads.size() <= kBlock) return block;
  std::vector<std::uint32_t> missing(heads.size(), 0), order, begin(heads.size() + 1, 0),
      out(all.size());
  for (const Constraint& c : all) {
    ++missing[c.to];
    ++begin[c.from + 1];
  }
  for (std::uint32_t h = 0; h < heads.size(); ++h) begin[h + 1] += begin[h];
  auto at = begin;
  for (const Constraint& c : all) out[at[c.from]++] = c.to;
  for (std::uint32_t h = 0; h < heads.size(); ++h) {
    if (missing[h] == 0) order.push_back(h);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    block[order[i]] = static_cast<std::uint32_t>(i / kBlock);
    for (std::uint32_t e = begin[order[i]]; e < begin[order[i] + 1]; ++e) {
      if (--missing[out[e]] == 0) order.push_back(out[e]);
    }
  }
  if (order.size() != heads.size()) {
    std::fill(block.begin(), block.end(), 0);
    only_cycles(all, block);
  }
  return block;
}

/// The pieces of a program that closed boundaries cut into several parts.
std::vector<ir::Piece> pieces_to_cut(const Subject& subject, bool cut) {
  return cut && !ir::phases_of(*subject.program).closed.empty()
             ? ir::pieces_of(*subject.program, subject.one)
             : std::vector<ir::Piece>{};
}

/// Where in the sequence of phases and closed boundaries every head stands.
std::vector<std::uint32_t> ranks(const Subject& subject, const Heads& heads,
                                 const std::vector<ir::Piece>& pieces) {
  const ir::Program& program = *subject.program;
  std::vector<std::uint32_t> before(program.sections.size() + 1, 0);  // closed boundaries
  for (const ir::Boundary& b : program.boundaries) {
    if (b.closed) before[b.after.value() + 1] = 1;
  }
  for (std::size_t s = 1; s < before.size(); ++s) before[s] += before[s - 1];
  std::vector<std::uint32_t> rank(heads.size(), 0);
  for (const ir::Piece& piece : pieces) {
    const std::uint32_t r =
        piece.section.valid()
            ? 2 * before[piece.section.value()]
            : 2 * before[program.boundaries[piece.boundary.value()].after.value()] + 1;
    for (std::uint32_t t = piece.begin; t < piece.end; ++t) rank[heads.of(t)] = r;
  }
  return rank;
}

/// Blocks that hold heads of one rank each, so that equal phases and boundaries have equal blocks.
/// Nothing if a constraint leads back in the ranks, or there is a cycle.
std::vector<std::uint32_t> blocks_by_rank(const std::vector<Constraint>& all,
                                          const std::vector<std::uint32_t>& rank) {
  const auto heads = static_cast<std::uint32_t>(rank.size());
  std::vector<std::uint32_t> missing(heads, 0), begin(heads + 1, 0);
  for (const Constraint& c : all) {
    if (rank[c.from] > rank[c.to]) return {};
    if (rank[c.from] != rank[c.to]) continue;
    ++missing[c.to];
    ++begin[c.from + 1];
  }
  for (std::uint32_t h = 0; h < heads; ++h) begin[h + 1] += begin[h];
  auto at = begin;
  std::vector<std::uint32_t> next(begin.back());
  for (const Constraint& c : all) {
    if (rank[c.from] == rank[c.to]) next[at[c.from]++] = c.to;
  }
  std::vector<std::vector<std::uint32_t>> members;
  for (std::uint32_t h = 0; h < heads; ++h) {
    if (rank[h] >= members.size()) members.resize(rank[h] + 1);
    members[rank[h]].push_back(h);
  }
  std::vector<std::uint32_t> block(heads, 0);
  std::uint32_t number = 0;
  for (const auto& of_rank : members) {
    std::vector<std::uint32_t> order;
    for (const std::uint32_t h : of_rank) {
      if (missing[h] == 0) order.push_back(h);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      block[order[i]] = number + static_cast<std::uint32_t>(i / kBlock);
      for (std::uint32_t e = begin[order[i]]; e < begin[order[i] + 1]; ++e) {
        if (--missing[next[e]] == 0) order.push_back(next[e]);
      }
    }
    if (order.size() != of_rank.size()) return {};
    number += static_cast<std::uint32_t>((order.size() + kBlock - 1) / kBlock);
  }
  return block;
}

class Potentials {
 public:
  Potentials(const Subject& subject, smt::Session& session)
      : subject_(subject),
        session_(session),
        token_free_(only_token_free(subject)),
        pieces_(pieces_to_cut(subject, session.classes && token_free_)),
        heads_(subject, token_free_, pieces_),
        all_(constraints(subject, heads_, token_free_)),
        potential_(heads_.size(), 0) {
    if (!pieces_.empty()) block_ = blocks_by_rank(all_, ranks(subject, heads_, pieces_));
    if (block_.size() != heads_.size()) {
      block_ = token_free_ && session.classes ? blocks(heads_, all_)
                                              : std::vector<std::uint32_t>(heads_.size(), 0);
    }
    for (const std::uint32_t b : block_) {
      if (b != kNoBlock) blocks_ = std::max(blocks_, b + 1);
    }
  }

  [[nodiscard]] std::uint32_t block_count() const { return blocks_; }

  /// Asks Z3 block by block; the potentials of a block lie above those of all earlier ones.
  smt::Answer solve() {
    if (const auto answer = supplies()) return *answer;
    std::int64_t widest = 1;
    std::vector<Block> all(blocks_);
    number_.resize(heads_.size());
    for (std::uint32_t h = 0; h < heads_.size(); ++h) {
      if (block_[h] == kNoBlock) continue;
      auto& members = all[block_[h]].members;
      number_[h] = static_cast<std::uint32_t>(members.size());
      members.push_back(h);
    }
    for (const Constraint& c : all_) {
      widest = std::max(widest, c.gap);
      if (block_[c.from] == block_[c.to] && block_[c.to] != kNoBlock)
        all[block_[c.to]].inside.push_back(c);
    }
    session_.perform(all.size(), [&](std::size_t b) { all[b].key = key_of(all[b]); });
    if (const auto other = ask(all)) return *other;
    std::int64_t base = 0;
    for (const Block& block : all) {
      const std::vector<std::int64_t>& values = session_.solved.at(block.key);
      std::int64_t top = base;
      for (std::size_t i = 0; i < block.members.size(); ++i) {
        potential_[block.members[i]] = base + values[i];
        top = std::max(top, base + values[i] + widest);
      }
      base = top;
    }
    return smt::Satisfied{};
  }

  [[nodiscard]] Witness witness() const {
    Witness w;
    w.potential.resize(subject_.one.transitions());
    for (std::uint32_t t = 0; t < w.potential.size(); ++t) {
      w.potential[t] = potential_[heads_.of(t)] + heads_.behind(t);
    }
    const auto [least, most] = std::minmax_element(w.potential.begin(), w.potential.end());
    if (!token_free_) {
      w.period = long_period(subject_);
    } else if (!w.potential.empty()) {
      w.period = *most - *least + 1;
    }
    return w;
  }

 private:
  /// "Every test gets what it needs": demand at most supply, for the tests that have no place
  /// because nothing supplies them. Nothing if there are none.
  std::optional<smt::Answer> supplies() {
    smt::Query query = session_.query(smt::Logic::linear);
    bool any = false;
    for (const ir::TestIssue& issue : subject_.net.issues) {
      if (issue.kind != ir::TestIssue::Kind::starved) continue;
      any = true;
      query.require(query.at_most(query.constant(issue.demand), query.constant(issue.supply)));
    }
    if (!any) return std::nullopt;
    const smt::Answer answer = session_.solve(query);
    if (std::holds_alternative<smt::Satisfied>(answer)) return std::nullopt;
    return answer;
  }

  struct Block {
    std::vector<std::uint32_t> members;  ///< heads
    std::vector<Constraint> inside;
    smt::QuestionKey key{};
  };

  [[nodiscard]] smt::QuestionKey key_of(const Block& block) const {
    CanonicalText text('l');
    text.number(block.members.size());
    for (const Constraint& c : block.inside) {
      text.number(number_[c.from]);
      text.number(number_[c.to]);
      text.signed_number(c.gap);
    }
    return text.key();
  }

  /// Has a solution for every block, with 0 as the least value, be it that of an equal one.
  std::optional<smt::Answer> ask(const std::vector<Block>& all) {
    std::vector<const Block*> open;
    std::set<smt::QuestionKey> asked;
    for (const Block& block : all) {
      const bool known = session_.solved.contains(block.key) || !asked.insert(block.key).second;
      if (known && session_.classes) {
        ++session_.repeated;
      } else {
        open.push_back(&block);
      }
    }
    smt::Questions questions;
    questions.logic = smt::Logic::difference;
    questions.count = open.size();
    questions.expected = smt::Expected::satisfied;
    questions.write = [&](std::size_t i, smt::Query& query) { return write(*open[i], query); };
    smt::Replies replies = session_.ask(questions);
    if (replies.other) return replies.other;
    for (std::size_t i = 0; i < open.size(); ++i) {
      auto& values = replies.values[i];
      const auto least = std::min_element(values.begin(), values.end());
      const std::int64_t base = least == values.end() ? 0 : *least;
      for (std::int64_t& value : values) value -= base;
      session_.solved[open[i]->key] = std::move(values);
    }
    return std::nullopt;
  }

  [[nodiscard]] std::vector<smt::Term> write(const Block& block, smt::Query& query) const {
    std::vector<smt::Term> terms;
    for (const std::uint32_t h : block.members)
      terms.push_back(query.integer(fmt::format("r{}", heads_.transition(h))));
    for (const Constraint& c : block.inside) {
      query.require(query.at_most(query.constant(c.gap),
                                  query.minus(terms[number_[c.to]], terms[number_[c.from]])));
    }
    return terms;
  }

  const Subject& subject_;
  smt::Session& session_;
  bool token_free_;
  std::vector<ir::Piece> pieces_;
  Heads heads_;
  std::vector<Constraint> all_;
  std::vector<std::uint32_t> block_;
  std::vector<std::uint32_t> number_;  ///< of every head within its block
  std::uint32_t blocks_ = 0;
  std::vector<std::int64_t> potential_;
};

/// A play that ended where somebody waits for ever.
struct Stuck {
  ir::Unrolled unrolled;
  ir::FreePlay play;
  std::optional<ir::ProgramId> starved;  ///< by the balance of a persistent program; else for ever
};

/// Plays `iterations` iterations, in round robin and then with the seeds from 1 to `seeds`.
std::optional<Stuck> play_to_stuck(const Subject& subject, std::uint32_t iterations,
                                   std::uint64_t seeds) {
  const ir::Program& program = *subject.program;
  auto unrolled = ir::unroll(program, iterations, 4'000'000);
  if (!std::holds_alternative<ir::Unrolled>(unrolled)) return std::nullopt;
  Stuck stuck{std::move(std::get<ir::Unrolled>(unrolled)), {}, {}};
  const ir::TokenGame game(program, stuck.unrolled);
  for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
    stuck.play = ir::play_freely(game, seed == 0 ? std::nullopt : std::optional(seed));
    if (stuck.play.result.fault) continue;
    if (stuck.play.result.complete && !subject.persistent()) continue;
    const auto blocked = ir::blocked_for_ever(game, stuck.play.result.state);
    if (std::find(blocked.begin(), blocked.end(), 1) != blocked.end()) return stuck;
    stuck.starved = ir::starved_by_balance(game, stuck.play.result.state);
    if (stuck.starved) return stuck;
  }
  return std::nullopt;
}

/// Persistent programs are unrolled further and further, because a program that has ended its last
/// iteration would have gone on. So the play found is one of the shortest.
std::optional<Stuck> play_to_stuck(const Subject& subject, std::uint64_t seeds) {
  for (std::uint32_t iterations = 1; iterations <= 4096; iterations *= 2) {
    const std::uint64_t steps = std::uint64_t{subject.one.transitions()} * iterations + 1;
    const std::uint64_t affordable = (subject.persistent() ? kPersistentSteps : kOnceSteps) / steps;
    if (auto stuck = play_to_stuck(subject, iterations, std::min(seeds, affordable))) return stuck;
    if (!subject.persistent()) break;
  }
  return std::nullopt;
}

Counterexample stuck_counterexample(const Subject& subject, Stuck stuck) {
  const ir::TokenGame game(*subject.program, stuck.unrolled);
  Counterexample c;
  StuckChain chain;
  if (stuck.starved) {
    const ir::PlayState& state = stuck.play.result.state;
    const auto test = game.blocked(state, *stuck.starved);
    chain.links = {{ir::TransitionId(state.next[stuck.starved->value()]),
                    test->counter,
                    test->need,
                    test->have,
                    {}}};
  } else {
    chain = stuck_chain(game, stuck.play.result.state);
  }
  c.kind = chain.circle ? Kind::cycle : Kind::starved;
  c.iterations = stuck.unrolled.iterations;
  c.chain = chain.links;
  c.schedules.push_back(std::move(stuck.play.schedule));
  return c;
}

/// A cycle of the net refutes; the stuck state that a play ends in must contain it.
std::optional<Counterexample> cycle_counterexample(const Subject& subject) {
  const auto cycle = shortest_cycle(subject);
  if (cycle.empty() && only_token_free(subject)) return std::nullopt;
  auto stuck = play_to_stuck(subject, 0);
  if (!stuck) return std::nullopt;
  if (subject.persistent()) return stuck_counterexample(subject, std::move(*stuck));
  Counterexample c;
  c.kind = Kind::cycle;
  c.chain = cycle_chain(subject, cycle);
  const ir::TokenGame game(*subject.program, stuck->unrolled);
  for (WaitLink& link : c.chain)
    link.have = game.counter_value(stuck->play.result.state, link.counter);
  // Of circles that are as short, one of the ops at which the engine programs stand says more.
  StuckChain standing = stuck_chain(game, stuck->play.result.state, kMostStanding);
  if (standing.circle && standing.links.size() <= c.chain.size())
    c.chain = std::move(standing.links);
  c.schedules.push_back(std::move(stuck->play.schedule));
  return c;
}

Search<Witness> outside_the_class(const Subject& subject) {
  if (auto stuck = play_to_stuck(subject, kSeeds)) {
    return Refuted{stuck_counterexample(subject, std::move(*stuck))};
  }
  return Unknown{issue_text(subject, subject.net.issues.front())};
}

}  // namespace

Found prove(const Subject& subject, smt::Session& session) {
  Potentials potentials(subject, session);
  Found found;
  found.strategy = potentials.block_count() == 1
                       ? std::string("one query")
                       : fmt::format("cut into {} blocks", potentials.block_count());
  const smt::Answer answer = potentials.solve();
  if (const auto* undecided = std::get_if<smt::Undecided>(&answer)) {
    found.search = Unknown{undecided->reason};
  } else if (std::holds_alternative<smt::Impossible>(answer)) {
    auto counterexample = cycle_counterexample(subject);
    if (!counterexample && !subject.net.exact()) {
      found.search = outside_the_class(subject);
    } else if (counterexample) {
      found.search = Refuted{std::move(*counterexample)};
    } else {
      found.search = Unknown{"a token-free cycle was found, but no play gets stuck in it"};
    }
  } else if (!subject.net.exact()) {
    found.search = outside_the_class(subject);
  } else {
    found.search = Proved<Witness>{potentials.witness()};
  }
  return found;
}

}  // namespace spatialcert::proofs::liveness
