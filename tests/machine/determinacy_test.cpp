// Programs without races give one outcome in every schedule; programs with one show it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <set>

#include "compose/collectives/collectives.hpp"
#include "ir/import/msccl.hpp"
#include "tests/counts.hpp"
#include "tests/machine/one_run.hpp"
#include "tests/proofs/draft.hpp"

namespace spatialcert::tests {
namespace {

using ir::machine::buffer_difference;
using ir::machine::difference;
using ir::machine::Ending;

constexpr std::uint64_t kSchedules = 100;

/// Plays `program` in a row of schedules and compares everything with the first.
void check_determinate(const ir::Program& program, const Inputs& inputs = {}) {
  Machine first = machine(program, inputs);
  const Outcome outcome = first.run();
  REQUIRE_MESSAGE(outcome.ending == Ending::finished, outcome.text);
  for (std::uint64_t seed = 0; seed < kSchedules; ++seed) {
    Machine other = machine(program, inputs);
    const Outcome played = other.run(Schedule::random(seed));
    REQUIRE_MESSAGE(played.ending == Ending::finished, played.text);
    CHECK(played.steps == outcome.steps);
    const auto text = difference(first, other);
    CHECK_MESSAGE(!text, *text);
    const auto buffers = buffer_difference(first, other);
    CHECK_MESSAGE(!buffers, *buffers);
  }
  count("random schedules executed", kSchedules);
}

/// load -> compute -> move -> store over `tiles` tiles of 4 x 4, with random ops and depths.
ir::Program pipeline(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto depth = [&] { return static_cast<int>(1 + random() % 3); };
  const int tiles = static_cast<int>(1 + random() % 6);
  const std::string tile = R"("tile": {"rows": 4, "cols": 4, "dtype": "f32"})";
  Draft draft("pipeline");
  draft.tensor("x", "external", 4 * tiles).tensor("y", "undefined", 4 * tiles);
  draft.tensor("w", "external").tensor("row", "external", 1);
  draft.fifo("a", depth(), tile).fifo("b", depth(), tile).fifo("c", depth(), tile);
  struct Step {
    const char* op;
    const char* more;
  };
  constexpr Step kSteps[] = {{"silu", ""},     {"gelu", ""},  {"softmax", ""}, {"neg", ""},
                             {"matmul", " w"}, {"add", " w"}, {"mul", " row"}, {"rmsnorm", " row"}};
  const Step first = kSteps[random() % std::size(kSteps)];
  const Step second = kSteps[random() % std::size(kSteps)];
  draft.stage("first", first.op).stage("second", second.op);
  const std::string n = std::to_string(tiles);
  draft.engine("load", {"repeat " + n, "reserve a", "run l x[4i:4i+4] > a", "push a", "end"});
  draft.engine("compute",
               {"repeat " + n, "front a", "reserve b",
                std::string("run first a") + first.more + " > b", "push b", "pop a", "end"});
  draft.engine("move",
               {"repeat " + n, "front b", "reserve c",
                std::string("run second b") + second.more + " > c", "push c", "pop b", "end"});
  draft.engine("store", {"repeat " + n, "front c", "run s c > y[4i:4i+4]", "pop c", "end"});
  return draft.program();
}

TEST_CASE("pipelines of FIFOs are determinate") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    CAPTURE(seed);
    check_determinate(pipeline(seed));
  }
}

/// Two engines over two slots; the consumer waits for the producer, and the producer for the slot.
Draft double_buffer(bool producer_waits, bool consumer_waits) {
  Draft draft("double buffer");
  draft.tensor("x", "external", 32).tensor("y", "undefined", 32);
  draft.buffer("even").buffer("odd");
  draft.semaphore("full", 0, 2).semaphore("empty", 2, 2).stage("s", "silu");
  const auto slot = [](const std::string& run, const char* buffer) {
    return run.substr(0, run.find('?')) + buffer + run.substr(run.find('?') + 1);
  };
  std::vector<std::string> load, compute;
  for (int i = 0; i < 8; ++i) {
    const char* const buffer = i % 2 == 0 ? "even" : "odd";
    const std::string rows = fmt::format("[{}:{}]", 4 * i, 4 * i + 4);
    if (producer_waits) load.emplace_back("wait empty");
    load.push_back(slot("run l x" + rows + " > ?", buffer));
    load.emplace_back(consumer_waits ? "post full" : "run nothing");
    if (consumer_waits) compute.emplace_back("wait full");
    compute.push_back(slot("run s ? > y" + rows, buffer));
    compute.emplace_back(producer_waits ? "post empty" : "run nothing");
  }
  return draft.engine("load", load).engine("compute", compute);
}

TEST_CASE("a double buffer with all its waits is determinate") {
  check_determinate(double_buffer(true, true).program());
}

TEST_CASE("without the consumer's wait some schedule reads what is undefined") {
  const ir::Program program = double_buffer(true, false).program();
  std::set<std::string> outcomes;
  for (std::uint64_t seed = 0; seed < kSchedules; ++seed) {
    Machine m = machine(program);
    const Outcome outcome = m.run(Schedule::random(seed));
    if (outcome.ending == Ending::fault && *outcome.fault == FaultKind::undefined_read) {
      outcomes.insert("undefined");
    }
  }
  CHECK(outcomes.count("undefined") == 1);
}

TEST_CASE("without the producer's wait some schedules end with other values") {
  const ir::Program program = double_buffer(false, true).program();
  // The producer must not be ahead of its semaphore, which is not what is missing here.
  ir::Program roomy = program;
  roomy.semaphores[0].maximum = 15;
  Machine first = machine(roomy);
  std::vector<std::uint32_t> steps;
  const auto load = static_cast<std::uint32_t>(roomy.programs[0].engine.value());
  REQUIRE(load == 0);
  for (int i = 0; i < 8; ++i) steps.insert(steps.end(), {0, 0, 1, 1, 1});
  REQUIRE(first.run(Schedule::script(steps)).ending == Ending::finished);
  std::uint64_t different = 0;
  for (std::uint64_t seed = 0; seed < kSchedules; ++seed) {
    Machine m = machine(roomy);
    REQUIRE(m.run(Schedule::random(seed)).ending == Ending::finished);
    if (difference(first, m)) ++different;
  }
  CHECK(different > 0);
}

std::vector<std::int64_t> part(const Machine& m, const ir::Region& region) {
  const auto whole = m.buffer(m.program().buffers[region.object].name);
  REQUIRE(whole.has_value());
  REQUIRE(whole->defined());
  return {whole->integers.begin() + region.bound[0] / 4,
          whole->integers.begin() + region.bound[1] / 4};
}

/// Every postcondition, against what the inputs held.
void check_sums(const Machine& before, const Machine& after) {
  REQUIRE_FALSE(after.program().postconditions.empty());
  for (const ir::Postcondition& post : after.program().postconditions) {
    std::vector<std::int64_t> sum(
        static_cast<std::size_t>(post.region.bound[1] - post.region.bound[0]) / 4);
    for (const ir::Region& term : post.terms) {
      const std::vector<std::int64_t> values = part(before, term);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
    }
    CHECK(part(after, post.region) == sum);
  }
}

void check_ring(std::uint32_t ranks, bool in_place) {
  compose::CollectiveOptions options;
  options.ranks = ranks;
  options.in_place = in_place;
  const auto text = compose::generate_collective(options);
  REQUIRE(text.has_value());
  const auto imported = ir::import_msccl_text(*text, "generated.xml", {});
  REQUIRE(imported.has_value());
  for (const ir::MscclVariant& variant : imported->variants) {
    CAPTURE(variant.description);
    Inputs inputs;
    inputs.untyped = DType::i32;
    check_determinate(variant.program, inputs);
    const Machine before = machine(variant.program, inputs);
    Machine after = machine(variant.program, inputs);
    REQUIRE(after.run(Schedule::random(7)).ending == Ending::finished);
    check_sums(before, after);
  }
}

TEST_CASE("a ring all-reduce is determinate, and adds up every rank once") {
  for (const std::uint32_t ranks : {2U, 3U, 5U, 8U}) {
    for (const bool in_place : {false, true}) {
      CAPTURE(ranks);
      CAPTURE(in_place);
      check_ring(ranks, in_place);
    }
  }
}

TEST_CASE("a ring all-reduce whose step no longer waits goes wrong in some schedule") {
  compose::CollectiveOptions options;
  options.ranks = 4;
  options.fault = compose::Fault::drop_dependency;
  const auto text = compose::generate_collective(options);
  REQUIRE(text.has_value());
  const auto imported = ir::import_msccl_text(*text, "generated.xml", {});
  REQUIRE(imported.has_value());
  Inputs inputs;
  inputs.untyped = DType::i32;
  std::uint64_t wrong = 0;
  for (const ir::MscclVariant& variant : imported->variants) {
    Machine first = machine(variant.program, inputs);
    const bool finished = first.run().ending == Ending::finished;
    for (std::uint64_t seed = 0; seed < 3 * kSchedules; ++seed) {
      Machine other = machine(variant.program, inputs);
      if ((other.run(Schedule::random(seed)).ending == Ending::finished) != finished ||
          buffer_difference(first, other)) {
        ++wrong;
      }
    }
  }
  CHECK(wrong > 0);
}

TEST_CASE("a hundred thousand ops") {
  constexpr int kTiles = 20'000;
  Draft draft("long");
  draft.tensor("x", "external", 4 * kTiles).tensor("y", "undefined", 4 * kTiles);
  draft.fifo("a", 2, R"("tile": {"rows": 4, "cols": 4, "dtype": "f32"})").stage("s", "softmax");
  draft.engine("load", {fmt::format("repeat {}", kTiles), "reserve a", "run l x[4i:4i+4] > a",
                        "push a", "end"});
  draft.engine("compute", {fmt::format("repeat {}", kTiles), "front a", "run s a > y[4i:4i+4]",
                           "pop a", "end"});
  const ir::Program program = draft.program();
  Machine any = machine(program);
  const Outcome outcome = any.run();
  CHECK(outcome.ending == Ending::finished);
  CHECK(outcome.steps == 6 * kTiles);
  Machine random = machine(program);
  REQUIRE(random.run(Schedule::random(1)).ending == Ending::finished);
  CHECK_FALSE(difference(any, random).has_value());
}

}  // namespace
}  // namespace spatialcert::tests
