// Reads that see nothing, or the wrong stage's write: the write that was meant, before the read.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "certify/repair/propose.hpp"
#include "ir/accesses.hpp"
#include "ir/sections.hpp"

namespace spatialcert::certify::repair {
namespace {

using ir::TransitionId;

/// Writers that are looked at, of those that come into question.
constexpr std::size_t kMostWriters = 3;

bool same(const ir::Storage& a, const ir::Storage& b) {
  return a.kind == b.kind && a.site == b.site && a.space == b.space && a.object == b.object;
}

/// Runs of different op texts that write to the range, those of the reader's iteration first.
std::vector<TransitionId> writers(const Case& what, const proofs::LocationRange& range,
                                  TransitionId reader) {
  const ir::Unrolled& u = what.names.unrolled();
  const ir::AccessMap map = ir::resolve_accesses(what.program, u);
  std::vector<TransitionId> all;
  if (map.limit) return all;
  for (const ir::ResolvedAccess& access : map.accesses) {
    if (!access.write || access.high <= range.low || range.high <= access.low ||
        !same(map.storages[access.storage], range.storage) || access.transition == reader)
      continue;
    all.push_back(access.transition);
  }
  const auto distance = [&](TransitionId t) {
    const auto a = u.iteration(t), b = u.iteration(reader);
    return a < b ? b - a : a - b;
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](TransitionId a, TransitionId b) { return distance(a) < distance(b); });
  std::vector<TransitionId> out;
  std::set<OpRef> seen;
  for (const TransitionId t : all) {
    if (out.size() < kMostWriters && seen.insert(what.op_of(t)).second) out.push_back(t);
  }
  return out;
}

void order(const Case& what, TransitionId from, TransitionId to, Proposals& out) {
  propose_handoff(what, from, to, out);
  const auto& u = what.names.unrolled();
  if (ir::section_of_run(what.program, u, from) != ir::section_of_run(what.program, u, to))
    propose_closing(what, from, to, out);
}

void undefined(const Case& what, Proposals& out) {
  const auto& c = what.counterexample;
  const TransitionId reader = c.accesses[0].transition;
  const ir::Storage& storage = c.range->storage;
  out.tried.emplace_back("a write before the read");
  const auto all = writers(what, *c.range, reader);
  for (const TransitionId writer : all) order(what, writer, reader, out);
  if (all.empty())
    out.obstacle(fmt::format("no other run writes {}",
                             ir::describe(what.program, storage, c.range->low, c.range->high)));
  const ir::Region& region = what.program.accesses[c.accesses[0].access].region;
  if (region.kind == ir::RegionKind::bytes && all.empty()) {
    ir::BufferId buffer(region.object);
    while (what.program.buffers[buffer.value()].view)
      buffer = what.program.buffers[buffer.value()].view->base;
    // Sums begin with zero; nothing is known of what else would have been meant.
    if (what.program.buffers[buffer.value()].kind == ir::BufferKind::interm) {
      out.tried.emplace_back("partial sums that begin with zero");
      out.add({ClearBuffer{buffer}}, "partial sums that begin with zero");
    }
  }
  if (storage.kind != ir::Storage::Kind::tensor) return;
  const ir::Tensor& tensor = what.program.tensors[storage.object];
  if (tensor.role == ir::TensorRole::activation || tensor.role == ir::TensorRole::output) return;
  out.tried.emplace_back("a tensor filled by the host");
  out.add({FillTensor{ir::TensorId(storage.object)}}, "a tensor filled by the host");
}

void wrong_producer(const Case& what, Proposals& out) {
  const auto& c = what.counterexample;
  const TransitionId reader = c.accesses[0].transition;
  const ir::StageId stage(what.op(what.op_of(reader)).object);
  const ir::Region& region = what.program.accesses[c.accesses[0].access].region;
  if (region.kind == ir::RegionKind::tensor) return;
  const ir::BufferId buffer(region.object);
  std::set<std::uint32_t> declared;
  ir::HandoffId handoff;
  for (const ir::Edge& edge : what.program.edges) {
    if (edge.consumer != stage || edge.buffer != buffer) continue;
    declared.insert(edge.producer.value());
    handoff = edge.handoff;
  }
  out.tried.emplace_back("the declared producer's write before the read");
  // The write that came too late, or the one that came too early.
  for (const TransitionId writer : writers(what, *c.range, reader)) {
    if (declared.contains(what.op(what.op_of(writer)).object)) order(what, writer, reader, out);
  }
  if (c.accesses.size() < 2) {
    out.obstacle(fmt::format("{} sees what {} held at the start: no write comes before it",
                             what.program.stages[stage.value()].name,
                             what.program.buffers[buffer.value()].name));
    return;
  }
  const TransitionId wrong = c.accesses[1].transition;
  const ir::StageId other(what.op(what.op_of(wrong)).object);
  order(what, reader, wrong, out);
  out.tried.emplace_back("an edge declared");
  out.add({DeclareEdge{{other, buffer, stage, handoff}}}, "an edge declared");
}

}  // namespace

void propose_producers(const Case& what, Proposals& out) {
  const auto& c = what.counterexample;
  if (c.accesses.empty() || !c.range) return;
  if (c.kind == proofs::Kind::undefined_read) undefined(what, out);
  if (c.kind == proofs::Kind::wrong_producer) wrong_producer(what, out);
}

}  // namespace spatialcert::certify::repair
