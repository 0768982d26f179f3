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

smt::Answer ask_reversal(const Subject& subject, const std::vector<std::uint32_t>& position,
                         smt::Session& session, const std::vector<std::uint32_t>& programs,
                         const OrderedPair* pairs, std::size_t count) {
  Scope scope;
  scope.programs = programs;
  scope.position = &position;
  scope.low = 0xffffffffU;
  std::vector<std::uint32_t> asked;
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::uint32_t t : {pairs[i].first, pairs[i].last}) {
      asked.push_back(t);
      scope.low = std::min(scope.low, position[t]);
      scope.high = std::max(scope.high, position[t]);
    }
  }
  const Reachable states = reachable(subject, scope, asked);
  CanonicalText text('r');
  states.write(text);
  for (std::size_t i = 0; i < count; ++i) {
    text.number(states.number(pairs[i].first));
    text.number(states.number(pairs[i].last));
  }
  const smt::QuestionKey key = text.key();
  if (known_impossible(session, key)) return smt::Impossible{};
  smt::Query query = session.query(smt::Logic::propositional);
  const Executed done(query, states);
  std::vector<smt::Term> reversed;
  for (std::size_t i = 0; i < count; ++i) {
    reversed.push_back(
        query.all_of({done.of(pairs[i].last), query.negation(done.of(pairs[i].first))}));
  }
  query.require(query.any_of(reversed));
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

/// `programs`: what every query speaks of; null: the engine programs of its own pairs.
std::optional<std::string> refute_in_groups(const Subject& subject,
                                            const std::vector<std::uint32_t>& position,
                                            smt::Session& session,
                                            const std::vector<OrderedPair>& pairs,
                                            const std::vector<std::uint32_t>* programs) {
  for (std::size_t at = 0, count = 0; at < pairs.size(); at += count) {
    count = programs != nullptr ? std::min(kPairsPerQuery, pairs.size() - at)
                                : group_from(subject, position, pairs, at);
    const smt::Answer answer =
        ask_reversal(subject, position, session,
                     programs != nullptr ? *programs : programs_of(subject, &pairs[at], count),
                     &pairs[at], count);
    if (const auto* undecided = std::get_if<smt::Undecided>(&answer)) return undecided->reason;
    SPATIALCERT_REQUIRE(std::holds_alternative<smt::Impossible>(answer),
                        "the solver and the clocks disagree");
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> refute_reversals(const Subject& subject,
                                            const std::vector<std::uint32_t>& position,
                                            smt::Session& session, const Cuts& cuts,
                                            const std::vector<OrderedPair>& pairs) {
  using ordering::Reach;
  std::map<std::tuple<std::uint32_t, Reach, ir::Site>, std::vector<OrderedPair>> groups;
  for (const OrderedPair& pair : pairs) {
    const std::uint32_t window = cuts.window(position[pair.first]);
    if (window != cuts.window(position[pair.last])) continue;
    const ir::Site site = subject.program->programs[subject.stretch.program[pair.first]].site;
    groups[{window, pair.reach, pair.reach == Reach::site ? site : ir::Site{}}].push_back(pair);
  }
  for (auto& [key, members] : groups) {
    std::vector<std::uint32_t> programs;
    const Reach reach = std::get<1>(key);
    if (reach == Reach::site) programs = programs_at(subject, std::get<2>(key));
    if (reach == Reach::anywhere) programs = all_programs(subject);
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
    if (auto reason =
            refute_in_groups(subject, position, session, members, direct ? nullptr : &programs))
      return reason;
  }
  return std::nullopt;
}

std::optional<std::string> refute_near(const Subject& subject,
                                       const std::vector<std::uint32_t>& position,
                                       smt::Session& session,
                                       const std::vector<OrderedPair>& pairs) {
  if (pairs.empty()) return std::nullopt;
  const auto programs = all_programs(subject);
  const bool direct = pairs.front().reach == ordering::Reach::direct;
  return refute_in_groups(subject, position, session, pairs, direct ? nullptr : &programs);
}

}  // namespace spatialcert::proofs
