#include "proofs/executed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/require.hpp"

namespace spatialcert::proofs {

namespace {

/// Is a transition of the stretch one that a scope speaks of?
class Inside {
 public:
  Inside(const Subject& subject, const Scope& scope)
      : program_(subject.stretch.program), scope_(scope) {
    if (!scope.parts.empty()) return;
    in_scope_.assign(subject.program->programs.size(), 0);
    for (const std::uint32_t p : scope.programs) in_scope_[p] = 1;
  }
  bool operator()(ir::TransitionId t) const {
    if (!scope_.parts.empty()) {
      return std::any_of(scope_.parts.begin(), scope_.parts.end(), [&](const auto& part) {
        return part.first <= t.value() && t.value() < part.second;
      });
    }
    if (in_scope_[program_[t.value()]] == 0) return false;
    if (scope_.position == nullptr) return true;
    const std::uint32_t at = (*scope_.position)[t.value()];
    return scope_.low <= at && at <= scope_.high;
  }

 private:
  const std::vector<std::uint32_t>& program_;
  const Scope& scope_;
  std::vector<char> in_scope_;  // empty if there are parts: a question about a few programs of many
};

std::vector<std::uint32_t> beyond_in(const Subject& subject, const Scope& scope) {
  std::vector<std::uint32_t> out;
  if (subject.beyond.empty()) return out;
  const Inside inside(subject, scope);
  for (const ir::TransitionId t : subject.beyond) {
    if (inside(t)) out.push_back(t.value());
  }
  return out;
}

/// Transitions [first, second) of an engine program in scope: positions grow along it.
std::pair<std::uint32_t, std::uint32_t> part_of(const ir::Unrolled& u, const Scope& scope,
                                                std::size_t number) {
  if (!scope.parts.empty()) return scope.parts[number];
  const std::uint32_t p = scope.programs[number];
  std::uint32_t first = u.begin[p], last = u.begin[p + 1];
  if (scope.position == nullptr) return {first, last};
  const auto at = scope.position->begin();
  first = static_cast<std::uint32_t>(std::lower_bound(at + first, at + last, scope.low) - at);
  last = static_cast<std::uint32_t>(std::upper_bound(at + first, at + last, scope.high) - at);
  return {first, last};
}

std::vector<std::uint32_t> places_in(const Subject& subject, const Scope& scope) {
  const ir::Unrolled& u = subject.stretch;
  const Inside inside(subject, scope);
  std::vector<std::uint32_t> places;
  const auto add = [&](std::uint32_t i) {
    const ir::Place& place = subject.places[i];
    if (inside(place.from) && inside(place.to)) places.push_back(i);
  };
  for (std::size_t p = 0; p < scope.programs.size(); ++p) {
    const auto [first, last] = part_of(u, scope, p);
    for (std::uint32_t t = first; t < last; ++t) {
      for (const std::uint32_t i : subject.order.into(t)) add(i);
    }
  }
  for (std::uint32_t i = 0; scope.with_credit && i < subject.places.size(); ++i) {
    if (subject.places[i].credit) add(i);
  }
  return places;
}

}  // namespace

std::uint32_t Reachable::number(std::uint32_t transition) const {
  const auto at = std::lower_bound(transitions.begin(), transitions.end(), transition);
  SPATIALCERT_REQUIRE(at != transitions.end() && *at == transition, "a transition of the question");
  return static_cast<std::uint32_t>(at - transitions.begin());
}

void Reachable::write(CanonicalText& text) const {
  text.number(transitions.size());
  text.number(implications.size());
  std::uint32_t before = 0;
  for (const auto& [needs, needed] : implications) {
    text.signed_number(std::int64_t{needs} - before);
    text.signed_number(std::int64_t{needed} - needs);
    before = needs;
  }
  text.number(never.size());
  for (const std::uint32_t n : never) text.number(n);
}

Reachable reachable(const Subject& subject, const Scope& scope,
                    const std::vector<std::uint32_t>& asked) {
  const ir::Unrolled& u = subject.stretch;
  const auto places = places_in(subject, scope);
  const auto never = beyond_in(subject, scope);
  Reachable out;
  auto& relevant = out.transitions;
  relevant = asked;
  relevant.insert(relevant.end(), never.begin(), never.end());
  for (const std::uint32_t i : places) {
    relevant.push_back(subject.places[i].from.value());
    relevant.push_back(subject.places[i].to.value());
  }
  std::sort(relevant.begin(), relevant.end());
  relevant.erase(std::unique(relevant.begin(), relevant.end()), relevant.end());
  for (std::uint32_t i = 1; i < relevant.size(); ++i) {
    if (u.program[relevant[i]] == u.program[relevant[i - 1]])
      out.implications.emplace_back(i, i - 1);
  }
  for (const std::uint32_t i : places) {
    out.implications.emplace_back(out.number(subject.places[i].to.value()),
                                  out.number(subject.places[i].from.value()));
  }
  for (const std::uint32_t t : never) out.never.push_back(out.number(t));
  return out;
}

Executed::Executed(smt::Query& query, const Reachable& states) : states_(states) {
  for (const std::uint32_t t : states.transitions)
    variables_.push_back(query.boolean(fmt::format("done_{}", t)));
  for (const auto& [needs, needed] : states.implications)
    query.require(query.implies(variables_[needs], variables_[needed]));
  for (const std::uint32_t n : states.never) query.require(query.negation(variables_[n]));
}

}  // namespace spatialcert::proofs
