#include "proofs/shard/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spatialcert::proofs::shard {
namespace {

/// One iteration alone, with the places that lead from it into itself.
std::optional<std::vector<std::uint32_t>> order_of(const Subject& subject) {
  std::optional<std::vector<std::uint32_t>> position;
  if (subject.persistent()) {
    Subject one;
    one.program = subject.program;
    one.stretch = subject.one;
    for (const ir::Place& place : subject.net.places) {
      if (place.tokens == 0) one.places.push_back(place);
    }
    position = linear_extension(one);
  } else {
    position = linear_extension(subject);
  }
  if (!position) return std::nullopt;
  std::vector<std::uint32_t> order(position->size());
  for (std::uint32_t t = 0; t < position->size(); ++t) order[(*position)[t]] = t;
  return order;
}

/// A FIFO of which a page beyond those of one iteration is touched.
std::optional<std::uint32_t> page_of_another_round(const Subject& subject,
                                                   const ir::AccessMap& accesses) {
  const ir::Program& program = *subject.program;
  std::vector<std::uint64_t> pushed(program.buffers.size(), 0);
  for (std::uint32_t t = 0; t < subject.one.transitions(); ++t) {
    const ir::Op& op = subject.one.op_of(program, ir::TransitionId(t));
    if (op.code == ir::OpCode::push) pushed[op.object] += static_cast<std::uint64_t>(op.count);
  }
  for (const ir::ResolvedAccess& a : accesses.accesses) {
    const ir::Storage& storage = accesses.storages[a.storage];
    if (storage.kind != ir::Storage::Kind::fifo) continue;
    // Positions fit 63 bits, so page numbers times page bytes do.
    if ((a.high - 1) / program.buffers[storage.object].page_bytes >= pushed[storage.object])
      return storage.object;
  }
  return std::nullopt;
}

/// Marks the segments of [low, high) of a storage. The ends need not be ends of segments: what was
/// never touched has none.
void mark(const ir::AccessMap& accesses, std::uint32_t storage, std::uint64_t low,
          std::uint64_t high, std::vector<char>& kept) {
  const auto& segments = accesses.segments;
  auto at = std::partition_point(segments.begin(), segments.end(), [&](const ir::Segment& s) {
    return s.storage < storage || (s.storage == storage && s.high <= low);
  });
  for (; at != segments.end() && at->storage == storage && at->low < high; ++at) {
    kept[static_cast<std::size_t>(at - segments.begin())] = 1;
  }
}

/// What a round leaves to the next: resident buffers (views are what they are views of), and of
/// tensors all in a persistent program, otherwise those that the host keeps. What else was left is
/// undefined, and `flow` lets nobody read it.
std::vector<char> left_to_the_next(const ir::Program& program, const ir::AccessMap& accesses) {
  std::vector<char> kept(accesses.segments.size(), 0);
  std::vector<std::string> carried = program.carried;
  std::sort(carried.begin(), carried.end());
  for (std::uint32_t t = 0; t < program.tensors.size(); ++t) {
    const ir::Tensor& tensor = program.tensors[t];
    if (program.execution == ir::Execution::once && tensor.role != ir::TensorRole::state &&
        !std::binary_search(carried.begin(), carried.end(), tensor.name))
      continue;
    std::uint64_t low = 0;
    for (std::uint32_t v = t; program.tensors[v].view; v = program.tensors[v].view->base.value())
      low += program.tensors[v].view->offset;
    mark(accesses, accesses.storage_of_tensor[t], low, low + tensor.rows * tensor.cols, kept);
  }
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const ir::Buffer& buffer = program.buffers[b];
    if (buffer.lifetime != ir::Lifetime::resident || buffer.view) continue;
    mark(accesses, accesses.storage_of_buffer[b], buffer.address, buffer.address + buffer.bytes(),
         kept);
  }
  return kept;
}

}  // namespace

std::variant<Round, std::string> round_of(const Subject& subject) {
  const ir::Program& program = *subject.program;
  Round round;
  round.subject_ = &subject;
  if (subject.persistent()) round.own_ = ir::resolve_accesses(program, subject.one);
  const ir::AccessMap& accesses = round.accesses();
  if (accesses.limit) return "the accesses of the program exceed the limit of the analysis";
  if (!accesses.faults.empty()) return "an access leaves its object";
  const auto& places = subject.net.places;
  if (std::any_of(places.begin(), places.end(), [](const ir::Place& p) { return p.tokens < 0; })) {
    return "an op needs what a later iteration supplies (a window that slides over the "
           "wrap-around)";
  }
  auto order = order_of(subject);
  if (!order) return "the net has a token-free cycle";
  round.order_ = std::move(*order);
  if (subject.persistent()) {
    if (const auto fifo = page_of_another_round(subject, accesses)) {
      return fmt::format("a page of fifo {} is written in one iteration and pushed in another",
                         program.buffers[*fifo].name);
    }
  }
  round.kept_ = left_to_the_next(program, accesses);
  return round;
}

}  // namespace spatialcert::proofs::shard
