// A small model, split over chips and whole: y = x + the products of 3 x, in integers.
//
// normed = 3 x (spine); mid = normed up (up cut by columns, into two ranges per chip); p = mid down
// (down cut by rows); h = sum of the p.c; y = h + x. All integers, so that the split program must
// equal the whole one bit for bit.
#pragma once

#include <string>
#include <vector>

#include "tests/parallel/fixture.hpp"

namespace spatialcert::tests {

inline constexpr std::uint64_t kModel = 4;  ///< columns of x
inline constexpr std::uint64_t kTokens = 2;

/// What a section of the model is, before it is moved: one per statement that is no fold.
struct ModelSection {
  std::string binder;
  ir::Program section;  ///< on chip 0
};

struct SplitModel {
  parallel::Manifest manifest;
  ir::Target target;
  std::uint64_t inner = 0;             ///< columns of mid
  std::vector<ModelSection> before;    ///< the collective
  parallel::AllreduceDescription sum;  ///< of h
  std::vector<ModelSection> after;
};
/// `partial`: type of the p.c; as wide as the sum, they have declared values.
[[nodiscard]] SplitModel split_model(std::uint32_t chips, bool crossing = true,
                                     ir::DType partial = ir::DType::i32);
/// Relocated and composed, with the manifest attached.
[[nodiscard]] ir::Program composed_model(const SplitModel& model);
/// The whole model on one chip, its full weights put together from those that `inputs` gives.
[[nodiscard]] ir::Program whole_model(const SplitModel& model);
/// Contents of x and of every part, drawn from the seed, and the full tensors that they make.
[[nodiscard]] ir::machine::Inputs model_inputs(const SplitModel& model, std::uint64_t seed);

/// Inputs of `all` that the program has.
[[nodiscard]] ir::machine::Inputs inputs_of(const ir::Program& program,
                                            const ir::machine::Inputs& all);

}  // namespace spatialcert::tests
