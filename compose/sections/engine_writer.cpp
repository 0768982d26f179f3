#include "compose/sections/engine_writer.hpp"

#include <algorithm>
#include <utility>

namespace spatialcert::compose::sections {
namespace {

/// No loop inside that stays one.
bool innermost(const std::vector<Node>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [](const Node& node) {
    if (const auto* hold = std::get_if<Hold>(&node.what)) return innermost(hold->body);
    const auto* loop = std::get_if<Loop>(&node.what);
    return loop == nullptr || (loop->trips == 1 && innermost(loop->body));
  });
}

}  // namespace

EngineWriter::EngineWriter(ir::Program& program, const Plan& plan,
                           const std::vector<StoreObjects>& objects, EngineRole role,
                           Handover handover, std::uint32_t depth)
    : program_(program),
      plan_(plan),
      objects_(objects),
      role_(role),
      handover_(handover),
      depth_(depth),
      bindings_(plan.variables),
      held_(plan.stores.size(), -1) {}

std::vector<ir::Op> EngineWriter::run() {
  emit(plan_.body);
  return std::move(ops_);
}

void EngineWriter::emit(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    std::visit([&](const auto& what) { emit(what); }, node.what);
  }
}

void EngineWriter::emit(const Loop& loop) {
  const bool turns = handover_ == Handover::semaphores && loop.trips > 1 && innermost(loop.body);
  const std::uint32_t copies = turns ? depth_ : 1;
  const std::uint64_t rounds = loop.trips / copies;
  const std::uint32_t outer = slot_;
  repeat(rounds, loop.body, loop.variable, copies);
  for (std::uint64_t i = rounds * copies; i < loop.trips; ++i) {
    bindings_[loop.variable] = {0, 0, i};
    slot_ = static_cast<std::uint32_t>(i - rounds * copies);
    emit(loop.body);
  }
  slot_ = outer;
}

/// `trips` rounds of `copies` iterations each; a single round is spelled out.
void EngineWriter::repeat(std::uint64_t trips, const std::vector<Node>& body, Variable variable,
                          std::uint32_t copies) {
  if (trips == 0) return;
  const std::size_t head = ops_.size();
  const bool loops = trips > 1;
  if (loops) {
    ir::Op op;
    op.code = ir::OpCode::repeat;
    op.count = static_cast<std::int64_t>(trips);
    ops_.push_back(op);
  }
  for (std::uint32_t c = 0; c < copies; ++c) {
    bindings_[variable] = {level_, loops ? copies : 0, c};
    if (copies > 1) slot_ = c;
    level_ = static_cast<std::uint8_t>(level_ + (loops ? 1 : 0));
    emit(body);
    level_ = static_cast<std::uint8_t>(level_ - (loops ? 1 : 0));
  }
  if (!loops) return;
  ops_[head].body = static_cast<std::uint32_t>(ops_.size() - head - 1);
  // An engine that has nothing to do in the loop has no loop.
  if (ops_[head].body == 0) ops_.pop_back();
}

void EngineWriter::emit(const Hold& hold) {
  if (role_ == EngineRole::load) perform_loads(hold.loads);
  for (const Load& load : hold.loads) {
    if (role_ == EngineRole::compute) begin_reading(load.to.store);
    held_[load.to.store] = slot_;
  }
  emit(hold.body);
  for (const Load& load : hold.loads) {
    if (role_ == EngineRole::compute) end_reading(load.to.store);
    held_[load.to.store] = -1;
  }
}

void EngineWriter::emit(const TileStep& step) {
  if (role_ == EngineRole::load) perform_loads(step.loads);
  if (role_ == EngineRole::compute && !step.runs.empty()) {
    for (const Load& load : step.loads) begin_reading(load.to.store);
    if (step.save) begin_writing(step.save->from.store);
    for (const Run& run : step.runs) {
      begin_run();
      for (const StorePart& from : run.from) access(from, false);
      access(run.to, true);
      end_run(run.stage);
    }
    if (step.save) end_writing(step.save->from.store);
    for (const Load& load : step.loads) end_reading(load.to.store);
  }
  if (role_ == EngineRole::store && step.save) {
    begin_reading(step.save->from.store);
    begin_run();
    access(step.save->from, false);
    access(step.save->to, true);
    end_run(step.save->stage);
    end_reading(step.save->from.store);
  }
}

void EngineWriter::perform_loads(const std::vector<Load>& loads) {
  for (const Load& load : loads) {
    begin_writing(load.to.store);
    begin_run();
    for (const TensorPart& from : load.from) access(from, false);
    access(load.to, true);
    end_run(load.stage);
    end_writing(load.to.store);
  }
}

void EngineWriter::op(ir::OpCode code, std::uint32_t object) {
  ir::Op op;
  op.code = code;
  op.object = object;
  op.count = 1;
  ops_.push_back(op);
}

std::uint32_t EngineWriter::slot(StoreId store) const {
  if (objects_[store].buffers.size() == 1) return 0;
  return held_[store] >= 0 ? static_cast<std::uint32_t>(held_[store]) : slot_;
}

void EngineWriter::begin_writing(StoreId store) {
  const StoreObjects& objects = objects_[store];
  if (handover_ == Handover::fifo) return op(ir::OpCode::reserve, objects.buffers[0].value());
  op(ir::OpCode::wait, objects.free[slot(store)].value());
}

void EngineWriter::end_writing(StoreId store) {
  const StoreObjects& objects = objects_[store];
  if (handover_ == Handover::fifo) return op(ir::OpCode::push, objects.buffers[0].value());
  op(ir::OpCode::post, objects.full[slot(store)].value());
}

void EngineWriter::begin_reading(StoreId store) {
  const StoreObjects& objects = objects_[store];
  if (handover_ == Handover::fifo) return op(ir::OpCode::front, objects.buffers[0].value());
  op(ir::OpCode::wait, objects.full[slot(store)].value());
}

void EngineWriter::end_reading(StoreId store) {
  const StoreObjects& objects = objects_[store];
  if (handover_ == Handover::fifo) return op(ir::OpCode::pop, objects.buffers[0].value());
  op(ir::OpCode::post, objects.free[slot(store)].value());
}

void EngineWriter::begin_run() {
  first_access_ = static_cast<std::uint32_t>(program_.accesses.size());
}

void EngineWriter::end_run(StageIndex stage) {
  op(ir::OpCode::run, stage);
  ops_.back().count = 0;
  ops_.back().first_access = first_access_;
  ops_.back().accesses = static_cast<std::uint32_t>(program_.accesses.size()) - first_access_;
}

void EngineWriter::access(const StorePart& part, bool write) {
  const Store& store = plan_.stores[part.store];
  const ir::BufferId buffer = objects_[part.store].buffers[slot(part.store)];
  ir::Access access;
  access.write = write;
  const bool fifo = program_.buffers[buffer.value()].kind == ir::BufferKind::fifo;
  access.region.kind = fifo ? ir::RegionKind::page : ir::RegionKind::bytes;
  access.region.object = buffer.value();
  access.region.bound[1] =
      static_cast<std::int64_t>(part.rows * store.cols * ir::size_of(store.dtype));
  access.region.first_term = static_cast<std::uint32_t>(program_.affine_terms.size());
  program_.accesses.push_back(access);
}

void EngineWriter::access(const TensorPart& part, bool write) {
  ir::Access access;
  access.write = write;
  access.region.kind = ir::RegionKind::tensor;
  access.region.object = part.tensor;
  access.region.first_term = static_cast<std::uint32_t>(program_.affine_terms.size());
  set_bounds(access.region, 0, part.rows);
  set_bounds(access.region, 2, part.cols);
  program_.accesses.push_back(access);
}

void EngineWriter::set_bounds(ir::Region& region, int first, const Extent& extent) {
  std::uint64_t begin = extent.first;
  for (const Term& term : extent.terms) begin += term.step * bindings_[term.variable].offset;
  for (int b = first; b < first + 2; ++b) {
    region.bound[b] = static_cast<std::int64_t>(b == first ? begin : begin + extent.size);
    for (const Term& term : extent.terms) {
      const Binding& at = bindings_[term.variable];
      if (at.factor == 0) continue;
      program_.affine_terms.push_back({static_cast<std::uint8_t>(b), at.level,
                                       static_cast<std::int64_t>(term.step * at.factor)});
      ++region.terms;
    }
  }
}

}  // namespace spatialcert::compose::sections
