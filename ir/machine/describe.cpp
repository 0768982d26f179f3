#include "ir/machine/describe.hpp"

#include <fmt/format.h>

#include <string_view>

namespace spatialcert::ir::machine {
namespace {

std::string program_text(const Program& program, ProgramId p) {
  const EngineProgram& engine = program.programs[p.value()];
  return fmt::format("engine {} on [{},{},{}]", program.target.engines[engine.engine.value()],
                     engine.site.chip, engine.site.x, engine.site.y);
}

std::string_view object_name(const Program& program, const Region& region) {
  return region.kind == RegionKind::tensor ? program.tensors[region.object].name
                                           : program.buffers[region.object].name;
}

std::string counter_text(const TokenGame& game, CounterId id) {
  const Counter& counter = game.counters()[id];
  const Program& program = game.program();
  switch (counter.kind) {
    case CounterKind::semaphore:
      return fmt::format("semaphore {}", program.semaphores[counter.object].name);
    case CounterKind::filled:
      return fmt::format("filled pages of {}", program.buffers[counter.object].name);
    case CounterKind::free:
      return fmt::format("free pages of {}", program.buffers[counter.object].name);
  }
  return {};
}

std::string op_place(const Program& program, const Unrolled& unrolled, TransitionId t) {
  return fmt::format("op {} of {}", unrolled.op[t.value()],
                     program_text(program, ProgramId(unrolled.program[t.value()])));
}

}  // namespace

std::string object_text(const Program& program, const Region& region) {
  return fmt::format("{} {}", region.kind == RegionKind::tensor ? "tensor" : "buffer",
                     object_name(program, region));
}

std::string run_text(const Program& program, const Unrolled& unrolled, TransitionId t) {
  const Op& op = unrolled.op_of(program, t);
  const Stage& stage = program.stages[op.object];
  std::string text = fmt::format("run {} ({}), {}", stage.name, to_string(stage.op),
                                 op_place(program, unrolled, t));
  bool reading = false, writing = false;
  for (std::uint32_t a = 0; a < op.accesses; ++a) {
    const Access& access = program.accesses[op.first_access + a];
    bool& begun = access.write ? writing : reading;
    text += begun ? ", " : access.write ? "; writes " : "; reads ";
    text += object_name(program, access.region);
    begun = true;
  }
  return text;
}

std::string fault_text(const TokenGame& game, const PlayFault& fault) {
  const std::string place = op_place(game.program(), game.unrolled(), fault.transition);
  const std::string counter = counter_text(game, fault.counter);
  if (fault.kind == PlayFault::Kind::overflow) {
    return fmt::format("{}: {} would be {}, its maximum is {}", place, counter, fault.value,
                       fault.limit);
  }
  return fmt::format("{}: {} pages of {} wanted, {} are open", place, fault.value,
                     game.program().buffers[game.counters()[fault.counter].object].name,
                     fault.limit);
}

std::string waiting_text(const TokenGame& game, const PlayState& state) {
  constexpr std::size_t kMost = 3;
  std::string text;
  std::size_t waiting = 0;
  for (std::uint32_t p = 0; p < game.program().programs.size(); ++p) {
    const ProgramId id(p);
    const auto test = game.blocked(state, id);
    if (!test) continue;
    if (waiting++ >= kMost) continue;
    text += fmt::format("{}{} waits for {}: {} wanted, {} there", text.empty() ? "" : "; ",
                        program_text(game.program(), id), counter_text(game, test->counter),
                        test->need, test->have);
  }
  if (waiting > kMost) text += fmt::format("; and {} more", waiting - kMost);
  return text;
}

std::optional<std::string> leftover_text(const TokenGame& game, const PlayState& state) {
  for (std::uint32_t c = 0; c < game.counters().size(); ++c) {
    const Counter& counter = game.counters()[CounterId(c)];
    const bool reset = counter.kind == CounterKind::semaphore &&
                       game.program().semaphores[counter.object].restart == Restart::reset;
    const std::int64_t value = game.counter_value(state, CounterId(c));
    if (reset || value == counter.initial) continue;
    return fmt::format("{} at {} instead of {}", counter_text(game, CounterId(c)), value,
                       counter.initial);
  }
  return std::nullopt;
}

}  // namespace spatialcert::ir::machine
