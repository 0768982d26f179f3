#include "ir/import/lower.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ir/unroll.hpp"

namespace spatialcert::ir::msccl {
namespace {

std::uint32_t transfers(std::uint32_t count, std::uint32_t per_transfer) {
  return (count + per_transfer - 1) / per_transfer;
}

/// Upper bounds, to refuse early and to allocate once.
struct Budget {
  std::uint64_t ops = 0;
  std::uint64_t accesses = 0;

  void add(const Step& step, const Action& action, std::uint32_t per_transfer, bool helped) {
    const StepTraits& uses = traits(step.type);
    const std::uint64_t pieces = transfers(step.count, per_transfer);
    const std::uint64_t ends = std::uint64_t{uses.sends} + std::uint64_t{uses.receives};
    ops += action.waits + std::uint64_t{action.posts} + pieces * (1 + 2 * ends + (helped ? 12 : 0));
    accesses +=
        pieces * (action.members - 1 + ends + (helped ? 2 : 0) + std::uint64_t{uses.reads_source} +
                  std::uint64_t{uses.reads_destination} + std::uint64_t{uses.writes_destination});
  }
};

/// Appends the ops of one block, and of its helper, to the program.
class BlockLowering {
 public:
  BlockLowering(const Source& source, const Shape& shape, const Objects& objects, Program& program,
                std::size_t rank, std::size_t block)
      : steps_(source.algorithm.ranks[rank].blocks[block].steps),
        schedule_(source.schedules[rank][block]),
        of_rank_(source.schedules[rank]),
        shape_(shape),
        objects_(objects),
        program_(program),
        rank_(rank),
        flag_(objects.flags[rank][block]),
        helper_(objects.helpers[rank][block]) {
    const Connections::OfBlock& ends = source.connections.of_block[rank][block];
    if (ends.out != kNoConnection) out_ = objects.fifos[ends.out];
    if (ends.in != kNoConnection) in_ = objects.fifos[ends.in];
  }

  void run() {
    Budget budget;
    for (const Action& action : schedule_.actions) {
      budget.add(steps_[action.first], action, shape_.chunks_per_transfer, helper_.engine.valid());
    }
    ops_.reserve(budget.ops + 1);
    for (const Action& action : schedule_.actions) lower(action);
    join_helper();  // a kernel ends when all its threads have
  }

  [[nodiscard]] std::vector<Op> take_ops() { return std::move(ops_); }
  [[nodiscard]] std::vector<Op> take_helper_ops() { return std::move(helper_ops_); }

 private:
  /// A part of a step that is one transfer.
  struct Piece {
    std::uint32_t first = 0;  ///< chunks of the step before it
    std::uint32_t chunks = 0;
  };

  void lower(const Action& action);
  void transfer(const Action& action, Piece piece);
  void send_by_helper(const Step& step, Piece piece);
  void ask_helper(const Step& step);
  void helper_sends(Piece piece, const Operand* source);
  void join_helper();

  LocationIndex locate(std::uint32_t line) {
    program_.locations.push_back({0, line});
    return static_cast<LocationIndex>(program_.locations.size() - 1);
  }
  void emit(OpCode code, std::uint32_t object, std::int64_t count) {
    emit_to(ops_, code, object, count);
  }
  void emit_to(std::vector<Op>& to, OpCode code, std::uint32_t object, std::int64_t count) const {
    Op op;
    op.code = code;
    op.object = object;
    op.count = count;
    op.location = location_;
    to.push_back(op);
  }
  /// Begins a `run`, to which the next accesses belong.
  void begin_run(std::vector<Op>& to, StageId stage) {
    emit_to(to, OpCode::run, stage.value(), 0);
    to.back().first_access = static_cast<std::uint32_t>(program_.accesses.size());
  }
  void end_run(std::vector<Op>& to) const {
    to.back().accesses =
        static_cast<std::uint32_t>(program_.accesses.size()) - to.back().first_access;
  }
  void access(const Operand& operand, Piece piece, bool write);
  void access_page(BufferId fifo, Piece piece, bool write);

  const std::vector<Step>& steps_;
  const BlockSchedule& schedule_;
  const std::vector<BlockSchedule>& of_rank_;
  const Shape& shape_;
  const Objects& objects_;
  Program& program_;
  std::size_t rank_;
  SemaphoreId flag_;
  Helper helper_;
  BufferId out_;
  BufferId in_;
  std::vector<Op> ops_;
  std::vector<Op> helper_ops_;
  LocationIndex location_ = kNoLocation;
  const Step* unfinished_send_ = nullptr;  ///< the send that the helper may still be reading for
};

void BlockLowering::access(const Operand& operand, Piece piece, bool write) {
  const auto bytes = static_cast<std::int64_t>(shape_.chunk_bytes);
  const std::int64_t first = std::int64_t{operand.offset} + piece.first;
  Access& access = program_.accesses.emplace_back();
  access.write = write;
  access.region.kind = RegionKind::bytes;
  access.region.object = objects_.buffer(rank_, operand.buffer).value();
  access.region.bound[0] = first * bytes;
  access.region.bound[1] = (first + piece.chunks) * bytes;
}

void BlockLowering::access_page(BufferId fifo, Piece piece, bool write) {
  Access& access = program_.accesses.emplace_back();
  access.write = write;
  access.region.kind = RegionKind::page;
  access.region.object = fifo.value();
  access.region.bound[1] = static_cast<std::int64_t>(piece.chunks * shape_.chunk_bytes);
}

void BlockLowering::lower(const Action& action) {
  for (std::uint32_t w = action.first_wait; w < action.first_wait + action.waits; ++w) {
    const Wait& wait = schedule_.waits[w];
    location_ = locate(wait.line);
    emit(OpCode::await, objects_.flags[rank_][wait.block].value(),
         of_rank_[wait.block].threshold(wait.step));
  }
  const Step& step = steps_[action.first];
  location_ = locate(step.line);
  if (action.waits > 0) join_helper();  // the barrier after the threads that spin
  for (std::uint32_t first = 0; first < step.count; first += shape_.chunks_per_transfer) {
    const Piece piece{first, std::min(shape_.chunks_per_transfer, step.count - first)};
    if (step.type == StepType::send && helper_.engine.valid()) {
      send_by_helper(step, piece);
    } else {
      transfer(action, piece);
    }
  }
  if (action.posts && flag_.valid()) emit(OpCode::post, flag_.value(), 1);
}

void BlockLowering::transfer(const Action& action, Piece piece) {
  const Step& step = steps_[action.first];
  const StepTraits& uses = traits(step.type);
  const bool by_helper = uses.sends && helper_.engine.valid();
  const BufferId out = by_helper ? helper_.hand : out_;
  // A receive of the same shape into the range being sent gives every thread the very elements that
  // it has itself read before.
  const bool same_threads = unfinished_send_ != nullptr && uses.receives &&
                            step.destination == unfinished_send_->source &&
                            step.count == unfinished_send_->count;
  if (same_threads) join_helper();
  if (uses.receives) emit(OpCode::front, in_.value(), 1);
  if (by_helper) ask_helper(step);
  if (uses.sends) emit(OpCode::reserve, out.value(), 1);
  const bool adds = step.type == StepType::reduce || (uses.receives && uses.reads_source);
  begin_run(ops_, adds ? objects_.add : objects_.copy);
  if (uses.receives) access_page(in_, piece, false);
  if (uses.reads_destination) access(step.destination, piece, false);
  for (std::uint32_t s = action.first; uses.reads_source && s < action.first + action.members;
       ++s) {
    access(steps_[s].source, piece, false);
  }
  if (uses.writes_destination) access(step.destination, piece, true);
  if (uses.sends) access_page(out, piece, true);
  end_run(ops_);
  if (uses.sends) emit(OpCode::push, out.value(), 1);
  if (uses.receives) emit(OpCode::pop, in_.value(), 1);
  if (by_helper) helper_sends(piece, nullptr);
  join_helper();  // the barrier at the end of every step but a send
}

void BlockLowering::send_by_helper(const Step& step, Piece piece) {
  ask_helper(step);
  helper_sends(piece, &step.source);
}

// The threads get past the wait for the slot together, so the block goes on only when there is one.
// Then each of them reads its part of the source in its own time, which is what the helper stands
// for.
void BlockLowering::ask_helper(const Step& step) {
  join_helper();  // waiting for a slot begins with a barrier
  emit(OpCode::post, helper_.go.value(), 1);
  emit(OpCode::wait, helper_.slot.value(), 1);
  emit_to(helper_ops_, OpCode::wait, helper_.go.value(), 1);
  emit_to(helper_ops_, OpCode::reserve, out_.value(), 1);
  emit_to(helper_ops_, OpCode::post, helper_.slot.value(), 1);
  unfinished_send_ = &step;
}

/// Sends `source`, or what the block hands over if there is none.
void BlockLowering::helper_sends(Piece piece, const Operand* source) {
  if (source == nullptr) emit_to(helper_ops_, OpCode::front, helper_.hand.value(), 1);
  begin_run(helper_ops_, objects_.copy);
  if (source == nullptr) {
    access_page(helper_.hand, piece, false);
  } else {
    access(*source, piece, false);
  }
  access_page(out_, piece, true);
  end_run(helper_ops_);
  emit_to(helper_ops_, OpCode::push, out_.value(), 1);
  if (source == nullptr) emit_to(helper_ops_, OpCode::pop, helper_.hand.value(), 1);
  emit_to(helper_ops_, OpCode::post, helper_.done.value(), 1);
}

void BlockLowering::join_helper() {
  if (unfinished_send_ == nullptr) return;
  emit(OpCode::wait, helper_.done.value(), 1);
  unfinished_send_ = nullptr;
}

void add_program(Program& program, std::size_t rank, EngineId engine, std::vector<Op> ops) {
  if (ops.empty()) return;
  EngineProgram& added = program.programs.emplace_back();
  added.site = site_of(rank);
  added.engine = engine;
  added.spans.push_back({SectionId(std::size_t{0}), {}, 0, static_cast<std::uint32_t>(ops.size())});
  added.ops = std::move(ops);
}

void add_ops(const Source& source, const Shape& shape, const Objects& objects, Program& program) {
  for (std::size_t r = 0; r < source.algorithm.ranks.size(); ++r) {
    std::vector<std::vector<Op>> helper_ops(source.algorithm.ranks[r].blocks.size());
    for (std::size_t b = 0; b < helper_ops.size(); ++b) {
      BlockLowering block(source, shape, objects, program, r, b);
      block.run();
      add_program(program, r, EngineId(b), block.take_ops());
      helper_ops[b] = block.take_helper_ops();
    }
    for (std::size_t b = 0; b < helper_ops.size(); ++b) {
      add_program(program, r, objects.helpers[r][b].engine, std::move(helper_ops[b]));
    }
  }
}

Budget budget_of(const Source& source, const Shape& shape) {
  const bool helped = sends_without_barrier(source.algorithm, shape.runtime);
  Budget budget;
  for (std::size_t r = 0; r < source.schedules.size(); ++r) {
    for (std::size_t b = 0; b < source.schedules[r].size(); ++b) {
      const std::vector<Step>& steps = source.algorithm.ranks[r].blocks[b].steps;
      for (const Action& action : source.schedules[r][b].actions) {
        budget.add(steps[action.first], action, shape.chunks_per_transfer, helped);
      }
    }
  }
  return budget;
}

}  // namespace

Result<Program> lower(const Source& source, const Shape& shape) {
  const Algorithm& algorithm = source.algorithm;
  const Budget budget = budget_of(source, shape);
  if (budget.ops > kUnrollLimit || budget.accesses > 3 * kUnrollLimit) {
    return Refusal{algorithm.file, algorithm.line, "algo",
                   fmt::format("at most {} ops with {} chunks per transfer", kUnrollLimit,
                               shape.chunks_per_transfer),
                   fmt::format("{}", budget.ops)};
  }
  const bool has_result =
      algorithm.collective == Collective::allreduce || has_chunks_per_rank(algorithm.collective);
  if (has_result && algorithm.ranks.size() * algorithm.ranks.size() > kMaximumTerms) {
    return Refusal{algorithm.file, algorithm.line, "algo/@ngpus",
                   fmt::format("a result of at most {} terms over all ranks", kMaximumTerms),
                   fmt::format("{} ranks", algorithm.ranks.size())};
  }
  Program program;
  program.name = shape.program_name;
  program.source_files = {algorithm.file};
  Result<Objects> objects = lay_out(source, shape, program);
  if (!objects) return objects.error();
  program.accesses.reserve(budget.accesses);
  program.locations.reserve(algorithm.step_count());
  add_ops(source, shape, *objects, program);
  add_postconditions(algorithm, shape, *objects, program);
  return program;
}

}  // namespace spatialcert::ir::msccl
