#include "compose/collectives/algorithms.hpp"

namespace spatialcert::compose {
namespace {

/// A rank's seat among `nodes` nodes of `width` ranks.
struct Seat {
  std::uint32_t nodes = 1;
  std::uint32_t width = 1;
  std::uint32_t node = 0;
  std::uint32_t local = 0;

  [[nodiscard]] Ring inside(std::uint32_t channel, bool send_first) const {
    const auto first = node * width;
    return {width,   local,     first + (local + width - 1) % width, first + (local + 1) % width,
            channel, send_first};
  }
  /// The rail: the ranks with the same place in their nodes.
  [[nodiscard]] Ring across(std::uint32_t channel, bool send_first) const {
    return {nodes,
            node,
            (node + nodes - 1) % nodes * width + local,
            (node + 1) % nodes * width + local,
            channel,
            send_first};
  }
};

Seat seat_of(const Plan& plan, std::uint32_t rank) {
  const auto width = plan.ranks_per_node;
  return {plan.ranks / width, width, rank / width, rank % width};
}

/// Which of the two kinds of rings sends first, if any: the one of the first phase that exists.
struct SendFirst {
  bool inside = false;
  bool across = false;
};

SendFirst send_first(const Plan& plan) {
  const bool inside = plan.collective == Collective::allreduce ? plan.ranks_per_node > 1
                                                               : plan.ranks == plan.ranks_per_node;
  return {plan.send_first && inside, plan.send_first && !inside};
}

void allreduce(RankBuilder& builder, const Plan& plan, std::uint32_t count) {
  const auto faulty = send_first(plan);
  const auto seat = seat_of(plan, builder.rank());
  const auto share = seat.nodes * count;  // chunks of the piece that a rank reduces inside its node
  const auto mine = seat.local * share;   // its first chunk
  const bool alone = seat.width == 1;     // then nothing was added up inside the node
  ring_reduce_scatter(
      builder, seat.inside(0, faulty.inside),
      {share, [&](std::uint32_t piece) { return builder.input(piece * share); },
       [&](std::uint32_t piece) { return builder.output(piece * share); }, builder.output(mine)});
  const auto sum = [&](std::uint32_t piece) { return builder.output(mine + piece * count); };
  const auto start = [&](std::uint32_t piece) {
    return alone ? builder.input(mine + piece * count) : sum(piece);
  };
  ring_reduce_scatter(builder, seat.across(1, faulty.across), {count, start, sum, sum(seat.node)});
  ring_allgather(builder, seat.across(2, faulty.across),
                 {count, 1, [&](std::uint32_t piece, std::uint32_t) { return sum(piece); }});
  ring_allgather(builder, seat.inside(3, faulty.inside),
                 {share, 1, [&](std::uint32_t piece, std::uint32_t) {
                    return builder.output(piece * share);
                  }});
}

void allgather(RankBuilder& builder, const Plan& plan, std::uint32_t count) {
  const auto faulty = send_first(plan);
  const auto seat = seat_of(plan, builder.rank());
  const auto of_rank = [&](std::uint32_t node, std::uint32_t local) {
    return builder.output((node * seat.width + local) * count);
  };
  builder.place_own_input(0, builder.rank() * count, count);
  ring_allgather(
      builder, seat.across(0, faulty.across),
      {count, 1, [&](std::uint32_t node, std::uint32_t) { return of_rank(node, seat.local); }});
  // A rail's chunks do not lie side by side in the result: one run per node.
  ring_allgather(builder, seat.inside(1, faulty.inside),
                 {count, seat.nodes,
                  [&](std::uint32_t local, std::uint32_t node) { return of_rank(node, local); }});
}

}  // namespace

CollectiveProgram build_hierarchical(const Plan& plan) {
  const auto nodes = plan.ranks / plan.ranks_per_node;
  if (plan.collective == Collective::allgather) {
    const auto count = chunks_per_piece(plan, 1);
    return build_ranks(plan, plan.ranks * count,
                       [&](RankBuilder& builder) { allgather(builder, plan, count); });
  }
  const auto count = chunks_per_piece(plan, send_first(plan).inside ? nodes : 1);
  return build_ranks(plan, plan.ranks * count,
                     [&](RankBuilder& builder) { allreduce(builder, plan, count); });
}

}  // namespace spatialcert::compose
