// Every fault shows, as what it is and as nothing else.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "tests/collectives/cases.hpp"
#include "tests/collectives/xml_player.hpp"

namespace spatialcert::test {
namespace {

using compose::Fault;

/// The program with the fault; nothing if this request has no place for it.
std::optional<XmlProgram> with_fault(compose::CollectiveOptions options, Fault fault) {
  options.fault = fault;
  const auto text = compose::generate_collective(options);
  if (!text) {
    REQUIRE(text.error().path == "fault");
    return std::nullopt;
  }
  return parse_document(*text);
}

Played whole(const XmlProgram& program) { return play_document(program, {1000, 1, true}); }
Played by_chunk(const XmlProgram& program) { return play_document(program, {1, 1, true}); }

void check_fault(Fault fault, const XmlProgram& program) {
  const auto shape = shape_fault(program);
  switch (fault) {
    case Fault::missing_receive:
    case Fault::count_mismatch:
      CHECK(shape == "messages do not pair");
      return;
    case Fault::out_of_range:
      CHECK(shape == "out of range");
      return;
    default:
      break;
  }
  REQUIRE(shape == "");
  const auto played = whole(program);
  const auto expanded = by_chunk(program);
  if (fault == Fault::dependency_cycle) {
    CHECK_FALSE(played.finished);
    CHECK_FALSE(expanded.finished);
    return;
  }
  REQUIRE(played.finished);
  CHECK(played.race == (fault == Fault::drop_dependency));
  if (fault == Fault::send_first) {
    CHECK(played.right);
    CHECK_FALSE(expanded.finished);
    return;
  }
  CHECK(expanded.finished);
  if (fault != Fault::drop_dependency) {
    CHECK_FALSE(played.right);
    CHECK_FALSE(expanded.right);
  }
}

/// Requests, of those with a listed fault, that have no place for it: docs/collectives.md states
/// these.
bool has_place(const compose::CollectiveOptions& options, Fault fault) {
  using compose::Algorithm;
  using compose::Collective;
  const auto collective = options.collective;
  const bool two = options.ranks == 2;
  if (fault == Fault::drop_dependency) {
    if (collective == Collective::alltoall) {
      return options.in_place;
    }
    if (collective == Collective::allgather) {
      return !options.in_place || (options.algorithm != Algorithm::allpairs && !two);
    }
    return collective == Collective::allreduce || !two;
  }
  if (fault == Fault::wrong_slot) {
    return collective != Collective::reduce_scatter || options.in_place || !two;
  }
  return true;
}

}  // namespace

TEST_CASE("every fault of every pair shows as what it is") {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 5U, 6U, 8U, 9U, 12U, 16U}) {
    for_each_case(ranks, [](const compose::CollectiveOptions& options) {
      for (const auto& pair : compose::supported_pairs()) {
        if (pair.algorithm != options.algorithm || pair.collective != options.collective) {
          continue;
        }
        for (const auto fault : pair.faults) {
          CAPTURE(describe(options));
          CAPTURE(to_string(fault));
          const auto program = with_fault(options, fault);
          CHECK(program.has_value() == has_place(options, fault));
          if (program) {
            check_fault(fault, *program);
          }
        }
      }
    });
  }
}

TEST_CASE("send-first stays alive up to the FIFO's depth at every rank count") {
  for (const std::uint32_t ranks : {64U, 256U}) {
    compose::CollectiveOptions options;
    options.algorithm = compose::Algorithm::recursive_doubling;
    options.ranks = ranks;
    const auto program = with_fault(options, Fault::send_first);
    REQUIRE(program.has_value());
    CHECK(play_document(*program, {1000, 1, false}).right);
    CHECK_FALSE(play_document(*program, {1, 1, false}).finished);
  }
}

TEST_CASE("a dropped dependency gives a wrong result under some schedule") {
  for (const auto collective : {compose::Collective::allreduce, compose::Collective::allgather}) {
    compose::CollectiveOptions options;
    options.collective = collective;
    options.ranks = 4;
    const auto program = with_fault(options, Fault::drop_dependency);
    REQUIRE(program.has_value());
    bool wrong = false;
    for (std::uint64_t seed = 1; seed <= 200 && !wrong; ++seed) {
      wrong = !play_document(*program, {1000, seed, false}).right;
    }
    CHECK(wrong);
  }
}

}  // namespace spatialcert::test
