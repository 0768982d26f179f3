#include "proofs/folding/back_pressure.hpp"

#include <algorithm>

#include "ir/counter_events.hpp"

namespace spatialcert::proofs::folding {
namespace {

/// Transitions that are looked at in all, per transition of the program.
constexpr std::uint64_t kMostLooks = 64;

}  // namespace

BackPressure::BackPressure(const Subject& subject, const Segments& segments)
    : subject_(subject),
      segments_(segments),
      counters_(*subject.program),
      order_(subject.one.transitions(), subject.net.places, false),
      runs_(subject.program->programs.size()),
      known_(subject.program->programs.size(), 0),
      looked_(subject.program->programs.size(), 0) {
  const ir::Unrolled& one = subject.one;
  for (std::uint32_t t = 0; t < one.transitions(); ++t) {
    const std::uint32_t instance = segments.instance[t];
    if (instance == kNone) continue;
    auto& runs = runs_[one.program[t]];
    if (!runs.empty() && runs.back().instance == instance) {
      runs.back().end = t + 1;
    } else {
      runs.push_back({instance, t, t + 1});
    }
  }
  for (auto& runs : runs_) {
    std::sort(runs.begin(), runs.end(),
              [](const Run& a, const Run& b) { return a.instance < b.instance; });
  }
}

const BackPressure::Run* BackPressure::run_of(std::uint32_t instance, std::uint32_t program) const {
  const auto& runs = runs_[program];
  const auto at =
      std::lower_bound(runs.begin(), runs.end(), instance,
                       [](const Run& run, std::uint32_t wanted) { return run.instance < wanted; });
  return at == runs.end() || at->instance != instance ? nullptr : &*at;
}

std::uint32_t BackPressure::segment_begin(const Run& run, std::uint32_t segment) const {
  const auto begin = segments_.segment.begin() + run.begin;
  const auto end = segments_.segment.begin() + run.end;
  return run.begin + static_cast<std::uint32_t>(std::lower_bound(begin, end, segment) - begin);
}

std::uint32_t BackPressure::first_change(std::uint32_t instance, ir::CounterId counter,
                                         std::uint32_t program, std::uint32_t segment,
                                         bool raises) const {
  const Run* const run = run_of(instance, program);
  if (run == nullptr) return kNone;
  for (std::uint32_t t = segment_begin(*run, segment);
       t < run->end && segments_.segment[t] == segment; ++t) {
    for (const ir::CounterEffect& effect :
         ir::effects_of(subject_.one.op_of(*subject_.program, ir::TransitionId(t)), counters_)) {
      if (effect.counter == counter && (raises ? effect.delta > 0 : effect.delta < 0)) return t;
    }
  }
  return kNone;
}

bool BackPressure::holds(std::uint32_t instance, ir::CounterId counter, std::uint32_t raiser,
                         std::uint32_t lowerer, std::uint32_t first, std::uint32_t last) {
  const std::uint32_t raise = first_change(instance, counter, raiser, last, true);
  const std::uint32_t lower = first_change(instance, counter, lowerer, first, false);
  if (raise == kNone || lower == kNone) return false;
  if (raiser == lowerer) return lower < raise;
  std::vector<std::uint32_t> waiting{raiser};
  std::vector<std::uint32_t> touched{raiser};
  known_[raiser] = raise;
  bool found = false;
  for (std::size_t i = 0; i < waiting.size() && !found; ++i) {
    const std::uint32_t p = waiting[i];
    const std::uint32_t begin = segment_begin(*run_of(instance, p), first);
    for (std::uint32_t t = known_[p]; t-- > std::max(begin, looked_[p]) && !found;) {
      ++work_;
      for (const std::uint32_t e : order_.into(t)) {
        const ir::Place& place = subject_.net.places[e];
        const std::uint32_t u = place.from.value();
        if (place.tokens != 0 || segments_.instance[u] != instance || segments_.segment[u] < first)
          continue;
        const std::uint32_t q = subject_.one.program[u];
        found |= q == lowerer && u >= lower;
        if (u < known_[q]) continue;
        if (known_[q] == 0) touched.push_back(q);
        known_[q] = u + 1;
        waiting.push_back(q);
      }
    }
    looked_[p] = std::max(looked_[p], known_[p]);
    if (work_ > kMostLooks * (subject_.one.transitions() + 1)) break;
  }
  for (const std::uint32_t p : touched) known_[p] = looked_[p] = 0;
  return found;
}

}  // namespace spatialcert::proofs::folding
