#include "certify/views/playback.hpp"

#include <algorithm>

#include "ir/counter_events.hpp"
#include "ir/require.hpp"

namespace spatialcert::certify::views {
namespace {

/// Supplies are remembered for so many steps; an older one is not named as supplier.
constexpr std::uint64_t kRemembered = 100'000;
/// Gauges of a FIFO.
constexpr std::uint32_t kOfFifo = 4;

/// Who supplied what, by counting: a test for `need` of a counter from which `lowered` were taken
/// before holds behind the first supply that makes `initial` + all supplies reach lowered + need.
class Supplies {
 public:
  Supplies(const ir::TokenGame& game, const std::vector<std::int64_t>& extra)
      : game_(game), of_(game.counters().size()) {
    for (std::uint32_t c = 0; c < of_.size(); ++c) {
      const ir::Counter& counter = game.counters()[ir::CounterId(c)];
      of_[c].raised = counter.initial;
      if (counter.kind == ir::CounterKind::free && !extra.empty()) {
        of_[c].raised += extra[counter.object];
      }
    }
  }

  /// From here on supplies are remembered.
  void start_remembering() {
    for (Supply& supply : of_) supply.forgotten = supply.raised;
  }

  /// `step`, if not null, is told who supplied `t`.
  void perform(ir::TransitionId t, bool remember, PlayedStep* step) {
    const ir::Op& op = game_.unrolled().op_of(game_.program(), t);
    for (const ir::CounterEffect& effect : ir::effects_of(op, game_.counters())) {
      Supply& supply = of_[effect.counter.value()];
      if (step != nullptr && effect.need > 0) find(supply, effect, *step);
      std::int64_t& sum = effect.delta < 0 ? supply.lowered : supply.raised;
      const std::int64_t size = effect.delta < 0 ? -effect.delta : effect.delta;
      supply.uncountable |= __builtin_add_overflow(sum, size, &sum);
      if (effect.delta > 0 && remember) supply.raises.emplace_back(supply.raised, t);
    }
  }

 private:
  struct Supply {
    std::int64_t raised = 0;  ///< what there was at the start included
    std::int64_t lowered = 0;
    std::int64_t forgotten = 0;  ///< raised before the first of `raises`
    std::vector<std::pair<std::int64_t, ir::TransitionId>> raises;  ///< sum with it, and the op
    bool uncountable = false;                                       ///< a sum left 64 bits
  };

  static void find(const Supply& supply, const ir::CounterEffect& effect, PlayedStep& step) {
    std::int64_t wanted = 0;
    if (__builtin_add_overflow(supply.lowered, effect.need, &wanted) || supply.uncountable) return;
    if (wanted <= supply.forgotten) return;
    const auto at =
        std::lower_bound(supply.raises.begin(), supply.raises.end(), wanted,
                         [](const auto& raise, std::int64_t least) { return raise.first < least; });
    if (at == supply.raises.end()) return;
    step.supplier = at->second;
    step.counter = effect.counter;
  }

  const ir::TokenGame& game_;
  std::vector<Supply> of_;
};

/// What holds engine programs back. Kept by the counter that the next op of each tests, whether the
/// test holds or not: where several take from one counter, each may block the others.
class Tests {
 public:
  Tests(const ir::TokenGame& game, const ir::PlayState& state)
      : game_(game), testers_(game.counters().size()) {
    for (std::uint32_t p = 0; p < game.program().programs.size(); ++p) {
      tested_.push_back(tested_by(state, p));
      if (tested_[p]) testers_[tested_[p]->value()].push_back(p);
      blocked_.push_back(game.blocked(state, ir::ProgramId(p)));
    }
  }

  [[nodiscard]] const std::vector<std::optional<ir::BlockingTest>>& blocked() const {
    return blocked_;
  }

  /// After `t` was performed: its own engine program, and those that test what it changed.
  void update(const ir::PlayState& state, ir::TransitionId t, std::vector<LaneChange>& out) {
    const std::uint32_t own = game_.unrolled().program[t.value()];
    if (tested_[own]) std::erase(testers_[tested_[own]->value()], own);
    tested_[own] = tested_by(state, own);
    if (tested_[own]) testers_[tested_[own]->value()].push_back(own);
    look_at(state, own, out);
    const ir::Op& op = game_.unrolled().op_of(game_.program(), t);
    for (const ir::CounterEffect& effect : ir::effects_of(op, game_.counters())) {
      if (effect.delta == 0) continue;
      for (const std::uint32_t p : testers_[effect.counter.value()]) look_at(state, p, out);
    }
  }

 private:
  [[nodiscard]] std::optional<ir::CounterId> tested_by(const ir::PlayState& state,
                                                       std::uint32_t p) const {
    if (game_.finished(state, ir::ProgramId(p))) return std::nullopt;
    const ir::TransitionId next(state.next[p]);
    const ir::Op& op = game_.unrolled().op_of(game_.program(), next);
    for (const ir::CounterEffect& effect : ir::effects_of(op, game_.counters())) {
      if (effect.need > 0) return effect.counter;
    }
    return std::nullopt;
  }

  void look_at(const ir::PlayState& state, std::uint32_t p, std::vector<LaneChange>& out) {
    const auto now = game_.blocked(state, ir::ProgramId(p));
    auto& known = blocked_[p];
    const bool same = known.has_value() == now.has_value() &&
                      (!now || (known->counter == now->counter && known->need == now->need));
    if (same) return;
    known = now;
    out.push_back({ir::ProgramId(p), now});
  }

  const ir::TokenGame& game_;
  std::vector<std::optional<ir::CounterId>> tested_;  ///< by the next op
  std::vector<std::vector<std::uint32_t>> testers_;   ///< per counter
  std::vector<std::optional<ir::BlockingTest>> blocked_;
};

class Player {
 public:
  Player(const ir::TokenGame& game, const std::vector<std::int64_t>& extra, std::uint64_t total,
         std::size_t most)
      : game_(game),
        gauges_(game),
        supplies_(game, extra),
        state_(game.start()),
        keep_from_(total > most ? total - most : 0),
        remember_from_(keep_from_ > kRemembered ? keep_from_ - kRemembered : 0) {}

  Playback run(const ir::Schedule& schedule) {
    out_.complete = perform(schedule);
    begin_keeping();  // if the schedule stopped before
    out_.after = state_;
    out_.stuck = ir::blocked_for_ever(game_, state_);
    if (const auto starved = ir::starved_by_balance(game_, state_)) {
      out_.stuck[starved->value()] = 1;
    }
    return std::move(out_);
  }

 private:
  bool perform(const ir::Schedule& schedule) {
    for (const ir::ScheduleRun& run : schedule) {
      if (run.program.value() >= game_.program().programs.size()) return false;
      for (std::uint32_t i = 0; i < run.steps; ++i) {
        if (!step(run.program)) return false;
      }
    }
    return true;
  }

  bool step(ir::ProgramId p) {
    if (out_.total == remember_from_) supplies_.start_remembering();
    if (out_.total == keep_from_) begin_keeping();
    const ir::TransitionId t(state_.next[p.value()]);
    if (!game_.can_step(state_, p)) return false;
    const ir::Op& op = game_.unrolled().op_of(game_.program(), t);
    const auto [first, count] = gauges_.changed_by(op);
    std::int64_t old[kOfFifo] = {};
    for (std::uint32_t i = 0; i < count; ++i) old[i] = gauges_.value(state_, first + i);
    if (game_.step(state_, p)) return false;
    const bool keep = tests_.has_value();
    PlayedStep step;
    step.transition = t;
    supplies_.perform(t, out_.total >= remember_from_, keep ? &step : nullptr);
    ++out_.total;
    if (!keep) {
      ++out_.skipped;
      return true;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::int64_t now = gauges_.value(state_, first + i);
      if (now != old[i]) step.gauges.push_back({first + i, now});
    }
    tests_->update(state_, t, step.lanes);
    changes_ += step.gauges.size() + step.lanes.size();
    out_.steps.push_back(std::move(step));
    while (changes_ > kMostChanges) forget_first();
    return true;
  }

  /// The first step that is kept becomes part of what was before.
  void forget_first() {
    const PlayedStep& first = out_.steps.front();
    const ir::ProgramId p(game_.unrolled().program[first.transition.value()]);
    SPATIALCERT_REQUIRE(!game_.step(out_.before, p), "a step that was played can be played again");
    for (const LaneChange& change : first.lanes)
      out_.blocked_before[change.program.value()] = change.test;
    changes_ -= first.gauges.size() + first.lanes.size();
    out_.steps.pop_front();
    ++out_.skipped;
  }

  void begin_keeping() {
    if (tests_) return;
    tests_.emplace(game_, state_);
    out_.before = state_;
    out_.blocked_before = tests_->blocked();
  }

  const ir::TokenGame& game_;
  Gauges gauges_;
  Supplies supplies_;
  ir::PlayState state_;
  std::uint64_t keep_from_;
  std::uint64_t remember_from_;
  std::optional<Tests> tests_;
  Playback out_;
  std::size_t changes_ = 0;  ///< of the steps that are kept
};

}  // namespace

Gauges::Gauge Gauges::operator[](std::uint32_t gauge) const {
  if (gauge < semaphores_) return {Kind::semaphore, gauge};
  const std::uint32_t at = gauge - semaphores_;
  constexpr Kind kKinds[kOfFifo] = {Kind::filled, Kind::free, Kind::producer_window,
                                    Kind::consumer_window};
  return {kKinds[at % kOfFifo], at / kOfFifo};
}

std::uint32_t Gauges::of(ir::CounterId id) const {
  const ir::Counter& counter = game_->counters()[id];
  if (counter.kind == ir::CounterKind::semaphore) return counter.object;
  const std::uint32_t filled = of_fifo(counter.object).first;
  return counter.kind == ir::CounterKind::filled ? filled : filled + 1;
}

std::int64_t Gauges::value(const ir::PlayState& state, std::uint32_t gauge) const {
  const Gauge g = (*this)[gauge];
  switch (g.kind) {
    case Kind::semaphore:
      return state.value[g.object];
    case Kind::filled:
      return game_->counter_value(state, game_->counters().filled(ir::BufferId(g.object)));
    case Kind::free:
      return game_->counter_value(state, game_->counters().free(ir::BufferId(g.object)));
    case Kind::producer_window:
      return state.back[g.object];
    case Kind::consumer_window:
      break;
  }
  return state.front[g.object];
}

Gauges::Range Gauges::of_fifo(std::uint32_t buffer) const {
  return {semaphores_ + kOfFifo * buffer, kOfFifo};
}

Gauges::Range Gauges::changed_by(const ir::Op& op) const {
  switch (op.code) {
    case ir::OpCode::wait:
    case ir::OpCode::await:
    case ir::OpCode::post:
      return {op.object, 1};
    case ir::OpCode::reserve:
    case ir::OpCode::push:
    case ir::OpCode::front:
    case ir::OpCode::pop:
      return of_fifo(op.object);
    case ir::OpCode::run:
    case ir::OpCode::repeat:
      break;
  }
  return {0, 0};
}

Gauges::Range Gauges::beside(ir::CounterId id) const {
  const ir::Counter& counter = game_->counters()[id];
  return counter.kind == ir::CounterKind::semaphore ? Range{counter.object, 1}
                                                    : of_fifo(counter.object);
}

Playback play_back(const ir::TokenGame& game, const ir::Schedule& schedule, std::size_t most,
                   const std::vector<std::int64_t>& extra) {
  std::uint64_t total = 0;
  for (const ir::ScheduleRun& run : schedule) total += run.steps;
  return Player(game, extra, total, most).run(schedule);
}

std::vector<std::int64_t> extra_pages(const ir::Program& program, const proofs::Counterexample& c,
                                      std::size_t which) {
  std::vector<std::int64_t> extra;
  const bool second_of_race = c.kind != proofs::Kind::race || which == 1;
  if (c.deeper.empty() || !second_of_race) return extra;
  extra.assign(program.buffers.size(), 0);
  for (const auto& [buffer, pages] : c.deeper) extra[buffer.value()] = pages;
  return extra;
}

}  // namespace spatialcert::certify::views
