#include "value_machine.hpp"

#include <algorithm>
#include <deque>
#include <vector>

#include "ir/token_game.hpp"
#include "ir/unroll.hpp"

namespace spatialcert::ir::fixtures {
namespace {

using Values = std::vector<std::uint64_t>;

class Machine {
 public:
  explicit Machine(const Program& program)
      : program_(program),
        unit_(program.buffers.empty() ? 1 : program.buffers[0].page_bytes),
        memory_(program.target.chips),
        filled_(program.buffers.size()),
        open_page_(program.buffers.size()) {
    for (const Buffer& buffer : program.buffers) {
      if (buffer.kind == BufferKind::fifo) continue;
      Values& memory = memory_[buffer.site.chip];
      memory.resize(
          std::max<std::size_t>(memory.size(), (buffer.address + buffer.bytes()) / unit_));
    }
    for (const Buffer& buffer : program.buffers) {
      if (buffer.init != Init::external) continue;
      for (std::uint64_t k = 0; k < buffer.pages; ++k) {
        memory_[buffer.site.chip][buffer.address / unit_ + k] = next();
      }
    }
    initial_ = memory_;
  }

  void perform(const Op& op) {
    if (op.code == OpCode::push) {
      filled_[op.object].push_back(std::move(open_page_[op.object]));
    } else if (op.code == OpCode::pop) {
      filled_[op.object].pop_front();
    } else if (op.code == OpCode::run) {
      run(op);
    }
  }

  [[nodiscard]] bool postconditions_hold() const {
    for (const Postcondition& post : program_.postconditions) {
      Values sum = load(memory_, post.region);
      for (const Region& term : post.terms) {
        const Values values = load(initial_, term);
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] -= values[k];
      }
      for (const std::uint64_t difference : sum) {
        if (difference != 0) return false;
      }
    }
    return true;
  }

 private:
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  [[nodiscard]] std::size_t length(const Region& region) const {
    return static_cast<std::size_t>(region.bound[1] - region.bound[0]) / unit_;
  }

  [[nodiscard]] Values load(const std::vector<Values>& memory, const Region& region) const {
    const Buffer& buffer = program_.buffers[region.object];
    const Values& chip = memory[buffer.site.chip];
    const auto first =
        chip.begin() + static_cast<std::ptrdiff_t>(
                           (buffer.address + static_cast<std::uint64_t>(region.bound[0])) / unit_);
    return {first, first + static_cast<std::ptrdiff_t>(length(region))};
  }

  void run(const Op& op) {
    Values value;
    const bool adds = program_.stages[op.object].op == OpKind::add;
    for (std::uint32_t a = op.first_access; a < op.first_access + op.accesses; ++a) {
      const Region& region = program_.accesses[a].region;
      const bool page = region.kind == RegionKind::page;
      if (!program_.accesses[a].write) {
        const Values read = page ? filled_[region.object].front() : load(memory_, region);
        value.resize(length(region));
        for (std::size_t k = 0; k < value.size(); ++k) value[k] = (adds ? value[k] : 0) + read[k];
      } else if (page) {
        open_page_[region.object] = value;
      } else {
        const Buffer& buffer = program_.buffers[region.object];
        const std::uint64_t first =
            (buffer.address + static_cast<std::uint64_t>(region.bound[0])) / unit_;
        for (std::size_t k = 0; k < value.size(); ++k)
          memory_[buffer.site.chip][first + k] = value[k];
      }
    }
  }

  const Program& program_;
  std::uint64_t unit_;
  std::uint64_t state_ = 1;
  std::vector<Values> memory_;  // per chip, one number per chunk
  std::vector<Values> initial_;
  std::vector<std::deque<Values>> filled_;  // per FIFO
  std::vector<Values> open_page_;           // per FIFO, one at most
};

}  // namespace

Execution execute(const Program& program, std::optional<std::uint64_t> seed) {
  const auto unrolled = unroll(program);
  const Unrolled& transitions = std::get<Unrolled>(unrolled);
  const TokenGame game(program, transitions);
  const FreePlay play = play_freely(game, seed);
  Execution result;
  result.fault = play.result.fault.has_value();
  result.finished = !result.fault && game.all_finished(play.result.state);
  if (!result.finished) return result;
  Machine machine(program);
  std::vector<std::uint32_t> at(transitions.begin.begin(), transitions.begin.end() - 1);
  for (const ScheduleRun& one : play.schedule) {
    for (std::uint32_t k = 0; k < one.steps; ++k) {
      machine.perform(transitions.op_of(program, TransitionId(at[one.program.value()]++)));
    }
  }
  result.right = machine.postconditions_hold();
  return result;
}

}  // namespace spatialcert::ir::fixtures
