// Every supported pair is right: at every tested rank count, in both placements, under every tested
// schedule and with a step as one transfer and as one transfer per chunk.
#include <doctest/doctest.h>

#include <string>

#include "tests/collectives/cases.hpp"
#include "tests/collectives/xml_player.hpp"

namespace spatialcert::test {
namespace {

void check_right(const compose::CollectiveOptions& options) {
  CAPTURE(describe(options));
  const auto text = compose::generate_collective(options);
  REQUIRE(text.has_value());
  const auto program = parse_document(*text);
  REQUIRE(program.ranks.size() == options.ranks);
  CHECK(program.in_place == options.in_place);
  CHECK(program.out_of_place != options.in_place);
  REQUIRE(shape_fault(program) == "");
  REQUIRE(limit_fault(program) == "");
  for (const std::uint32_t per_transfer : {1000U, 1U}) {
    const std::uint64_t seeds = options.ranks <= 17 ? 3 : 1;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const bool find_races = seed == 1 && options.ranks <= 17;
      const auto played = play_document(program, {per_transfer, seed, find_races});
      REQUIRE(played.finished);
      REQUIRE(played.right);
      REQUIRE_FALSE(played.race);
      REQUIRE((options.in_place || played.input_preserved));
    }
  }
}

}  // namespace

TEST_CASE("every supported pair computes its collective") {
  for (const auto ranks : tested_ranks()) {
    for_each_case(ranks, [](const auto& options) { check_right(options); });
  }
}

TEST_CASE("at most ranks the programs pair, stay in range and within the loaders' limits") {
  for_each_case(256, [](compose::CollectiveOptions options) {
    const auto per_node = options.ranks_per_node;
    const bool nodes = options.algorithm == compose::Algorithm::hierarchical;
    if (options.protocol != "Simple" || options.in_place ||
        (nodes && per_node != 2 && per_node != 128)) {
      return;
    }
    CAPTURE(describe(options));
    const auto text = compose::generate_collective(options);
    REQUIRE(text.has_value());
    const auto program = parse_document(*text);
    CHECK(shape_fault(program) == "");
    CHECK(limit_fault(program) == "");
  });
}

TEST_CASE("generation repeats exactly") {
  compose::CollectiveOptions options;
  CHECK(*compose::generate_collective(options) == *compose::generate_collective(options));
}

TEST_CASE("what is not supported is refused by name") {
  compose::CollectiveOptions options;
  const auto refusal = [&] {
    const auto result = compose::generate_collective(options);
    REQUIRE_FALSE(result.has_value());
    return result.error();
  };
  SUBCASE("pair") {
    options.algorithm = compose::Algorithm::tree;
    options.collective = compose::Collective::alltoall;
    CHECK(refusal().found == "tree alltoall");
    CHECK(refusal().expected.find("allpairs alltoall") != std::string::npos);
  }
  SUBCASE("rank counts") {
    for (const std::uint32_t ranks : {0U, 1U, 257U}) {
      options.ranks = ranks;
      CHECK(refusal().path == "ranks");
    }
  }
  SUBCASE("a power of two") {
    options.algorithm = compose::Algorithm::recursive_doubling;
    options.collective = compose::Collective::allgather;
    options.ranks = 12;
    CHECK(refusal().expected.find("a power of two") != std::string::npos);
    CHECK(refusal().found == "12");
  }
  SUBCASE("ranks per node") {
    options.algorithm = compose::Algorithm::hierarchical;
    for (const std::uint32_t per_node : {0U, 3U, 16U}) {
      options.ranks_per_node = per_node;
      CHECK(refusal().path == "ranks per node");
    }
  }
  SUBCASE("protocol") {
    options.protocol = "simple";
    CHECK(refusal().found == "simple");
  }
  SUBCASE("fault") {
    options.algorithm = compose::Algorithm::tree;
    options.fault = compose::Fault::send_first;
    CHECK(refusal().path == "fault");
    CHECK(refusal().found == "send-first");
  }
}

TEST_CASE("names round-trip and accept underscores") {
  for (const auto& pair : compose::supported_pairs()) {
    CHECK(compose::parse_algorithm(compose::to_string(pair.algorithm)) == pair.algorithm);
    CHECK(compose::parse_collective(compose::to_string(pair.collective)) == pair.collective);
    for (const auto fault : pair.faults) {
      CHECK(compose::parse_fault(compose::to_string(fault)) == fault);
    }
  }
  CHECK(compose::parse_collective("reduce_scatter") == compose::Collective::reduce_scatter);
  CHECK(compose::parse_algorithm("recursive_doubling") == compose::Algorithm::recursive_doubling);
  CHECK(compose::parse_fault("none") == compose::Fault::none);
  CHECK_FALSE(compose::parse_algorithm("star"));
  CHECK_FALSE(compose::parse_collective(""));
  CHECK_FALSE(compose::parse_fault("drop"));
}

}  // namespace spatialcert::test
