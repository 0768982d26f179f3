#include "ir/import/schedule.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace spatialcert::ir::msccl {
namespace {

constexpr std::uint32_t kMaximumFusion = 16;

/// Walks the steps of one block.
class BlockScheduler {
 public:
  BlockScheduler(const Algorithm& algorithm, std::size_t rank, std::size_t block)
      : algorithm_(algorithm),
        rank_(rank),
        block_(block),
        steps_(algorithm.ranks[rank].blocks[block].steps) {}

  Result<BlockSchedule> run() {
    result_.actions.reserve(steps_.size());
    for (std::uint32_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].type == StepType::nop) {
        add_nop(steps_[i]);
      } else if (extends_chain(steps_[i])) {
        if (Status refused = extend(i)) return *std::move(refused);
      } else {
        add_action(i);
      }
    }
    collect_posts();
    return std::move(result_);
  }

 private:
  void add_wait(const Step& step) {
    result_.waits.push_back(
        {static_cast<std::uint32_t>(step.depends_on_block), step.depends_on_step, step.line});
  }

  // The runtime counts a nop only by the dependency it stores for it.
  void add_nop(const Step& step) {
    chain_open_ = false;
    if (step.depends_on_block < 0) return;
    add_wait(step);
    ++next_number_;
  }

  [[nodiscard]] bool extends_chain(const Step& step) const {
    if (!chain_open_ || step.type != StepType::reduce || step.depends_on_block >= 0) return false;
    const Step& first = steps_[result_.actions.back().first];
    return result_.actions.back().members < kMaximumFusion &&
           step.destination == first.destination && step.source.buffer == first.source.buffer;
  }

  Status extend(std::uint32_t index) {
    Action& action = result_.actions.back();
    const Step& step = steps_[index];
    const Step& first = steps_[action.first];
    if (step.count != first.count) {
      return Refusal{algorithm_.file, step.line, path_of(rank_, block_, index),
                     fmt::format("`cnt` {} as in the reduction at line {}, with which the runtime "
                                 "merges this one",
                                 first.count, first.line),
                     fmt::format("{}", step.count)};
    }
    ++action.members;
    // The runtime advances by the chain's length inside its loop over chunks, which is empty for
    // none.
    if (step.count > 0) action.number = next_number_++;
    action.posts = step.has_dependents;
    chain_open_ = !step.has_dependents;
    return {};
  }

  void add_action(std::uint32_t index) {
    const Step& step = steps_[index];
    if (step.depends_on_block >= 0) add_wait(step);
    Action& action = result_.actions.emplace_back();
    action.first = index;
    action.first_wait = taken_waits_;
    action.waits = static_cast<std::uint32_t>(result_.waits.size()) - taken_waits_;
    taken_waits_ += action.waits;
    action.number = next_number_++;
    action.posts = step.has_dependents;
    chain_open_ = step.type == StepType::reduce && !step.has_dependents;
  }

  void collect_posts() {
    result_.waits.resize(taken_waits_);  // nops at the end vanish
    for (const Action& action : result_.actions) {
      if (action.posts) result_.posts.push_back(action.number);
    }
  }

  const Algorithm& algorithm_;
  std::size_t rank_;
  std::size_t block_;
  const std::vector<Step>& steps_;
  BlockSchedule result_;
  std::uint32_t taken_waits_ = 0;
  std::int32_t next_number_ = 0;
  bool chain_open_ = false;
};

}  // namespace

std::uint32_t BlockSchedule::threshold(std::int32_t step) const {
  const auto first = std::lower_bound(posts.begin(), posts.end(), step);
  return static_cast<std::uint32_t>(first - posts.begin()) + 1;
}

Result<Schedules> schedule(const Algorithm& algorithm) {
  Schedules schedules(algorithm.ranks.size());
  for (std::size_t r = 0; r < schedules.size(); ++r) {
    schedules[r].reserve(algorithm.ranks[r].blocks.size());
    for (std::size_t b = 0; b < algorithm.ranks[r].blocks.size(); ++b) {
      Result<BlockSchedule> one = BlockScheduler(algorithm, r, b).run();
      if (!one) return one.error();
      schedules[r].push_back(*std::move(one));
    }
    for (std::size_t b = 0; b < schedules[r].size(); ++b) {
      for (const Wait& wait : schedules[r][b].waits) schedules[r][wait.block].awaited = true;
    }
  }
  return schedules;
}

}  // namespace spatialcert::ir::msccl
