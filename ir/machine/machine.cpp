#include "ir/machine/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "ir/machine/contents.hpp"
#include "ir/machine/describe.hpp"
#include "ir/machine/memory.hpp"
#include "ir/require.hpp"
#include "ir/token_game.hpp"
#include "ir/unroll.hpp"

namespace spatialcert::ir::machine {

struct Machine::State {
  State(const Program& p, Unrolled u, Memory m)
      : program(&p),
        unrolled(std::move(u)),
        game(p, unrolled),
        memory(std::move(m)),
        play(game.start()) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Outcome run(const Schedule& schedule);

  const Program* program;
  Unrolled unrolled;
  TokenGame game;
  Memory memory;
  PlayState play;
  bool fresh = true;  ///< nothing of this token was played

 private:
  [[nodiscard]] bool follow(const ir::Schedule& schedule, Outcome& outcome);
  [[nodiscard]] bool follow_script(const std::vector<std::uint32_t>& script, Outcome& outcome);
  /// One step of a program that can step; false if it ended in a fault.
  [[nodiscard]] bool step(ProgramId p, Outcome& outcome);
  void execute(TransitionId t, const Op& op);
  [[nodiscard]] Place locate(TransitionId t, const Access& access) const;
  void write(const Stage& stage, const Place& to, const std::vector<Place>& from,
             const std::vector<Bytes>& read, std::uint32_t iteration);
};

namespace {

bool fail(Outcome& outcome, FaultKind kind, std::string text) {
  outcome.ending = Ending::fault;
  outcome.fault = kind;
  outcome.text = fmt::format("{}: {}", to_string(kind), text);
  return false;
}

void expect_size(std::uint64_t found, const Place& to, const char* what) {
  if (found == to.bytes()) return;
  throw Failure{FaultKind::wrong_shape,
                fmt::format("{} of {} bytes into a region of {} bytes", what, found, to.bytes())};
}

void expect_shape(const Shape& found, const std::optional<Shape>& wanted) {
  if (!wanted || found == *wanted) return;
  throw Failure{FaultKind::wrong_shape, fmt::format("{} x {} into a region of {} x {}", found.rows,
                                                    found.cols, wanted->rows, wanted->cols)};
}

/// What elements are whose own marks do not say it: what another region of the run says.
std::optional<DType> common_type(const std::vector<Place>& from, const std::vector<Bytes>& read,
                                 const Place& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i].known.type) return from[i].known.type;
    if (const auto type = type_of(read[i])) return type;
  }
  return to.known.type;
}

}  // namespace

Outcome Machine::State::run(const Schedule& schedule) {
  Outcome outcome;
  if (!fresh) {
    fail(outcome, FaultKind::not_restarted, "this token was played already");
    return outcome;
  }
  fresh = false;
  if (schedule.kind == Schedule::Kind::script) {
    if (!follow_script(schedule.programs, outcome)) return outcome;
  } else {
    const bool random = schedule.kind == Schedule::Kind::random;
    const FreePlay free = play_freely(game, random ? std::optional(schedule.seed) : std::nullopt);
    if (!follow(free.schedule, outcome)) return outcome;
    if (free.result.fault) {
      const ProgramId p(unrolled.program[free.result.fault->transition.value()]);
      if (!step(p, outcome)) return outcome;
    }
  }
  if (game.all_finished(play)) return outcome;
  outcome.text = waiting_text(game, play);
  outcome.ending = Ending::stuck;
  for (std::uint32_t p = 0; p < program->programs.size(); ++p) {
    if (game.can_step(play, ProgramId(p))) outcome.ending = Ending::stopped;
  }
  return outcome;
}

bool Machine::State::follow(const ir::Schedule& schedule, Outcome& outcome) {
  for (const ScheduleRun& one : schedule) {
    for (std::uint32_t i = 0; i < one.steps; ++i) {
      if (!step(one.program, outcome)) return false;
    }
  }
  return true;
}

bool Machine::State::follow_script(const std::vector<std::uint32_t>& script, Outcome& outcome) {
  for (const std::uint32_t number : script) {
    const ProgramId p(number);
    if (number >= program->programs.size() || !game.can_step(play, p)) {
      return fail(outcome, FaultKind::bad_schedule,
                  fmt::format("engine program {} of {} cannot step after {} steps", number,
                              program->programs.size(), outcome.steps));
    }
    if (!step(p, outcome)) return false;
  }
  return true;
}

bool Machine::State::step(ProgramId p, Outcome& outcome) {
  const TransitionId t(play.next[p.value()]);
  const Op& op = unrolled.op_of(*program, t);
  if (op.code == OpCode::pop && op.count <= play.front[op.object]) {
    memory.free_pages(op.object, op.count, play);
  }
  if (const auto fault = game.step(play, p)) {
    const FaultKind kind = fault->kind == PlayFault::Kind::overflow ? FaultKind::semaphore_overflow
                                                                    : FaultKind::misuse;
    return fail(outcome, kind, fault_text(game, *fault));
  }
  if (op.code == OpCode::run) {
    try {
      execute(t, op);
    } catch (const Failure& failure) {
      return fail(outcome, failure.kind,
                  fmt::format("{}: {}", run_text(*program, unrolled, t), failure.text));
    }
  }
  ++outcome.steps;
  return true;
}

Place Machine::State::locate(TransitionId t, const Access& access) const {
  std::int64_t bounds[4] = {0, 0, 0, 0};
  const int used = access.region.kind == RegionKind::tensor ? 4 : 2;
  for (int b = 0; b < used; ++b) {
    const auto value =
        bound_value(*program, unrolled, access.region, unrolled.context[t.value()], b);
    if (!value) throw Failure{FaultKind::outside, "a bound that does not fit 64 bits"};
    bounds[b] = *value;
  }
  return memory.locate(access.region, bounds, access.write, play);
}

void Machine::State::execute(TransitionId t, const Op& op) {
  const std::uint32_t iteration = unrolled.iteration(t);
  std::vector<Place> from, to;
  std::vector<Bytes> read;
  std::uint32_t at = 0;
  try {
    for (; at < op.accesses; ++at) {
      const Access& access = program->accesses[op.first_access + at];
      (access.write ? to : from).push_back(locate(t, access));
      if (!access.write) read.push_back(memory.read(from.back(), iteration));
    }
  } catch (const Failure& failure) {
    const Access& access = program->accesses[op.first_access + at];
    throw Failure{failure.kind, fmt::format("{} {}: {}", access.write ? "written" : "read",
                                            object_text(*program, access.region), failure.text)};
  }
  for (const Place& place : to) write(program->stages[op.object], place, from, read, iteration);
}

void Machine::State::write(const Stage& stage, const Place& to, const std::vector<Place>& from,
                           const std::vector<Bytes>& read, std::uint32_t iteration) {
  if (stage.op == OpKind::copy && from.size() == 1) {
    if (from.front().known.shape) expect_shape(*from.front().known.shape, to.known.shape);
    expect_size(read.front().byte.size(), to, "a copy");
    if (to.known.type) expect_elements(read.front(), *to.known.type);
    return memory.write(to, read.front(), iteration);
  }
  const std::optional<DType> type = common_type(from, read, to);
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < from.size(); ++i) {
    operands.push_back(decoded(read[i], from[i].known, type));
  }
  Operand result = evaluate(stage, operands, to.known);
  if (result.shaped) expect_shape({result.value.rows, result.value.cols}, to.known.shape);
  const DType own = result.value.dtype;
  const Bytes bytes = encoded(converted(std::move(result.value), to.known.type.value_or(own)));
  expect_size(bytes.byte.size(), to, "a result");
  memory.write(to, bytes, iteration);
}

Result<Machine> Machine::make(const Program& program, const Inputs& inputs,
                              std::uint32_t iterations) {
  if (iterations < 1 || (iterations > 1 && program.execution != Execution::persistent)) {
    return Refusal{"", 0, "iterations", "1, or more of a persistent program",
                   fmt::format("{}", iterations)};
  }
  if (Status status = check_inputs(program, inputs)) return *status;
  auto unrolled = unroll(program, iterations);
  if (const auto* limit = std::get_if<UnrollLimit>(&unrolled)) {
    return Refusal{"", 0, "$.programs", fmt::format("at most {} op instances", limit->limit),
                   "more"};
  }
  Result<Memory> memory = Memory::make(program);
  if (!memory) return memory.error();
  auto state = std::make_unique<State>(program, std::move(std::get<Unrolled>(unrolled)),
                                       std::move(memory).value());
  set_contents(program, inputs, false, state->memory);
  return Machine(std::move(state));
}

Machine::Machine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Machine::Machine(Machine&&) noexcept = default;
Machine& Machine::operator=(Machine&&) noexcept = default;
Machine::~Machine() = default;

Outcome Machine::run(const Schedule& schedule) { return state_->run(schedule); }

Status Machine::restart(const Inputs& inputs) {
  const Program& program = *state_->program;
  if (program.execution == Execution::persistent) {
    return Refusal{"", 0, "$.execution", "a program that the host restarts", "a persistent one"};
  }
  if (!state_->game.all_finished(state_->play)) {
    return Refusal{"", 0, "$.programs", "a token that has finished", "one that has not"};
  }
  if (Status status = check_inputs(program, inputs)) return status;
  if (const auto left = leftover_text(state_->game, state_->play)) {
    return Refusal{"", 0, "$", "semaphores and FIFOs as they were before the token", *left};
  }
  state_->play = state_->game.start();
  state_->fresh = true;
  set_contents(program, inputs, true, state_->memory);
  return {};
}

std::optional<Matrix> Machine::tensor(const std::string& name) const {
  const auto& tensors = state_->program->tensors;
  for (std::uint32_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].name != name) continue;
    const Bytes bytes = state_->memory.look(state_->memory.tensor_place(t));
    return seen(bytes, {tensors[t].rows, tensors[t].cols}, tensors[t].dtype);
  }
  return std::nullopt;
}

std::optional<Matrix> Machine::buffer(const std::string& name) const {
  const auto& buffers = state_->program->buffers;
  for (std::uint32_t b = 0; b < buffers.size(); ++b) {
    if (buffers[b].name != name) continue;
    const Place place = state_->memory.buffer_place(b);
    const Bytes bytes = state_->memory.look(place);
    const auto type = place.known.type ? place.known.type : type_of(bytes);
    if (!type) return std::nullopt;
    return seen(bytes, place.known.shape.value_or(Shape{1, place.bytes() / size_of(*type)}), *type);
  }
  return std::nullopt;
}

const Program& Machine::program() const { return *state_->program; }

std::optional<std::string> difference(const Machine& a, const Machine& b) {
  for (const Tensor& tensor : a.program().tensors) {
    const auto other = b.tensor(tensor.name);
    if (!other) continue;
    if (const auto text = difference(*a.tensor(tensor.name), *other)) {
      return fmt::format("tensor {}: {}", tensor.name, *text);
    }
  }
  return std::nullopt;
}

std::optional<std::string> buffer_difference(const Machine& a, const Machine& b) {
  for (const Buffer& buffer : a.program().buffers) {
    if (buffer.lifetime != Lifetime::resident || buffer.resident_from.valid()) continue;
    const auto own = a.buffer(buffer.name);
    const auto other = b.buffer(buffer.name);
    if (!own && !other) continue;
    if (own.has_value() != other.has_value()) {
      return fmt::format("buffer {}: defined in one of them only", buffer.name);
    }
    if (const auto text = difference(*own, *other)) {
      return fmt::format("buffer {}: {}", buffer.name, *text);
    }
  }
  return std::nullopt;
}

}  // namespace spatialcert::ir::machine
