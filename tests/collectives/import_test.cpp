// The importer and the token game agree with the player about the generated programs.
#include <doctest/doctest.h>

#include <string>
#include <variant>

#include "ir/import/msccl.hpp"
#include "ir/token_game.hpp"
#include "ir/unroll.hpp"
#include "tests/collectives/cases.hpp"
#include "tests/collectives/xml_player.hpp"

namespace spatialcert::test {
namespace {

using compose::Fault;

bool finishes(const ir::Program& program, std::optional<std::uint64_t> seed) {
  const auto unrolled = ir::unroll(program);
  REQUIRE(std::holds_alternative<ir::Unrolled>(unrolled));
  const ir::TokenGame game(program, std::get<ir::Unrolled>(unrolled));
  const auto played = ir::play_freely(game, seed);
  REQUIRE_FALSE(played.result.fault.has_value());
  return game.all_finished(played.result.state);
}

void check_imports_alive(const compose::CollectiveOptions& options) {
  CAPTURE(describe(options));
  const auto text = compose::generate_collective(options);
  REQUIRE(text.has_value());
  const auto imported = ir::import_msccl_text(*text, "generated.xml", {});
  if (!imported) {
    FAIL(imported.error().message());
  }
  CHECK(imported->summary.ranks == options.ranks);
  for (const auto& variant : imported->variants) {
    CHECK((variant.placement == ir::MscclPlacement::in_place) == options.in_place);
    CHECK(finishes(variant.program, std::nullopt));
    if (options.ranks <= 8) {
      CHECK(finishes(variant.program, 1));
      CHECK(finishes(variant.program, 2));
    }
  }
}

void check_fault(compose::CollectiveOptions options, Fault fault) {
  options.fault = fault;
  CAPTURE(describe(options));
  const auto text = compose::generate_collective(options);
  if (!text) {
    return;  // no place for it, which the tests of the faults look into
  }
  const auto imported = ir::import_msccl_text(*text, "generated.xml", {});
  const bool refused = fault == Fault::missing_receive || fault == Fault::count_mismatch ||
                       fault == Fault::out_of_range;
  REQUIRE(imported.has_value() != refused);
  if (refused) {
    return;
  }
  const auto program = parse_document(*text);
  for (const auto& variant : imported->variants) {
    const auto played = play_document(program, {variant.chunks_per_transfer, 1, false});
    CHECK(finishes(variant.program, std::nullopt) == played.finished);
  }
}

}  // namespace

TEST_CASE("generated programs are imported and live") {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 12U, 16U, 17U, 32U}) {
    for_each_case(ranks, [](const auto& options) { check_imports_alive(options); });
  }
}

TEST_CASE("faults are refused or get stuck where they should") {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 8U, 9U}) {
    for_each_case(ranks, [](const compose::CollectiveOptions& options) {
      for (const auto& pair : compose::supported_pairs()) {
        if (pair.algorithm == options.algorithm && pair.collective == options.collective) {
          for (const auto fault : pair.faults) {
            check_fault(options, fault);
          }
        }
      }
    });
  }
}

}  // namespace spatialcert::test
