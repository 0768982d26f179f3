#include "compose/collectives/builder.hpp"

#include <algorithm>
#include <utility>

namespace spatialcert::compose {
namespace {

// Loaders refuse a count of 72 or more. A longer exchange becomes several steps of the same block,
// which is what the runtime makes of a long step anyway.
constexpr std::uint32_t kLargestCount = 64;

Address moved(Address address, std::uint32_t by) { return {address.buffer, address.offset + by}; }

}  // namespace

RankBuilder::RankBuilder(const Plan& plan, std::uint32_t chunks, std::uint32_t rank)
    : plan_(plan), chunks_(chunks), rank_(rank) {
  const std::uint32_t share = chunks / plan.ranks;
  std::uint32_t in = plan.collective == Collective::allgather ? share : chunks;
  std::uint32_t out = plan.collective == Collective::reduce_scatter ? share : chunks;
  if (plan.in_place) {
    (plan.collective == Collective::allgather ? in : out) = 0;
  }
  built_.chunks[static_cast<std::size_t>(ChunkBuffer::input)] = in;
  built_.chunks[static_cast<std::size_t>(ChunkBuffer::output)] = out;
}

Address RankBuilder::input(std::uint32_t chunk) const {
  if (plan_.in_place && plan_.collective == Collective::allgather) {
    return {ChunkBuffer::output, rank_ * (chunks_ / plan_.ranks) + chunk};
  }
  return {ChunkBuffer::input, chunk};
}

Address RankBuilder::output(std::uint32_t chunk) const {
  if (!plan_.in_place || plan_.collective == Collective::allgather) {
    return {ChunkBuffer::output, chunk};
  }
  const bool scattered = plan_.collective == Collective::reduce_scatter;
  return {ChunkBuffer::input, (scattered ? rank_ * (chunks_ / plan_.ranks) : 0) + chunk};
}

Address RankBuilder::scratch(std::uint32_t chunk) {
  built_.chunks[static_cast<std::size_t>(ChunkBuffer::scratch)] = chunks_;
  return {ChunkBuffer::scratch, chunk};
}

std::uint32_t RankBuilder::add_block(Block block) {
  built_.blocks.push_back(block);
  return static_cast<std::uint32_t>(built_.blocks.size() - 1);
}

std::uint32_t RankBuilder::sender(std::uint32_t to, std::uint32_t channel) {
  return add_block({static_cast<std::int32_t>(to), kNoPeer, channel});
}

std::uint32_t RankBuilder::receiver(std::uint32_t from, std::uint32_t channel) {
  return add_block({kNoPeer, static_cast<std::int32_t>(from), channel});
}

std::uint32_t RankBuilder::local_block() { return add_block({}); }

Lanes RankBuilder::lanes(std::uint32_t to, std::uint32_t from, std::uint32_t channel,
                         bool send_first) {
  if (send_first) {
    const auto block =
        add_block({static_cast<std::int32_t>(to), static_cast<std::int32_t>(from), channel});
    return {block, block};
  }
  const auto out = sender(to, channel);
  return {out, receiver(from, channel)};
}

void RankBuilder::add(StepType type, std::uint32_t block, Address source, Address destination,
                      std::uint32_t count) {
  for (std::uint32_t done = 0; done < count; done += kLargestCount) {
    const auto part = std::min(kLargestCount, count - done);
    built_.steps.push_back({type, block, moved(source, done), moved(destination, done), part, {}});
  }
}

void RankBuilder::send(std::uint32_t block, Address source, std::uint32_t count) {
  add(StepType::send, block, source, source, count);
}

void RankBuilder::receive(std::uint32_t block, Address destination, std::uint32_t count) {
  add(StepType::receive, block, destination, destination, count);
}

void RankBuilder::receive_reduce(std::uint32_t block, Address source, Address destination,
                                 std::uint32_t count) {
  add(StepType::receive_reduce, block, source, destination, count);
}

void RankBuilder::copy(std::uint32_t block, Address source, Address destination,
                       std::uint32_t count) {
  add(StepType::copy, block, source, destination, count);
}

void RankBuilder::reduce(std::uint32_t block, Address source, Address destination,
                         std::uint32_t count) {
  add(StepType::reduce, block, source, destination, count);
}

void RankBuilder::place_own_input(std::uint32_t input_chunk, std::uint32_t output_chunk,
                                  std::uint32_t count) {
  if (!plan_.in_place) {
    copy(local_block(), input(input_chunk), output(output_chunk), count);
  }
}

CollectiveProgram build_ranks(const Plan& plan, std::uint32_t chunks,
                              const std::function<void(RankBuilder&)>& write) {
  CollectiveProgram program;
  program.chunks = chunks;
  program.ranks.reserve(plan.ranks);
  for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
    RankBuilder builder(plan, chunks, rank);
    write(builder);
    program.ranks.push_back(builder.take());
  }
  return program;
}

}  // namespace spatialcert::compose
