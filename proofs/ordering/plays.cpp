#include "proofs/ordering/plays.hpp"

#include <algorithm>

namespace spatialcert::proofs::ordering {
namespace {

constexpr std::uint64_t kPlays = 64;
constexpr std::uint32_t kMostTransitions = 200'000;
constexpr std::uint32_t kNever = 0xffffffffU;

/// When a play performs each transition.
std::vector<std::uint32_t> times(const ir::Unrolled& unrolled, const ir::Schedule& schedule) {
  std::vector<std::uint32_t> out(unrolled.transitions(), kNever);
  std::vector<std::uint32_t> next(unrolled.begin.begin(), unrolled.begin.end() - 1);
  std::uint32_t now = 0;
  for (const ir::ScheduleRun& run : schedule) {
    for (std::uint32_t i = 0; i < run.steps; ++i) out[next[run.program.value()]++] = now++;
  }
  return out;
}

ir::Schedule first_steps(const ir::Schedule& schedule, std::uint32_t steps) {
  ir::Schedule out;
  for (const ir::ScheduleRun& run : schedule) {
    const std::uint32_t taken = std::min(run.steps, steps);
    if (taken != 0) out.push_back({run.program, taken});
    steps -= taken;
  }
  return out;
}

/// The play number `play`, as far as it comes.
ir::Schedule played(const ir::TokenGame& game, std::uint64_t play) {
  return ir::play_freely(game, play == 0 ? std::nullopt : std::optional(play)).schedule;
}

}  // namespace

std::optional<BothOrders> play_both_orders(
    const Subject& subject, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
  if (subject.stretch.transitions() > kMostTransitions) return std::nullopt;
  const ir::TokenGame game(*subject.program, subject.stretch);
  // Per pair, the play in which its first came before its last, and the other way round.
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::vector<std::uint64_t> right(pairs.size(), kNone), wrong(pairs.size(), kNone);
  for (std::uint64_t play = 0; play < kPlays; ++play) {
    const auto at = times(subject.stretch, played(game, play));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const std::uint32_t a = at[pairs[i].first], b = at[pairs[i].second];
      if (a == kNever || b == kNever) continue;
      (a < b ? right : wrong)[i] = play;
      if (right[i] == kNone || wrong[i] == kNone) continue;
      const auto up_to_both = [&](std::uint64_t which) {
        const ir::Schedule schedule = played(game, which);
        const auto when = times(subject.stretch, schedule);
        return first_steps(schedule, std::max(when[pairs[i].first], when[pairs[i].second]) + 1);
      };
      return BothOrders{i, up_to_both(right[i]), up_to_both(wrong[i])};
    }
  }
  return std::nullopt;
}

}  // namespace spatialcert::proofs::ordering
