#include "tests/oracle/explorer.hpp"

#include <algorithm>
#include <limits>

#include "ir/require.hpp"

namespace spatialcert::tests {
namespace {

/// Numbers of the points of the grid: every engine program is a digit, whose base is how many
/// places it can stand at.
class Grid {
 public:
  explicit Grid(const ir::Unrolled& unrolled) {
    std::uint64_t points = 1;
    for (std::size_t p = 0; p + 1 < unrolled.begin.size(); ++p) {
      weight_[p] = points;
      const std::uint64_t places = std::uint64_t{unrolled.begin[p + 1]} - unrolled.begin[p] + 1;
      SPATIALCERT_REQUIRE(points <= std::numeric_limits<std::uint64_t>::max() / places,
                          "the explorer's grid has fewer than 2^64 points");
      points *= places;
    }
  }
  [[nodiscard]] std::uint64_t number(const Front& front) const {
    std::uint64_t out = 0;
    for (std::size_t p = 0; p < front.size(); ++p) out += front[p] * weight_[p];
    return out;
  }

 private:
  std::array<std::uint64_t, kMostPrograms> weight_{};
};

/// Open addressing: the search does little else than look states up.
class Numbers {
 public:
  Numbers() : slots_(1U << 10) {}

  /// Number of `key`; a new key gets `next` as its number.
  std::pair<std::uint32_t, bool> emplace(std::uint64_t key, std::uint32_t next) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = find(key);
    if (slot.number != kFree) return {slot.number, false};
    slot = {key, next};
    ++used_;
    return {next, true};
  }

 private:
  static constexpr std::uint32_t kFree = 0xffffffffU;
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t number = kFree;
  };

  Slot& find(std::uint64_t key) {
    std::size_t at = (key * 0x9e3779b97f4a7c15U) >> 32;
    while (true) {
      Slot& slot = slots_[at++ & (slots_.size() - 1)];
      if (slot.number == kFree || slot.key == key) return slot;
    }
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number != kFree) find(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace

Exploration::Exploration(const ir::TokenGame& game, std::uint64_t state_limit)
    : unrolled_(&game.unrolled()),
      programs_(static_cast<std::uint32_t>(game.program().programs.size())) {
  SPATIALCERT_REQUIRE(programs_ <= kMostPrograms, "the explorer is for few engine programs");
  for (std::uint32_t p = 0; p < programs_; ++p) {
    SPATIALCERT_REQUIRE(unrolled_->begin[p + 1] - unrolled_->begin[p] <= kMostSteps,
                        "the explorer is for short engine programs");
  }
  search(game, state_limit);
  summarise();
}

void Exploration::search(const ir::TokenGame& game, std::uint64_t state_limit) {
  Numbers numbers;
  const Grid grid(*unrolled_);
  struct Frame {
    ir::PlayState play;
    std::uint32_t number;
  };
  std::vector<Frame> stack;
  const auto visit = [&](ir::PlayState&& play, const Front& front, std::uint32_t from) {
    const auto [number, fresh] =
        numbers.emplace(grid.number(front), static_cast<std::uint32_t>(states.size()));
    if (!fresh) return;
    states.push_back(front);
    enabled.push_back(0);
    parent_.push_back(from);
    stack.push_back({std::move(play), number});
  };
  enabled_.assign(unrolled_->transitions(), false);
  visit(game.start(), {}, 0);
  while (!stack.empty()) {
    if (states.size() > state_limit) return;
    const Frame frame = std::move(stack.back());
    stack.pop_back();
    bool moves = false;
    for (std::uint32_t p = 0; p < programs_; ++p) {
      if (!game.can_step(frame.play, ir::ProgramId(p))) continue;
      moves = true;
      const std::uint32_t t = frame.play.next[p];
      enabled[frame.number] = static_cast<std::uint8_t>(enabled[frame.number] | 1U << p);
      enabled_[t] = true;
      ir::PlayState next = frame.play;
      if (const auto fault = game.step(next, ir::ProgramId(p))) {
        (fault->kind == ir::PlayFault::Kind::overflow ? overflows : misuses).insert(t);
        continue;
      }
      ++steps;
      Front front = states[frame.number];
      ++front[p];
      visit(std::move(next), front, frame.number);
    }
    if (moves) continue;
    if (game.all_finished(frame.play)) {
      record_end(game, frame.play);
    } else {
      stuck.push_back(frame.number);
    }
  }
  complete = true;
}

void Exploration::record_end(const ir::TokenGame& game, const ir::PlayState& state) {
  const ir::Program& program = game.program();
  for (std::uint32_t s = 0; s < program.semaphores.size(); ++s) {
    if (program.semaphores[s].restart == ir::Restart::reset) continue;
    const ir::CounterId counter = game.counters().of(ir::SemaphoreId(s));
    if (state.value[s] != program.semaphores[s].initial) unequal_ends.insert(counter.value());
  }
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    if (program.buffers[b].kind != ir::BufferKind::fifo) continue;
    const ir::CounterId counter = game.counters().filled(ir::BufferId(b));
    if (state.pushed[b] != state.popped[b]) unequal_ends.insert(counter.value());
  }
}

void Exploration::summarise() {
  Front most{};
  most.fill(0xffff);
  farthest_.assign(unrolled_->transitions(), Front{});
  fewest_.assign(unrolled_->transitions(), most);
  for (std::size_t i = 0; i < states.size(); ++i) {
    for (std::uint32_t p = 0; p < programs_; ++p) {
      const std::uint32_t t = unrolled_->begin[p] + states[i][p];
      if (t == unrolled_->begin[p + 1]) continue;
      for (std::uint32_t q = 0; q < programs_; ++q) {
        farthest_[t][q] = std::max(farthest_[t][q], states[i][q]);
        if (enabled[i] >> p & 1U) fewest_[t][q] = std::min(fewest_[t][q], states[i][q]);
      }
    }
  }
  // Not performed: the program stands at t or before it.
  for (std::uint32_t p = 0; p < programs_; ++p) {
    for (std::uint32_t t = unrolled_->begin[p] + 1; t < unrolled_->begin[p + 1]; ++t) {
      for (std::uint32_t q = 0; q < programs_; ++q) {
        farthest_[t][q] = std::max(farthest_[t][q], farthest_[t - 1][q]);
      }
    }
  }
}

bool Exploration::separates(std::uint32_t done, std::uint32_t open) const {
  return farthest_[open][program_of(done)] > step_of(done);
}

std::vector<std::uint32_t> Exploration::inexact_tests() const {
  std::vector<bool> inexact(unrolled_->transitions(), false);
  for (std::size_t i = 0; i < states.size(); ++i) {
    for (std::uint32_t p = 0; p < programs_; ++p) {
      const std::uint32_t t = unrolled_->begin[p] + states[i][p];
      if (t == unrolled_->begin[p + 1] || (enabled[i] >> p & 1U) || !enabled_[t]) continue;
      bool all_before = true;
      for (std::uint32_t q = 0; q < programs_; ++q) all_before &= states[i][q] >= fewest_[t][q];
      if (all_before) inexact[t] = true;
    }
  }
  std::vector<std::uint32_t> out;
  for (std::uint32_t t = 0; t < inexact.size(); ++t) {
    if (inexact[t]) out.push_back(t);
  }
  return out;
}

ir::Schedule Exploration::schedule_to(std::uint32_t state) const {
  std::vector<std::uint32_t> order;
  for (; state != 0; state = parent_[state]) {
    const Front& before = states[parent_[state]];
    for (std::uint32_t p = 0; p < programs_; ++p) {
      if (states[state][p] != before[p]) order.push_back(p);
    }
  }
  ir::Schedule out;
  for (auto p = order.rbegin(); p != order.rend(); ++p) ir::append_step(out, ir::ProgramId(*p));
  return out;
}

}  // namespace spatialcert::tests
