#include <utility>

#include "compose/collectives/algorithms.hpp"

namespace spatialcert::compose {
namespace {

Ring ring_of_all(const Plan& plan, std::uint32_t rank, std::uint32_t channel) {
  const auto n = plan.ranks;
  return {n, rank, (rank + n - 1) % n, (rank + 1) % n, channel, plan.send_first};
}

Place every(std::uint32_t count, std::function<Address(std::uint32_t)> chunk) {
  return [count, chunk = std::move(chunk)](std::uint32_t piece) { return chunk(piece * count); };
}

}  // namespace

void ring_reduce_scatter(RankBuilder& builder, const Ring& ring, const ScatterPlaces& places) {
  const auto n = ring.size;
  if (n < 2) {
    return;
  }
  const auto lanes = builder.lanes(ring.next, ring.previous, ring.channel, ring.send_first);
  // The piece of the next rank but n-1 starts here, so that it ends, complete, at its own rank.
  for (std::uint32_t round = 0; round + 1 < n; ++round) {
    const auto leaves = (ring.position + 2 * n - 1 - round) % n;
    const auto arrives = (ring.position + 2 * n - 2 - round) % n;
    const bool last = round + 2 == n;
    builder.send(lanes.out, round == 0 ? places.raw(leaves) : places.partial(leaves), places.count);
    builder.receive_reduce(lanes.in, places.raw(arrives),
                           last ? places.result : places.partial(arrives), places.count);
  }
}

void ring_allgather(RankBuilder& builder, const Ring& ring, const GatherPlaces& places) {
  const auto n = ring.size;
  if (n < 2) {
    return;
  }
  const auto lanes = builder.lanes(ring.next, ring.previous, ring.channel, ring.send_first);
  for (std::uint32_t round = 0; round + 1 < n; ++round) {
    const auto leaves = (ring.position + n - round) % n;
    const auto arrives = (ring.position + 2 * n - 1 - round) % n;
    for (std::uint32_t run = 0; run < places.runs; ++run) {
      builder.send(lanes.out, places.place(leaves, run), places.count);
    }
    for (std::uint32_t run = 0; run < places.runs; ++run) {
      builder.receive(lanes.in, places.place(arrives, run), places.count);
    }
  }
}

CollectiveProgram build_ring(const Plan& plan) {
  const auto count = chunks_per_piece(plan, 1);
  return build_ranks(plan, plan.ranks * count, [&](RankBuilder& builder) {
    const auto rank = builder.rank();
    const auto input = every(count, [&](std::uint32_t k) { return builder.input(k); });
    const auto output = every(count, [&](std::uint32_t k) { return builder.output(k); });
    const auto scratch = every(count, [&](std::uint32_t k) { return builder.scratch(k); });
    const GatherPlaces gather{count, 1,
                              [&](std::uint32_t piece, std::uint32_t) { return output(piece); }};
    if (plan.collective == Collective::allgather) {
      builder.place_own_input(0, rank * count, count);
      ring_allgather(builder, ring_of_all(plan, rank, 0), gather);
      return;
    }
    if (plan.collective == Collective::reduce_scatter) {
      ring_reduce_scatter(builder, ring_of_all(plan, rank, 0),
                          {count, input, scratch, builder.output(0)});
      return;
    }
    // A channel per phase: a block then has ranks-1 steps, which keeps 256 ranks within the
    // loaders' limit.
    ring_reduce_scatter(builder, ring_of_all(plan, rank, 0), {count, input, output, output(rank)});
    ring_allgather(builder, ring_of_all(plan, rank, 1), gather);
  });
}

}  // namespace spatialcert::compose
