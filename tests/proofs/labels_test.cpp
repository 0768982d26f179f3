// From which chips' data contents derive: labels by themselves.
#include "proofs/shard/labels.hpp"

#include <doctest/doctest.h>

#include "tests/proofs/shards.hpp"

namespace spatialcert::proofs::shard {
namespace {

using namespace tests::shards;
using tests::Draft;

TEST_CASE("shard: labels are blended where nobody knows which part goes where") {
  Draft d = sharded("blended", 3);
  const ir::Program program = weights(d, 3).engine("load", {"run load w0"}).program();
  Labels labels(program);
  const LabelId zero = labels.own(0), one = labels.own(1), two = labels.own(2);
  const LabelId some = labels.blend(zero, kReplicated), both = labels.join(zero, one);
  CHECK(labels.blend(kReplicated, zero) == some);
  CHECK(labels.blend(zero, zero) == zero);
  CHECK(labels.has(some, 0));
  CHECK(labels.has_partly(some, 0));
  CHECK(!labels.has_partly(labels.blend(zero, both), 0));
  CHECK(labels.has_partly(labels.blend(zero, both), 1));
  CHECK(labels.has_partly(labels.blend(some, both), 0));
  CHECK(labels.has_partly(labels.join(some, one), 0));
  CHECK(labels.has_partly(labels.join(two, some), 0));
  CHECK(!labels.has_partly(labels.join(some, zero), 0));
  CHECK(!labels.has_partly(labels.join(zero, some), 0));
  CHECK(!labels.alike(some, zero));
  CHECK(labels.reduce({some, one, two}) != kReplicated);
  CHECK(labels.has_partly(labels.reduce({some, one, two}), 0));
  CHECK(!labels.has_partly(labels.reduce({some, one, two}), 1));
  CHECK(labels.has_twice(labels.blend(one, labels.reduce({zero, zero})), 0));
  CHECK(labels[labels.blend(one, labels.reduce({zero, two}))].reduced);
  CHECK(labels.blend(zero, one) != labels.blend(zero, two));
}

TEST_CASE("shard: labels are joined, and alike, by what matters") {
  Draft d = sharded("labels", 3);
  weights(d, 3).buffer("a", R"("init": "zero", )" + on(2)).buffer("b", R"("init": "external")");
  const ir::Program program = d.engine("load", {"run load w0"}).program();
  Labels labels(program);
  CHECK(labels.chips() == std::vector<std::uint32_t>{0, 1, 2});
  const LabelId zero = labels.own(0), one = labels.own(1), two = labels.own(2);
  CHECK(labels.join(zero, kReplicated) == zero);
  CHECK(labels.join(kReplicated, zero) == zero);
  CHECK(labels.join(zero, one) != labels.join(zero, two));
  CHECK(labels.has(labels.join(zero, one), 1));
  CHECK(!labels.has(labels.join(zero, one), 2));
  const LabelId partial = labels.reduce({zero, one}), twice = labels.reduce({zero, zero, one});
  // An all-reduce leaves a trace, and what was taken twice stays so.
  CHECK(labels[labels.join(two, partial)].reduced);
  CHECK(labels.has_twice(labels.join(one, twice), 0));
  CHECK(labels.has_twice(labels.join(twice, one), 0));
  CHECK(labels.reduce({labels.join(one, twice), two}) != kReplicated);
  // How a content came about is for reports.
  CHECK(partial != labels.join(zero, one));
  CHECK(labels.alike(partial, labels.join(zero, one)));
  CHECK(labels.alike(twice, labels.reduce({zero, one, one})));
  CHECK(!labels.alike(twice, partial));
  CHECK(!labels.alike(zero, one));
  CHECK(labels.alike(one, one));
}

TEST_CASE("shard: chips with zeroed buffers own nothing") {
  Draft d = sharded("zeroed", 2);
  d.tensor("w0", "external", 4, "f32", owned(0)).tensor("y").buffer("a", R"("init": "zero")");
  const ir::Program program =
      d.buffer("b", R"("init": "zero", )" + on(1)).engine("load", {"run load w0"}).program();
  CHECK(Labels(program).chips() == std::vector<std::uint32_t>{0});
}

TEST_CASE("shard: labels of many chips") {
  Draft d = sharded("many", 130);
  weights(d, 130).buffer("a");
  const ir::Program program = d.engine("load", {"run load w0 > a"}).program();
  Labels labels(program);
  std::vector<LabelId> all;
  for (std::uint32_t c = 0; c < 130; ++c) all.push_back(labels.own(c));
  CHECK(labels.reduce(all) == kReplicated);
  std::vector<LabelId> most(all.begin(), all.end() - 1);
  const LabelId partial = labels.reduce(most);
  CHECK(kind_of(program, labels, partial) == Kind::missing_chip);
  CHECK(labels.has(partial, 128));
  CHECK(!labels.has(partial, 129));
  CHECK(labels.reduce({partial, all.back()}) == kReplicated);
  CHECK(contributions(program, labels, partial).size() == kMostChips);
  CHECK(contributions(program, labels, partial).front().source == "chip 129");
  most.push_back(all[100]);
  const LabelId twice = labels.reduce(most);
  CHECK(labels.has_twice(twice, 100));
  CHECK(!labels.has_twice(twice, 99));
  CHECK(kind_of(program, labels, labels.join(twice, all[5])) == Kind::double_contribution);
  CHECK(labels.join(partial, partial) == partial);
  CHECK(labels.join(all[1], all[2]) == labels.join(all[2], all[1]));
}

}  // namespace
}  // namespace spatialcert::proofs::shard
