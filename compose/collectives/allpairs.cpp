#include "compose/collectives/algorithms.hpp"

namespace spatialcert::compose {
namespace {

// Loaders allow 32 peers of a channel.
constexpr std::uint32_t kPeersPerChannel = 32;

/// Writes one rank. At distance d it sends to the rank d further and receives from the rank d
/// before, so that no two ranks begin with the same receiver.
class AllPairs {
 public:
  AllPairs(RankBuilder& builder, const Plan& plan, std::uint32_t count)
      : builder_(&builder), n_(plan.ranks), count_(count) {
    for (std::uint32_t d = 1; d < n_; ++d) {
      lanes_.push_back(builder.lanes(to(d), from(d), (d - 1) / kPeersPerChannel, plan.send_first));
    }
  }

  void allgather() {
    builder_->place_own_input(0, builder_->rank() * count_, count_);
    spread(builder_->rank());
  }

  void alltoall() {
    const auto own = builder_->rank() * count_;
    builder_->place_own_input(own, own, count_);
    send_inputs();
    for (std::uint32_t d = 1; d < n_; ++d) {
      builder_->receive(lane(d).in, builder_->output(from(d) * count_), count_);
    }
  }

  /// Sums the pieces of this rank's number into `result`.
  void reduce_to(Address result) {
    send_inputs();
    const auto own = builder_->input(builder_->rank() * count_);
    builder_->receive_reduce(lane(1).in, own, result, count_);
    for (std::uint32_t d = 2; d < n_; ++d) {
      builder_->receive(lane(d).in, builder_->scratch(from(d) * count_), count_);
    }
    if (n_ > 2) {
      const auto adder = builder_->local_block();
      for (std::uint32_t d = 2; d < n_; ++d) {
        builder_->reduce(adder, builder_->scratch(from(d) * count_), result, count_);
      }
    }
  }

  /// Sends the finished piece of this rank to all and takes theirs.
  void spread(std::uint32_t piece) {
    for (std::uint32_t d = 1; d < n_; ++d) {
      builder_->send(lane(d).out, builder_->output(piece * count_), count_);
    }
    for (std::uint32_t d = 1; d < n_; ++d) {
      builder_->receive(lane(d).in, builder_->output(from(d) * count_), count_);
    }
  }

 private:
  [[nodiscard]] std::uint32_t to(std::uint32_t d) const { return (builder_->rank() + d) % n_; }
  [[nodiscard]] std::uint32_t from(std::uint32_t d) const {
    return (builder_->rank() + n_ - d) % n_;
  }
  [[nodiscard]] Lanes lane(std::uint32_t d) const { return lanes_[d - 1]; }

  void send_inputs() {
    for (std::uint32_t d = 1; d < n_; ++d) {
      builder_->send(lane(d).out, builder_->input(to(d) * count_), count_);
    }
  }

  RankBuilder* builder_;
  std::uint32_t n_;
  std::uint32_t count_;
  std::vector<Lanes> lanes_;
};

}  // namespace

CollectiveProgram build_allpairs(const Plan& plan) {
  const auto count = chunks_per_piece(plan, 1);
  return build_ranks(plan, plan.ranks * count, [&](RankBuilder& builder) {
    AllPairs rank(builder, plan, count);
    switch (plan.collective) {
      case Collective::allgather:
        rank.allgather();
        break;
      case Collective::alltoall:
        rank.alltoall();
        break;
      case Collective::reduce_scatter:
        rank.reduce_to(builder.output(0));
        break;
      case Collective::allreduce:
        rank.reduce_to(builder.output(builder.rank() * count));
        rank.spread(builder.rank());
        break;
    }
  });
}

}  // namespace spatialcert::compose
