#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/counter_bounds.hpp"
#include "proofs/bounds/blocks.hpp"
#include "proofs/bounds/rule.hpp"
#include "proofs/cuts.hpp"
#include "proofs/executed.hpp"
#include "proofs/issues.hpp"
#include "proofs/schedules.hpp"
#include "smt/query.hpp"

namespace spatialcert::proofs::bounds {
namespace {

/// Transitions up to which one query may ask for an overflowing state.
constexpr std::uint32_t kQueryLimit = 60'000;
/// Transitions up to which it asks for that at once, without trying block by block.
constexpr std::uint32_t kSmall = 2'000;
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

/// The events of one semaphore in one window.
struct Round {
  std::int64_t base = 0;              ///< what it holds when the window begins
  std::int64_t posted = 0;            ///< all posts of the window
  std::vector<std::uint32_t> events;  ///< posts and waits, by transition
};

std::int64_t delta_of(const Subject& subject, std::uint32_t t) {
  const ir::Op& op = subject.stretch.op_of(*subject.program, ir::TransitionId(t));
  return op.code == ir::OpCode::post ? op.count : -op.count;
}

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// The windows that have events of each of the semaphores, by window.
std::vector<std::vector<std::pair<std::uint32_t, Round>>> rounds_of(
    const Subject& subject, const std::vector<std::uint32_t>& position, const Cuts& cuts,
    const std::vector<ir::SemaphoreBound>& tight) {
  const auto& semaphores = subject.program->semaphores;
  std::vector<std::uint32_t> number(semaphores.size(), 0xffffffffU);
  for (std::uint32_t i = 0; i < tight.size(); ++i) number[tight[i].semaphore.value()] = i;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> events(tight.size());
  for (std::uint32_t t = 0; t < subject.stretch.transitions(); ++t) {
    const ir::Op& op = subject.stretch.op_of(*subject.program, ir::TransitionId(t));
    const bool counts = op.code == ir::OpCode::post || op.code == ir::OpCode::wait;
    if (counts && number[op.object] < tight.size())
      events[number[op.object]].emplace_back(cuts.window(position[t]), t);
  }
  std::vector<std::vector<std::pair<std::uint32_t, Round>>> out(tight.size());
  for (std::uint32_t i = 0; i < tight.size(); ++i) {
    std::sort(events[i].begin(), events[i].end());
    std::int64_t value = semaphores[tight[i].semaphore.value()].initial;
    for (const auto& [window, t] : events[i]) {
      if (out[i].empty() || out[i].back().first != window)
        out[i].push_back({window, {value, 0, {}}});
      const std::int64_t delta = delta_of(subject, t);
      // Where sums do not fit, no bound was found either, and the verdict is undecided.
      if (__builtin_add_overflow(value, delta, &value)) value = delta > 0 ? kMost : -kMost;
      std::int64_t& posted = out[i].back().second.posted;
      if (delta > 0 && __builtin_add_overflow(posted, delta, &posted)) posted = kMost;
      out[i].back().second.events.push_back(t);
    }
  }
  return out;
}

/// Is there a reachable state in the window in which the semaphore exceeds its maximum?
struct Question {
  const ir::Semaphore* semaphore = nullptr;
  std::uint32_t window = 0;
  const Round* round = nullptr;
};

Reachable states_of(const Subject& subject, const std::vector<std::uint32_t>& position,
                    const Cuts& cuts, const Question& q) {
  Scope scope;
  for (std::uint32_t p = 0; p < subject.program->programs.size(); ++p) scope.programs.push_back(p);
  if (!cuts.centre.empty()) {
    scope.position = &position;
    scope.low = q.window == 0 ? 0 : cuts.position[q.window - 1] + 1;
    scope.high = q.window == cuts.position.size() ? 0xffffffffU : cuts.position[q.window];
  }
  return reachable(subject, scope, q.round->events);
}

smt::QuestionKey key_of(const Subject& subject, const Reachable& states, const Question& q) {
  CanonicalText text('b');
  states.write(text);
  text.signed_number(q.round->base);
  text.signed_number(q.semaphore->maximum);
  for (const std::uint32_t t : q.round->events) {
    text.number(states.number(t));
    text.signed_number(delta_of(subject, t));
  }
  return text.key();
}

/// Returns, for every event, the term that it has been performed.
std::vector<smt::Term> write(const Subject& subject, smt::Query& query, const Reachable& states,
                             const Question& q) {
  const Executed done(query, states);
  std::vector<smt::Term> performed, sum{query.constant(q.round->base)};
  for (const std::uint32_t t : q.round->events) {
    performed.push_back(done.of(t));
    sum.push_back(query.if_then_else(performed.back(), query.constant(delta_of(subject, t)),
                                     query.constant(0)));
  }
  query.require(query.less(query.constant(q.semaphore->maximum), query.sum(sum)));
  return performed;
}

/// A play up to the overflow in the state that Z3 found.
std::variant<Counterexample, Unknown> overflow(const Subject& subject,
                                               const std::vector<std::uint32_t>& position,
                                               const Cuts& cuts, const Question& q,
                                               const std::vector<std::int64_t>& done) {
  std::vector<std::uint32_t> performed;
  if (q.window > 0 && !cuts.centre.empty()) performed.push_back(cuts.centre[q.window - 1]);
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (done[i] != 0) performed.push_back(q.round->events[i]);
  }
  // With the declared depths if they allow it, otherwise with deeper FIFOs.
  for (const bool with_credit : {true, false}) {
    const auto schedule =
        schedule_of(subject, position, causal_past(subject, performed, with_credit));
    const auto deeper = with_credit ? DeeperFifos{} : deeper_fifos(subject, schedule);
    if (auto found = fault_in(*subject.program, subject.stretch, schedule, deeper))
      return std::move(*found);
  }
  return Unknown{
      fmt::format("semaphore {} may exceed its maximum, but no schedule was found in which it does",
                  q.semaphore->name)};
}

/// Has Z3 find all of them impossible, equal ones once.
std::variant<std::monostate, Counterexample, Unknown> ask(
    const Subject& subject, const std::vector<std::uint32_t>& position, const Cuts& cuts,
    std::vector<Question> all, smt::Session& session) {
  if (session.classes && subject.stretch.transitions() > kSmall) {
    std::erase_if(all, [&](const Question& q) {
      return fits_in_blocks(subject, position, q.round->base, q.semaphore->maximum, q.round->events,
                            session);
    });
  }
  if (all.empty()) return std::monostate{};
  if (subject.stretch.transitions() > kQueryLimit && cuts.centre.empty()) {
    return Unknown{fmt::format(
        "semaphore {} may exceed its maximum, and the program is too large for one query",
        all.front().semaphore->name)};
  }
  std::vector<smt::QuestionKey> keys(all.size());
  session.perform(all.size(), [&](std::size_t i) {
    keys[i] = key_of(subject, states_of(subject, position, cuts, all[i]), all[i]);
  });
  const std::vector<std::size_t> open = not_yet_asked(session, keys);
  smt::Questions questions;
  questions.logic = smt::Logic::linear;
  questions.count = open.size();
  questions.expected = smt::Expected::impossible;
  questions.write = [&](std::size_t i, smt::Query& query) {
    const Question& q = all[open[i]];
    return write(subject, query, states_of(subject, position, cuts, q), q);
  };
  const smt::Replies replies = session.ask(questions);
  if (!replies.other) {
    for (const std::size_t i : open) session.impossible.insert(keys[i]);
    return std::monostate{};
  }
  if (const auto* undecided = std::get_if<smt::Undecided>(&*replies.other))
    return Unknown{undecided->reason};
  auto found = overflow(subject, position, cuts, all[open[replies.values.size() - 1]],
                        replies.values.back());
  if (auto* c = std::get_if<Counterexample>(&found)) return std::move(*c);
  return std::get<Unknown>(std::move(found));
}

/// A semaphore that fits even if nothing is waited for: what it holds, what is posted, its maximum.
struct Loose {
  std::int64_t base = 0;
  std::int64_t posted = 0;
  std::int64_t maximum = 0;
  friend auto operator<=>(const Loose&, const Loose&) = default;
};

/// The semaphores that are not `tight`: all their posts fit.
std::vector<Loose> loose_semaphores(const Subject& subject,
                                    const std::vector<ir::SemaphoreBound>& tight) {
  const auto& semaphores = subject.program->semaphores;
  std::vector<char> loose(semaphores.size(), 1);
  for (const ir::SemaphoreBound& bound : tight) loose[bound.semaphore.value()] = 0;
  std::vector<std::int64_t> posted(semaphores.size(), 0);  // fits: at most the maximum
  for (std::uint32_t t = 0; t < subject.one.transitions(); ++t) {
    const ir::Op& op = subject.one.op_of(*subject.program, ir::TransitionId(t));
    if (op.code == ir::OpCode::post && loose[op.object] != 0) posted[op.object] += op.count;
  }
  std::vector<Loose> out;
  for (std::size_t s = 0; s < semaphores.size(); ++s) {
    if (loose[s] != 0) out.push_back({semaphores[s].initial, posted[s], semaphores[s].maximum});
  }
  return out;
}

/// Z3: can any of them exceed its maximum, if any part of the posts were performed and no wait at
/// all? Equal ones are one question.
std::optional<std::string> ask_loose(std::vector<Loose> all, smt::Session& session) {
  if (session.classes) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
  for (std::size_t at = 0; at < all.size(); at += kLoosePerQuery) {
    smt::Query query = session.query(smt::Logic::linear);
    std::vector<smt::Term> exceeded;
    for (std::size_t s = at; s < std::min(all.size(), at + kLoosePerQuery); ++s) {
      const smt::Term value = query.integer(fmt::format("posted_{}", s));
      query.require(query.at_most(query.constant(0), value));
      query.require(query.at_most(value, query.constant(all[s].posted)));
      exceeded.push_back(query.less(query.constant(all[s].maximum),
                                    query.sum({query.constant(all[s].base), value})));
    }
    query.require(query.any_of(exceeded));
    const smt::Answer answer = session.solve(query);
    if (const auto* undecided = std::get_if<smt::Undecided>(&answer)) return undecided->reason;
    if (std::holds_alternative<smt::Satisfied>(answer))
      return "the posts of a semaphore do not fit, against the count";
  }
  return std::nullopt;
}

Search<Witness> search(const Subject& subject, const std::vector<std::uint32_t>& position,
                       smt::Session& session, const Cuts& cuts) {
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
  const auto rounds = rounds_of(subject, position, cuts, tight);
  auto loose = loose_semaphores(subject, tight);
  for (std::size_t i = 0; i < tight.size(); ++i) {
    const ir::Semaphore& s = subject.program->semaphores[tight[i].semaphore.value()];
    for (const auto& [window, round] : rounds[i]) {
      // Of one window: the posts of all of them do not fit, but they never come together.
      if (round.base >= 0 && round.posted <= s.maximum - round.base)
        loose.push_back({round.base, round.posted, s.maximum});
    }
  }
  if (auto reason = ask_loose(std::move(loose), session)) return Unknown{std::move(*reason)};
  // Up to the first semaphore whose windows, all of them, would still not show enough.
  std::vector<Question> questions;
  const ir::Semaphore* beyond = nullptr;
  for (std::size_t i = 0; i < tight.size() && beyond == nullptr; ++i) {
    const ir::Semaphore& s = subject.program->semaphores[tight[i].semaphore.value()];
    for (const auto& [window, round] : rounds[i]) {
      if (round.base >= 0 && round.posted <= s.maximum - round.base) continue;
      questions.push_back({&s, window, &round});
    }
    if (!tight[i].largest || *tight[i].largest > s.maximum) beyond = &s;
  }
  auto answer = ask(subject, position, cuts, questions, session);
  if (auto* found = std::get_if<Counterexample>(&answer)) return Refuted{std::move(*found)};
  if (auto* unknown = std::get_if<Unknown>(&answer)) return *unknown;
  if (beyond != nullptr) {
    if (subject.persistent()) {
      if (auto found = faulty_persistent_play(subject)) return Refuted{std::move(*found)};
    }
    return Unknown{fmt::format(
        "the maximum of semaphore {} holds, but only by more than prefix sums show", beyond->name)};
  }
  return Proved<Witness>{};
}

}  // namespace

Search<Witness> prove(const Subject& subject, const std::vector<std::uint32_t>& position,
                      smt::Session& session) {
  return search(subject, position, session, Cuts{});
}

Search<Witness> prove(const Subject& subject, const std::vector<std::uint32_t>& position,
                      smt::Session& session, const Cuts& cuts) {
  auto found = search(subject, position, session, cuts);
  // `boundary` orders the ops of sections. One of a rendezvous that is not ordered by it may stand
  // on either side of a centre, and then what windows say of its semaphore is beside the point.
  if (!cuts.centre.empty() && std::holds_alternative<Unknown>(found))
    return search(subject, position, session, Cuts{});
  return found;
}

}  // namespace spatialcert::proofs::bounds
