#include "proofs/reversal.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "ir/require.hpp"

namespace spatialcert::proofs {
namespace {

constexpr std::size_t kPairsPerQuery = 40;
/// Positions that a question may span in any case, and how many times as many as its parts.
constexpr std::uint64_t kNear = 10'000;
constexpr std::uint64_t kMostApart = 8;

std::vector<std::uint32_t> programs_at(const Subject& subject, const ir::Site& site) {
  std::vector<std::uint32_t> programs;
  for (std::uint32_t p = 0; p < subject.program->programs.size(); ++p) {
    if (subject.program->programs[p].site == site) programs.push_back(p);
  }
  return programs;
}

/// The engine programs of the pairs' own ops.
std::vector<std::uint32_t> programs_of(const Subject& subject, const OrderedPair* pairs,
                                       std::size_t count) {
  std::vector<std::uint32_t> programs;
  for (std::size_t i = 0; i < count; ++i) {
    programs.push_back(subject.stretch.program[pairs[i].first]);
    programs.push_back(subject.stretch.program[pairs[i].last]);
  }
  std::sort(programs.begin(), programs.end());
  programs.erase(std::unique(programs.begin(), programs.end()), programs.end());
  return programs;
}

}  // namespace

std::vector<std::uint32_t> all_programs(const Subject& subject) {
  std::vector<std::uint32_t> programs(subject.program->programs.size());
  for (std::uint32_t p = 0; p < programs.size(); ++p) programs[p] = p;
  return programs;
}

namespace {

/// Some pairs, as one question.
struct Group {
  const OrderedPair* pairs = nullptr;
  std::size_t count = 0;
  /// What the question speaks of; null: the engine programs of the pairs themselves.
  const std::vector<std::uint32_t>* programs = nullptr;
};

Reachable states_of(const Subject& subject, const std::vector<std::uint32_t>& position,
                    const Group& group) {
  Scope scope;
  scope.programs =
      group.programs != nullptr ? *group.programs : programs_of(subject, group.pairs, group.count);
  scope.position = &position;
  scope.low = 0xffffffffU;
  std::vector<std::uint32_t> asked;
  for (std::size_t i = 0; i < group.count; ++i) {
    for (const std::uint32_t t : {group.pairs[i].first, group.pairs[i].last}) {
      asked.push_back(t);
      scope.low = std::min(scope.low, position[t]);
      scope.high = std::max(scope.high, position[t]);
    }
  }
  return reachable(subject, scope, asked);
}

smt::QuestionKey key_of(const Reachable& states, const Group& group) {
  CanonicalText text('r');
  states.write(text);
  for (std::size_t i = 0; i < group.count; ++i) {
    text.number(states.number(group.pairs[i].first));
    text.number(states.number(group.pairs[i].last));
  }
  return text.key();
}

void write(smt::Query& query, const Reachable& states, const Group& group) {
  const Executed done(query, states);
  std::vector<smt::Term> reversed;
  for (std::size_t i = 0; i < group.count; ++i) {
    reversed.push_back(query.all_of(
        {done.of(group.pairs[i].last), query.negation(done.of(group.pairs[i].first))}));
  }
  query.require(query.any_of(reversed));
}

}  // namespace

smt::Answer ask_reversal(const Subject& subject, const std::vector<std::uint32_t>& position,
                         smt::Session& session, const OrderedPair& pair) {
  const auto programs = all_programs(subject);
  const Group group{&pair, 1, &programs};
  const Reachable states = states_of(subject, position, group);
  const smt::QuestionKey key = key_of(states, group);
  if (known_impossible(session, key)) return smt::Impossible{};
  smt::Query query = session.query(smt::Logic::propositional);
  write(query, states, group);
  smt::Answer answer = session.solve(query);
  if (std::holds_alternative<smt::Impossible>(answer)) session.impossible.insert(key);
  return answer;
}

namespace {

/// How many of the pairs from `at` on make up one question. It speaks of all positions between the
/// earliest and the latest of its ops, so the end of one pair of engine programs is not joined to
/// the beginning of the next if that is far away.
std::size_t group_from(const Subject& subject, const std::vector<std::uint32_t>& position,
                       const std::vector<OrderedPair>& pairs, std::size_t at) {
  struct Span {
    std::uint64_t low = 0xffffffffU;
    std::uint64_t high = 0;
    void add(std::uint64_t p) {
      low = std::min(low, p);
      high = std::max(high, p);
    }
    [[nodiscard]] std::uint64_t length() const { return high - low + 1; }
  };
  const auto programs = [&](const OrderedPair& pair) {
    return std::pair(subject.stretch.program[pair.first], subject.stretch.program[pair.last]);
  };
  const std::size_t most = std::min(pairs.size(), at + kPairsPerQuery);
  Span all;
  std::uint64_t apart = 0;  // sum of the spans of single pairs of engine programs
  std::size_t end = at;
  while (end < most) {
    Span one, joined = all;
    std::size_t next = end;
    for (; next < most && programs(pairs[next]) == programs(pairs[end]); ++next) {
      for (const std::uint32_t t : {pairs[next].first, pairs[next].last}) {
        one.add(position[t]);
        joined.add(position[t]);
      }
    }
    apart += one.length();
    if (end != at && joined.length() > kNear && joined.length() > kMostApart * apart) break;
    all = joined;
    end = next;
  }
  return end - at;
}

/// `programs`: what every question speaks of; null: the engine programs of its own pairs.
void add_groups(const Subject& subject, const std::vector<std::uint32_t>& position,
                const std::vector<OrderedPair>& pairs, const std::vector<std::uint32_t>* programs,
                std::vector<Group>& groups) {
  for (std::size_t at = 0; at < pairs.size(); at += groups.back().count) {
    const std::size_t count = programs != nullptr ? std::min(kPairsPerQuery, pairs.size() - at)
                                                  : group_from(subject, position, pairs, at);
    groups.push_back({&pairs[at], count, programs});
  }
}

std::optional<std::string> refute(const Subject& subject,
                                  const std::vector<std::uint32_t>& position, smt::Session& session,
                                  const std::vector<Group>& groups) {
  std::vector<smt::QuestionKey> keys(groups.size());
  session.perform(groups.size(), [&](std::size_t i) {
    keys[i] = key_of(states_of(subject, position, groups[i]), groups[i]);
  });
  const std::vector<std::size_t> open = not_yet_asked(session, keys);
  smt::Questions questions;
  questions.logic = smt::Logic::propositional;
  questions.count = open.size();
  questions.expected = smt::Expected::impossible;
  questions.write = [&](std::size_t i, smt::Query& query) {
    const Group& group = groups[open[i]];
    write(query, states_of(subject, position, group), group);
    return std::vector<smt::Term>{};
  };
  const smt::Replies replies = session.ask(questions);
  if (replies.other) {
    const auto* undecided = std::get_if<smt::Undecided>(&*replies.other);
    SPATIALCERT_REQUIRE(undecided != nullptr, "the solver and the clocks disagree");
    return undecided->reason;
  }
  for (const std::size_t i : open) session.impossible.insert(keys[i]);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> refute_reversals(const Subject& subject,
                                            const std::vector<std::uint32_t>& position,
                                            smt::Session& session, const Cuts& cuts,
                                            const std::vector<OrderedPair>& pairs) {
  using ordering::Reach;
  std::map<std::tuple<std::uint32_t, Reach, ir::Site>, std::vector<OrderedPair>> parts;
  for (const OrderedPair& pair : pairs) {
    const std::uint32_t window = cuts.window(position[pair.first]);
    if (window != cuts.window(position[pair.last])) continue;
    const ir::Site site = subject.program->programs[subject.stretch.program[pair.first]].site;
    parts[{window, pair.reach, pair.reach == Reach::site ? site : ir::Site{}}].push_back(pair);
  }
  std::map<std::pair<Reach, ir::Site>, std::vector<std::uint32_t>> programs;
  std::vector<Group> groups;
  for (auto& [key, members] : parts) {
    const auto& [window, reach, site] = key;
    const auto [speaks, fresh] = programs.try_emplace({reach, site});
    if (fresh && reach == Reach::site) speaks->second = programs_at(subject, site);
    if (fresh && reach == Reach::anywhere) speaks->second = all_programs(subject);
    // Direct pairs by engine program, so that a group speaks of few programs; the others by
    // position, so that it speaks of a short stretch of them.
    const bool direct = reach == Reach::direct;
    std::sort(members.begin(), members.end(), [&](const OrderedPair& x, const OrderedPair& y) {
      const auto order = [&](const OrderedPair& p) {
        return std::tuple(direct ? subject.stretch.program[p.first] : 0,
                          direct ? subject.stretch.program[p.last] : 0, position[p.first],
                          position[p.last]);
      };
      return order(x) < order(y);
    });
    add_groups(subject, position, members, direct ? nullptr : &speaks->second, groups);
  }
  return refute(subject, position, session, groups);
}

std::optional<std::string> refute_near(const Subject& subject,
                                       const std::vector<std::uint32_t>& position,
                                       smt::Session& session,
                                       const std::vector<std::vector<OrderedPair>>& lists) {
  const auto programs = all_programs(subject);
  std::vector<Group> groups;
  for (const auto& pairs : lists) {
    if (pairs.empty()) continue;
    const bool direct = pairs.front().reach == ordering::Reach::direct;
    add_groups(subject, position, pairs, direct ? nullptr : &programs, groups);
  }
  return refute(subject, position, session, groups);
}

}  // namespace spatialcert::proofs
