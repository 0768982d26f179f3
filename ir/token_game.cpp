#include "ir/token_game.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include "ir/require.hpp"

namespace spatialcert::ir {

TokenGame::TokenGame(const Program& program, const Unrolled& unrolled,
                     std::vector<std::int64_t> extra_pages)
    : program_(&program),
      unrolled_(&unrolled),
      counters_(program),
      extra_pages_(std::move(extra_pages)) {
  SPATIALCERT_REQUIRE(extra_pages_.empty() || extra_pages_.size() == program.buffers.size(),
                      "one entry per buffer");
  for (std::size_t b = 0; b < extra_pages_.size(); ++b) {
    SPATIALCERT_REQUIRE(extra_pages_[b] == 0 || program.buffers[b].depth == Depth::guaranteed,
                        "only a guaranteed FIFO may be deeper than declared");
  }
}

PlayState TokenGame::start() const {
  PlayState state;
  state.next.assign(unrolled_->begin.begin(), unrolled_->begin.end() - 1);
  for (const Semaphore& s : program_->semaphores) state.value.push_back(s.initial);
  const std::size_t buffers = program_->buffers.size();
  state.pushed.assign(buffers, 0);
  state.popped.assign(buffers, 0);
  state.back.assign(buffers, 0);
  state.front.assign(buffers, 0);
  return state;
}

bool TokenGame::all_finished(const PlayState& state) const {
  for (std::uint32_t p = 0; p < program_->programs.size(); ++p) {
    if (!finished(state, ProgramId(p))) return false;
  }
  return true;
}

std::int64_t TokenGame::pages(std::uint32_t buffer) const {
  const auto declared = static_cast<std::int64_t>(program_->buffers[buffer].pages);
  return extra_pages_.empty() ? declared : declared + extra_pages_[buffer];
}

std::int64_t TokenGame::counter_value(const PlayState& state, CounterId id) const {
  const Counter& counter = counters_[id];
  if (counter.kind == CounterKind::semaphore) return state.value[counter.object];
  const std::int64_t filled = state.pushed[counter.object] - state.popped[counter.object];
  return counter.kind == CounterKind::filled ? filled : pages(counter.object) - filled;
}

std::optional<BlockingTest> TokenGame::blocked(const PlayState& state, ProgramId p) const {
  if (finished(state, p)) return std::nullopt;
  const Op& op = unrolled_->op_of(*program_, TransitionId(state.next[p.value()]));
  CounterId counter;
  switch (op.code) {
    case OpCode::wait:
    case OpCode::await:
      counter = counters_.of(SemaphoreId(op.object));
      break;
    case OpCode::reserve:
      counter = counters_.free(BufferId(op.object));
      break;
    case OpCode::front:
      counter = counters_.filled(BufferId(op.object));
      break;
    default:
      return std::nullopt;
  }
  const std::int64_t have = counter_value(state, counter);
  if (have >= op.count) return std::nullopt;
  return BlockingTest{counter, op.count, have};
}

std::optional<PlayFault> TokenGame::window_fault(const PlayState& state, TransitionId t) const {
  const Op& op = unrolled_->op_of(*program_, t);
  for (std::uint32_t a = 0; a < op.accesses; ++a) {
    const Access& access = program_->accesses[op.first_access + a];
    if (access.region.kind != RegionKind::page) continue;
    const std::uint32_t buffer = access.region.object;
    const std::int64_t open = access.write ? state.back[buffer] : state.front[buffer];
    if (access.region.page < open) continue;
    const BufferId id(buffer);
    return PlayFault{PlayFault::Kind::misuse, t,
                     access.write ? counters_.free(id) : counters_.filled(id),
                     static_cast<std::int64_t>(access.region.page) + 1, open};
  }
  return std::nullopt;
}

std::optional<PlayFault> TokenGame::step(PlayState& state, ProgramId p) const {
  SPATIALCERT_REQUIRE(can_step(state, p), "only a program that can step steps");
  const TransitionId t(state.next[p.value()]);
  const Op& op = unrolled_->op_of(*program_, t);
  const std::uint32_t o = op.object;
  switch (op.code) {
    case OpCode::wait:
      state.value[o] -= op.count;
      break;
    case OpCode::await:
      break;
    case OpCode::post: {
      const std::int64_t maximum = program_->semaphores[o].maximum;
      // Both are within 0..maximum, so the difference cannot overflow where the sum could.
      if (op.count > maximum - state.value[o]) {
        std::int64_t sum = 0;
        if (__builtin_add_overflow(state.value[o], op.count, &sum)) {
          sum = std::numeric_limits<std::int64_t>::max();
        }
        return PlayFault{PlayFault::Kind::overflow, t, counters_.of(SemaphoreId(o)), sum, maximum};
      }
      state.value[o] += op.count;
      break;
    }
    case OpCode::reserve:
      state.back[o] = std::max(state.back[o], op.count);
      break;
    case OpCode::front:
      state.front[o] = std::max(state.front[o], op.count);
      break;
    case OpCode::push:
    case OpCode::pop: {
      const bool push = op.code == OpCode::push;
      std::int64_t& open = push ? state.back[o] : state.front[o];
      if (op.count > open) {
        const BufferId id(o);
        return PlayFault{PlayFault::Kind::misuse, t,
                         push ? counters_.free(id) : counters_.filled(id), op.count, open};
      }
      open -= op.count;
      (push ? state.pushed[o] : state.popped[o]) += op.count;
      break;
    }
    case OpCode::run:
      if (auto fault = window_fault(state, t)) return fault;
      break;
    case OpCode::repeat:
      require_failed("repeat", "loops are unrolled", __FILE__, __LINE__);
  }
  ++state.next[p.value()];
  return std::nullopt;
}

void append_step(Schedule& schedule, ProgramId p) {
  if (!schedule.empty() && schedule.back().program == p) {
    ++schedule.back().steps;
  } else {
    schedule.push_back({p, 1});
  }
}

PlayResult play(const TokenGame& game, const Schedule& schedule) {
  PlayResult result;
  result.state = game.start();
  for (const ScheduleRun& run : schedule) {
    if (run.program.value() >= game.program().programs.size()) return result;
    for (std::uint32_t i = 0; i < run.steps; ++i) {
      if (!game.can_step(result.state, run.program)) return result;
      result.fault = game.step(result.state, run.program);
      if (result.fault) return result;
      ++result.steps;
    }
  }
  result.complete = true;
  return result;
}

namespace {

/// Programs that may be able to step: each one is looked at again only when a counter it is blocked
/// on has grown, so that a free play is linear in the steps.
class Runnable {
 public:
  explicit Runnable(const TokenGame& game)
      : waiting_(game.counters().size()), blocked_on_(game.program().programs.size()) {
    for (std::uint32_t p = 0; p < blocked_on_.size(); ++p) ready_.push_back(p);
  }

  std::vector<std::uint32_t>& ready() { return ready_; }

  void block(std::uint32_t p, CounterId counter) { waiting_[counter.value()].push_back(p); }

  void grown(CounterId counter) {
    auto& waiting = waiting_[counter.value()];
    ready_.insert(ready_.end(), waiting.begin(), waiting.end());
    waiting.clear();
  }

 private:
  std::vector<std::vector<std::uint32_t>> waiting_;
  std::vector<CounterId> blocked_on_;
  std::vector<std::uint32_t> ready_;
};

std::optional<CounterId> grown_by(const TokenGame& game, const Op& op) {
  switch (op.code) {
    case OpCode::post:
      return game.counters().of(SemaphoreId(op.object));
    case OpCode::push:
      return game.counters().filled(BufferId(op.object));
    case OpCode::pop:
      return game.counters().free(BufferId(op.object));
    default:
      return std::nullopt;
  }
}

}  // namespace

std::vector<char> blocked_for_ever(const TokenGame& game, const PlayState& state) {
  const Program& program = game.program();
  const auto programs = static_cast<std::uint32_t>(program.programs.size());
  std::vector<char> stuck(programs, 0);
  std::vector<std::vector<std::uint32_t>> waiting(game.counters().size());
  std::vector<std::uint32_t> alive;
  for (std::uint32_t p = 0; p < programs; ++p) {
    const ProgramId id(p);
    if (const auto test = game.blocked(state, id)) {
      stuck[p] = 1;
      waiting[test->counter.value()].push_back(p);
      continue;
    }
    const bool wraps = program.execution == Execution::persistent && game.unrolled().length(id) > 0;
    if (!game.finished(state, id) || wraps) alive.push_back(p);
  }
  // Whatever a live program may raise may release who waits for it, and so on.
  while (!alive.empty()) {
    const std::uint32_t p = alive.back();
    alive.pop_back();
    for (const Op& op : program.programs[p].ops) {
      const auto counter = grown_by(game, op);
      if (!counter) continue;
      for (const std::uint32_t released : waiting[counter->value()]) {
        if (stuck[released] != 0) alive.push_back(released);
        stuck[released] = 0;
      }
      waiting[counter->value()].clear();
    }
  }
  return stuck;
}

std::optional<ProgramId> starved_by_balance(const TokenGame& game, const PlayState& state) {
  const Program& program = game.program();
  if (program.execution != Execution::persistent) return std::nullopt;
  std::vector<std::int64_t> gain(game.counters().size(), 0);
  bool overflow = false;
  const auto add = [&](CounterId counter, std::int64_t delta) {
    std::int64_t& sum = gain[counter.value()];
    overflow |= __builtin_add_overflow(sum, delta, &sum);
  };
  for (std::uint32_t t = 0; t < game.unrolled().transitions(); ++t) {
    const Op& op = game.unrolled().op_of(program, TransitionId(t));
    if (const auto raised = grown_by(game, op)) add(*raised, op.count);
    if (op.code == OpCode::wait) add(game.counters().of(SemaphoreId(op.object)), -op.count);
    if (op.code == OpCode::push) add(game.counters().free(BufferId(op.object)), -op.count);
    if (op.code == OpCode::pop) add(game.counters().filled(BufferId(op.object)), -op.count);
  }
  if (overflow) return std::nullopt;
  std::optional<ProgramId> starved;
  for (std::uint32_t p = 0; p < program.programs.size(); ++p) {
    const ProgramId id(p);
    if (game.can_step(state, id)) return std::nullopt;
    const auto test = game.blocked(state, id);
    if (!starved && test && gain[test->counter.value()] < 0) starved = id;
  }
  return starved;
}

FreePlay play_freely(const TokenGame& game, std::optional<std::uint64_t> seed) {
  FreePlay out;
  PlayState& state = out.result.state;
  state = game.start();
  Runnable runnable(game);
  std::mt19937_64 random(seed.value_or(0));
  std::size_t turn = 0;
  auto& ready = runnable.ready();
  while (!ready.empty()) {
    const std::size_t at =
        seed ? random() % ready.size() : (turn < ready.size() ? turn : (turn = 0));
    const ProgramId p(ready[at]);
    bool keep = true;
    // One step if the schedule is random, otherwise as far as the program goes.
    do {
      const auto test = game.blocked(state, p);
      keep = !test && !game.finished(state, p);
      if (!keep) {
        if (test) runnable.block(p.value(), test->counter);
        break;
      }
      const Op& op = game.unrolled().op_of(game.program(), TransitionId(state.next[p.value()]));
      out.result.fault = game.step(state, p);
      if (out.result.fault) return out;
      ++out.result.steps;
      append_step(out.schedule, p);
      if (const auto counter = grown_by(game, op)) runnable.grown(*counter);
    } while (!seed);
    if (keep) continue;
    ready[at] = ready.back();
    ready.pop_back();
  }
  out.result.complete = game.all_finished(state);
  return out;
}

}  // namespace spatialcert::ir
