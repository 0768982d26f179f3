#include <fmt/format.h>

#include "ir/counter_bounds.hpp"
#include "proofs/bounds/rule.hpp"
#include "proofs/executed.hpp"
#include "proofs/issues.hpp"
#include "proofs/schedules.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs::bounds {
namespace {

/// Transitions up to which one query may ask for an overflowing state.
constexpr std::uint32_t kQueryLimit = 60'000;
constexpr std::uint64_t kSeeds = 16;
constexpr std::size_t kLoosePerQuery = 1'000;

/// The schedule up to the fault that playing `schedule` meets, as a counterexample.
std::optional<Counterexample> fault_in(const ir::Program& program, const ir::Unrolled& unrolled,
                                       const ir::Schedule& schedule,
                                       const DeeperFifos& deeper = {}) {
  std::vector<std::int64_t> extra(deeper.empty() ? 0 : program.buffers.size(), 0);
  for (const auto& [fifo, pages] : deeper) extra[fifo.value()] = pages;
  const ir::TokenGame game(program, unrolled, std::move(extra));
  const ir::PlayResult result = ir::play(game, schedule);
  if (!result.fault) return std::nullopt;
  Counterexample c;
  c.kind = result.fault->kind == ir::PlayFault::Kind::overflow ? Kind::overflow : Kind::misuse;
  c.iterations = unrolled.iterations;
  c.transition = result.fault->transition;
  c.counter = result.fault->counter;
  c.value = result.fault->value;
  c.limit = result.fault->limit;
  c.deeper = deeper;
  ir::Schedule before;
  std::uint64_t left = result.steps;
  for (const ir::ScheduleRun& run : schedule) {
    const auto steps = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, run.steps));
    if (steps != 0) before.push_back({run.program, steps});
    left -= steps;
  }
  c.schedules.push_back(std::move(before));
  return c;
}

/// A free play that meets a fault. Its last, faulty step is not part of the recorded schedule.
std::optional<Counterexample> faulty_play(const Subject& subject, const ir::Unrolled& unrolled,
                                          std::optional<std::uint64_t> seed) {
  const ir::TokenGame game(*subject.program, unrolled);
  ir::FreePlay play = ir::play_freely(game, seed);
  if (!play.result.fault) return std::nullopt;
  ir::append_step(play.schedule,
                  ir::ProgramId(unrolled.program[play.result.fault->transition.value()]));
  return fault_in(*subject.program, unrolled, play.schedule);
}

/// Persistent programs gain a little in every iteration: play more of them.
std::optional<Counterexample> faulty_persistent_play(const Subject& subject) {
  for (std::uint32_t iterations = 16; iterations <= 4096; iterations *= 16) {
    const auto unrolled = ir::unroll(*subject.program, iterations, 4'000'000);
    if (!std::holds_alternative<ir::Unrolled>(unrolled)) return std::nullopt;
    if (auto found = faulty_play(subject, std::get<ir::Unrolled>(unrolled), std::nullopt))
      return found;
  }
  return std::nullopt;
}

/// The play that performs what comes before `t`, then `t`.
std::optional<Counterexample> fault_at(const Subject& subject,
                                       const std::vector<std::uint32_t>& position,
                                       ir::TransitionId t) {
  return fault_in(*subject.program, subject.stretch,
                  schedule_of(subject, position, causal_past(subject, {t.value()}, true)));
}

std::optional<Counterexample> region_fault(const Subject& subject,
                                           const std::vector<std::uint32_t>& position) {
  const ir::AccessFault& fault = subject.accesses.faults.front();
  Counterexample c;
  c.kind = Kind::misuse;
  c.iterations = subject.stretch.iterations;
  c.transition = fault.transition;
  c.accesses = {{fault.transition, fault.access}};
  c.value = fault.high;
  c.limit = static_cast<std::int64_t>(fault.size);
  auto past = causal_past(subject, {fault.transition.value()}, true);
  past[fault.transition.value()] = 0;
  c.schedules.push_back(schedule_of(subject, position, past));
  return c;
}

/// Z3: is there a reachable state in which the semaphore exceeds its maximum?
std::variant<std::monostate, Counterexample, Unknown> ask(
    const Subject& subject, const std::vector<std::uint32_t>& position, std::uint32_t semaphore,
    smt::Session& session) {
  const ir::Semaphore& s = subject.program->semaphores[semaphore];
  if (subject.stretch.transitions() > kQueryLimit) {
    return Unknown{fmt::format(
        "semaphore {} may exceed its maximum, and the program is too large for one query", s.name)};
  }
  std::vector<std::uint32_t> events;
  for (std::uint32_t t = 0; t < subject.stretch.transitions(); ++t) {
    const ir::Op& op = subject.stretch.op_of(*subject.program, ir::TransitionId(t));
    if ((op.code == ir::OpCode::post || op.code == ir::OpCode::wait) && op.object == semaphore)
      events.push_back(t);
  }
  smt::Query query = session.query(smt::Logic::linear);
  Scope scope;
  for (std::uint32_t p = 0; p < subject.program->programs.size(); ++p) scope.programs.push_back(p);
  const Executed done(subject, query, scope, events);
  std::vector<smt::Term> sum{query.constant(s.initial)};
  for (const std::uint32_t t : events) {
    const ir::Op& op = subject.stretch.op_of(*subject.program, ir::TransitionId(t));
    const std::int64_t delta = op.code == ir::OpCode::post ? op.count : -op.count;
    sum.push_back(query.if_then_else(done.of(t), query.constant(delta), query.constant(0)));
  }
  query.require(query.less(query.constant(s.maximum), query.sum(sum)));
  const smt::Answer answer = session.solve(query);
  if (const auto* undecided = std::get_if<smt::Undecided>(&answer))
    return Unknown{undecided->reason};
  if (std::holds_alternative<smt::Impossible>(answer)) return std::monostate{};
  std::vector<std::uint32_t> performed;
  for (const std::uint32_t t : events) {
    if (query.truth(done.of(t))) performed.push_back(t);
  }
  // With the declared depths if they allow it, otherwise with deeper FIFOs.
  for (const bool with_credit : {true, false}) {
    const auto schedule =
        schedule_of(subject, position, causal_past(subject, performed, with_credit));
    const auto deeper = with_credit ? DeeperFifos{} : deeper_fifos(subject, schedule);
    if (auto found = fault_in(*subject.program, subject.stretch, schedule, deeper))
      return std::move(*found);
  }
  return Unknown{fmt::format(
      "semaphore {} may exceed its maximum, but no schedule was found in which it does", s.name)};
}

/// Z3: can any of the other semaphores exceed its maximum, if any part of its posts were performed
/// and no wait at all? Semaphores whose posts alone do not fit are `tight` and asked about one by
/// one.
std::optional<std::string> ask_loose(const Subject& subject,
                                     const std::vector<ir::SemaphoreBound>& tight,
                                     smt::Session& session) {
  const auto& semaphores = subject.program->semaphores;
  std::vector<char> loose(semaphores.size(), 1);
  for (const ir::SemaphoreBound& bound : tight) loose[bound.semaphore.value()] = 0;
  std::vector<std::int64_t> posted(semaphores.size(), 0);  // fits: at most the maximum
  for (std::uint32_t t = 0; t < subject.one.transitions(); ++t) {
    const ir::Op& op = subject.one.op_of(*subject.program, ir::TransitionId(t));
    if (op.code == ir::OpCode::post && loose[op.object] != 0) posted[op.object] += op.count;
  }
  for (std::size_t at = 0; at < semaphores.size(); at += kLoosePerQuery) {
    smt::Query query = session.query(smt::Logic::linear);
    std::vector<smt::Term> exceeded;
    for (std::size_t s = at; s < std::min(semaphores.size(), at + kLoosePerQuery); ++s) {
      if (loose[s] == 0) continue;
      const smt::Term value = query.integer(fmt::format("posted_{}", s));
      query.require(query.at_most(query.constant(0), value));
      query.require(query.at_most(value, query.constant(posted[s])));
      exceeded.push_back(query.less(query.constant(semaphores[s].maximum),
                                    query.sum({query.constant(semaphores[s].initial), value})));
    }
    if (exceeded.empty()) continue;
    query.require(query.any_of(exceeded));
    const smt::Answer answer = session.solve(query);
    if (const auto* undecided = std::get_if<smt::Undecided>(&answer)) return undecided->reason;
    if (std::holds_alternative<smt::Satisfied>(answer))
      return "the posts of a semaphore do not fit, against the count";
  }
  return std::nullopt;
}

}  // namespace

Search<Witness> prove(const Subject& subject, const std::vector<std::uint32_t>& position,
                      smt::Session& session) {
  if (auto found = faulty_play(subject, subject.stretch, std::nullopt))
    return Refuted{std::move(*found)};
  if (!subject.net.exact()) {
    if (subject.persistent()) {
      if (auto found = faulty_persistent_play(subject)) return Refuted{std::move(*found)};
    }
    for (std::uint64_t seed = 1; seed <= kSeeds && subject.stretch.transitions() < kQueryLimit;
         ++seed) {
      if (auto found = faulty_play(subject, subject.stretch, seed))
        return Refuted{std::move(*found)};
    }
    return Unknown{issue_text(subject, subject.net.issues.front())};
  }
  if (position.size() != subject.stretch.transitions())
    return Unknown{"the net has a token-free cycle"};
  if (const auto misuse = window_misuse(subject)) {
    if (auto found = fault_at(subject, position, misuse->transition))
      return Refuted{std::move(*found)};
    return Unknown{"a window is left by an op that no play reached"};
  }
  if (!subject.accesses.faults.empty()) return Refuted{*region_fault(subject, position)};
  if (subject.accesses.limit)
    return Unknown{"the accesses of the program exceed the limit of the analysis"};
  const auto tight = ir::semaphore_bounds(*subject.program, subject.one, subject.net);
  if (auto reason = ask_loose(subject, tight, session)) return Unknown{std::move(*reason)};
  for (const ir::SemaphoreBound& bound : tight) {
    auto answer = ask(subject, position, bound.semaphore.value(), session);
    if (auto* found = std::get_if<Counterexample>(&answer)) return Refuted{std::move(*found)};
    if (auto* unknown = std::get_if<Unknown>(&answer)) return *unknown;
    const ir::Semaphore& s = subject.program->semaphores[bound.semaphore.value()];
    if (bound.largest && *bound.largest <= s.maximum) continue;
    if (subject.persistent()) {
      if (auto found = faulty_persistent_play(subject)) return Refuted{std::move(*found)};
    }
    return Unknown{fmt::format(
        "the maximum of semaphore {} holds, but only by more than prefix sums show", s.name)};
  }
  return Proved<Witness>{};
}

}  // namespace spatialcert::proofs::bounds
