#include "compose/collectives/algorithms.hpp"

namespace spatialcert::compose {
namespace {

// Chunks go through the tree one after the other, so that all levels work at once.
constexpr std::uint32_t kPipelinedChunks = 4;

/// A rank of the binary tree in heap order: parent (r-1)/2, children 2r+1 and 2r+2.
class TreeRank {
 public:
  TreeRank(RankBuilder& builder, std::uint32_t ranks)
      : builder_(&builder), has_parent_(builder.rank() > 0) {
    const auto rank = builder.rank();
    for (auto child = 2 * rank + 1; child <= 2 * rank + 2 && child < ranks; ++child) {
      children_.push_back(builder.lanes(child, child, 0, false));
    }
    if (has_parent_) {
      parent_ = builder.lanes((rank - 1) / 2, (rank - 1) / 2, 0, false);
    }
  }

  /// Adds the children's sums to the own contribution and hands the sum to the parent.
  void up(std::uint32_t chunk) {
    auto sum = builder_->input(chunk);
    for (const auto& child : children_) {
      builder_->receive_reduce(child.in, sum, builder_->output(chunk), 1);
      sum = builder_->output(chunk);
    }
    if (has_parent_) {
      builder_->send(parent_.out, sum, 1);
    }
  }

  void down(std::uint32_t chunk) {
    if (has_parent_) {
      builder_->receive(parent_.in, builder_->output(chunk), 1);
    }
    for (const auto& child : children_) {
      builder_->send(child.out, builder_->output(chunk), 1);
    }
  }

 private:
  RankBuilder* builder_;
  std::vector<Lanes> children_;
  bool has_parent_;
  Lanes parent_;
};

}  // namespace

CollectiveProgram build_tree(const Plan& plan) {
  return build_ranks(plan, kPipelinedChunks, [&](RankBuilder& builder) {
    TreeRank rank(builder, plan.ranks);
    for (std::uint32_t chunk = 0; chunk < kPipelinedChunks; ++chunk) {
      rank.up(chunk);
    }
    for (std::uint32_t chunk = 0; chunk < kPipelinedChunks; ++chunk) {
      rank.down(chunk);
    }
  });
}

}  // namespace spatialcert::compose
