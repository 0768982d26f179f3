#include <bit>

#include "compose/collectives/algorithms.hpp"

namespace spatialcert::compose {
namespace {

/// One rank among `size_` (a power of two) whose partners differ from it in one bit of the number.
class Butterfly {
 public:
  Butterfly(RankBuilder& builder, const Plan& plan, std::uint32_t size, std::uint32_t count)
      : builder_(&builder), size_(size), count_(count) {
    for (std::uint32_t bit = 1; bit < size; bit *= 2) {
      const auto partner = builder.rank() ^ bit;
      lanes_.push_back(builder.lanes(partner, partner, 0, plan.send_first));
    }
  }

  /// Recursive halving: the range of pieces that a rank is responsible for halves every round.
  /// `raw` is its own contribution, `partial` the sums on the way, `result` where the last piece
  /// goes.
  void halve(const Place& raw, const Place& partial, Address result) {
    for (std::uint32_t bit = size_ / 2; bit >= 1; bit /= 2) {
      const auto& from = bit == size_ / 2 ? raw : partial;
      const auto keeps = first_piece(bit);
      const auto leaves = keeps ^ bit;
      builder_->send(lane(bit).out, from(leaves), bit * count_);
      builder_->receive_reduce(lane(bit).in, from(keeps), bit == 1 ? result : partial(keeps),
                               bit * count_);
    }
  }

  /// Recursive doubling: the range of pieces that a rank has doubles every round.
  void double_up(const Place& place) {
    for (std::uint32_t bit = 1; bit < size_; bit *= 2) {
      const auto has = first_piece(bit);
      builder_->send(lane(bit).out, place(has), bit * count_);
      builder_->receive(lane(bit).in, place(has ^ bit), bit * count_);
    }
  }

 private:
  /// Of the aligned run of `pieces` pieces in which this rank's own lies.
  [[nodiscard]] std::uint32_t first_piece(std::uint32_t pieces) const {
    return builder_->rank() & ~(pieces - 1);
  }
  [[nodiscard]] Lanes lane(std::uint32_t bit) const {
    return lanes_[static_cast<std::size_t>(std::countr_zero(bit))];
  }

  RankBuilder* builder_;
  std::uint32_t size_;
  std::uint32_t count_;
  std::vector<Lanes> lanes_;
};

/// Halving, then doubling, over the largest power of two ranks; a rank beyond it hands its vector
/// to a rank inside before and gets the sum from it afterwards.
void allreduce(RankBuilder& builder, const Plan& plan, std::uint32_t size, std::uint32_t count) {
  const auto rank = builder.rank();
  const auto all = size * count;
  if (rank >= size) {
    const auto lanes = builder.lanes(rank - size, rank - size, 0, false);
    builder.send(lanes.out, builder.input(0), all);
    builder.receive(lanes.in, builder.output(0), all);
    return;
  }
  const Place output = [&](std::uint32_t piece) { return builder.output(piece * count); };
  Place raw = [&](std::uint32_t piece) { return builder.input(piece * count); };
  Lanes outside;
  const bool folds = rank + size < plan.ranks;
  if (folds) {
    outside = builder.lanes(rank + size, rank + size, 0, false);
    builder.receive_reduce(outside.in, builder.input(0), builder.output(0), all);
    raw = output;
  }
  Butterfly butterfly(builder, plan, size, count);
  butterfly.halve(raw, output, output(rank));
  butterfly.double_up(output);
  if (folds) {
    builder.send(outside.out, builder.output(0), all);
  }
}

}  // namespace

CollectiveProgram build_recursive_doubling(const Plan& plan) {
  const auto size = std::bit_floor(plan.ranks);
  const auto count = chunks_per_piece(plan, size / 2);
  return build_ranks(plan, size * count, [&](RankBuilder& builder) {
    if (plan.collective == Collective::allreduce) {
      allreduce(builder, plan, size, count);
      return;
    }
    Butterfly butterfly(builder, plan, size, count);
    if (plan.collective == Collective::allgather) {
      builder.place_own_input(0, builder.rank() * count, count);
      butterfly.double_up([&](std::uint32_t piece) { return builder.output(piece * count); });
      return;
    }
    butterfly.halve([&](std::uint32_t piece) { return builder.input(piece * count); },
                    [&](std::uint32_t piece) { return builder.scratch(piece * count); },
                    builder.output(0));
  });
}

}  // namespace spatialcert::compose
