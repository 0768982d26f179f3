// A model that is split over chips is certified and equals the whole one, bit for bit.
#include <doctest/doctest.h>

#include <utility>

#include "tests/parallel/split_model.hpp"

namespace spatialcert::tests {
namespace {

TEST_CASE("the split model is certified, and equals the whole one under any schedule") {
  for (const auto& [count, partial] :
       {std::pair{2U, ir::DType::i32}, {4U, ir::DType::i32}, {4U, ir::DType::i16}}) {
    CAPTURE(count);
    const SplitModel model = split_model(count, true, partial);
    const ir::Program split = composed_model(model);
    const ir::Program whole = whole_model(model);
    CHECK(split.sliced.size() == 2);
    check_certified(split);
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const ir::machine::Inputs inputs = model_inputs(model, seed);
      const auto one = finished(split, inputs_of(split, inputs), seed);
      const auto other = finished(whole, inputs_of(whole, inputs), seed + 100);
      CHECK(one.tensor("y")->defined());
      CHECK(one.tensor("y")->integers == other.tensor("y")->integers);
    }
  }
}

}  // namespace
}  // namespace spatialcert::tests
