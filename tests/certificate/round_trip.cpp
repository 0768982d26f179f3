// What is encoded is decoded again, and there is one way to write it.
#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "ir/require.hpp"
#include "tests/certificate/forge.hpp"

namespace spatialcert::proofs::test {
namespace {

void check_equal(const Certificate& a, const Certificate& b) {
  CHECK(a.producer == b.producer);
  CHECK(a.program == b.program);
  CHECK(a.target == b.target);
  REQUIRE(a.justified.size() == b.justified.size());
  for (std::size_t i = 0; i < a.justified.size(); ++i) {
    CHECK(a.justified[i].from == b.justified[i].from);
    CHECK(a.justified[i].to == b.justified[i].to);
    CHECK(a.justified[i].tokens == b.justified[i].tokens);
    CHECK(a.justified[i].counter == b.justified[i].counter);
    CHECK(a.justified[i].credit == b.justified[i].credit);
  }
  REQUIRE(a.liveness.has_value() == b.liveness.has_value());
  if (a.liveness) {
    CHECK(a.liveness->potential == b.liveness->potential);
    CHECK(a.liveness->period == b.liveness->period);
  }
  CHECK(a.bounds.has_value() == b.bounds.has_value());
  CHECK(a.quiescence.has_value() == b.quiescence.has_value());
  REQUIRE(a.ordering.has_value() == b.ordering.has_value());
  if (a.ordering) {
    CHECK(a.ordering->begin == b.ordering->begin);
    CHECK(a.ordering->places == b.ordering->places);
  }
  CHECK(a.flow.has_value() == b.flow.has_value());
  REQUIRE(a.memory.has_value() == b.memory.has_value());
  if (a.memory) CHECK(a.memory->order == b.memory->order);
  CHECK(a.reduction.has_value() == b.reduction.has_value());
  REQUIRE(a.coverage.has_value() == b.coverage.has_value());
  if (a.coverage) {
    CHECK(a.coverage->tests == b.coverage->tests);
    CHECK(a.coverage->supplies == b.coverage->supplies);
    CHECK(a.coverage->runs == b.coverage->runs);
    CHECK(a.coverage->loops == b.coverage->loops);
  }
  REQUIRE(a.shard.has_value() == b.shard.has_value());
  if (a.shard) {
    CHECK(a.shard->first == b.shard->first);
    CHECK(a.shard->rounds == b.shard->rounds);
  }
}

void check_round_trip(const Certificate& certificate) {
  const std::string bytes = encode(certificate);
  const Certificate again = decoded(bytes);
  check_equal(certificate, again);
  CHECK(encode(again) == bytes);
}

/// Numbers of every size, the extremes among them.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::uint64_t any() {
    const std::uint64_t bits = random_() >> below(64);
    return below(8) == 0 ? ~bits : bits;
  }
  std::uint32_t id() { return static_cast<std::uint32_t>(any()); }

 private:
  std::mt19937_64 random_;
};

Certificate random_certificate(std::uint64_t seed) {
  Numbers n(seed);
  Certificate c;
  c.producer.assign(n.below(kMostProducerBytes + 1), '~');
  for (std::uint8_t& byte : c.program) byte = static_cast<std::uint8_t>(n.any());
  for (std::uint8_t& byte : c.target) byte = static_cast<std::uint8_t>(n.any());
  for (std::uint64_t i = n.below(20); i > 0; --i) {
    c.justified.push_back({ir::TransitionId(n.id()), ir::TransitionId(n.id()),
                           static_cast<std::int32_t>(n.id()), ir::CounterId(n.id()),
                           n.below(2) == 0});
  }
  if (n.below(3) != 0) {
    c.liveness.emplace().period = static_cast<std::int64_t>(n.any());
    for (std::uint64_t i = n.below(2000); i > 0; --i) {
      c.liveness->potential.push_back(static_cast<std::int64_t>(n.any()));
    }
  }
  if (n.below(2) == 0) c.bounds.emplace();
  if (n.below(2) == 0) c.quiescence.emplace();
  if (n.below(3) != 0) {
    c.ordering.emplace().begin.push_back(0);
    for (std::uint64_t i = n.below(50); i > 0; --i) {
      for (std::uint64_t k = n.below(5); k > 0; --k) c.ordering->places.push_back(n.id());
      c.ordering->begin.push_back(static_cast<std::uint32_t>(c.ordering->places.size()));
    }
  }
  if (n.below(2) == 0) c.flow.emplace();
  if (n.below(3) != 0) {
    c.memory.emplace().order.resize(n.below(10));
    for (auto& buffers : c.memory->order) {
      for (std::uint64_t i = n.below(5); i > 0; --i) buffers.emplace_back(n.id());
    }
  }
  if (n.below(2) == 0) c.reduction.emplace();
  if (n.below(3) != 0) c.coverage = coverage::Witness{n.any(), n.any(), n.any(), n.any()};
  const auto rounds = [&] { return static_cast<std::uint32_t>(n.below(shard::kMostRounds + 1)); };
  if (n.below(3) != 0) c.shard = shard::Witness{rounds(), rounds()};
  return c;
}

}  // namespace

TEST_CASE("a certificate is read as it was written") {
  check_round_trip({});
  check_round_trip(small_certificate());
  check_round_trip(large_certificate());
}

TEST_CASE("random certificates, of every part and size of number") {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    check_round_trip(random_certificate(seed));
  }
}

TEST_CASE("the extremes of every number") {
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();
  constexpr std::uint32_t kId = std::numeric_limits<std::uint32_t>::max();
  Certificate c = small_certificate();
  c.liveness = liveness::Witness{{kHigh, kLow, kHigh, 0, kLow, kLow}, kLow};
  c.ordering = ordering::Witness{{0, 4}, {kId, 0, kId, kId}};
  for (const bool credit : {false, true}) {
    for (const std::int32_t tokens : {std::numeric_limits<std::int32_t>::min(), -1, 0, 1,
                                      std::numeric_limits<std::int32_t>::max()}) {
      c.justified.push_back(
          {ir::TransitionId(kId), ir::TransitionId(0U), tokens, ir::CounterId(kId), credit});
    }
  }
  check_round_trip(c);
}

TEST_CASE("the two forms meet at the threshold") {
  Certificate c;
  c.liveness.emplace();
  const auto payload_bytes = [&] { return payload_of(encode(c)).size(); };
  c.liveness->potential.assign(kMostRawBytes - 200, 0);
  while (payload_bytes() < kMostRawBytes) c.liveness->potential.push_back(0);
  CHECK(payload_bytes() == kMostRawBytes);
  CHECK(encode(c)[9] == 0);
  check_round_trip(c);
  c.liveness->potential.push_back(0);
  CHECK(encode(c)[9] == 1);
  check_round_trip(c);
}

TEST_CASE("what no decoder would accept is not written") {
  Certificate c;
  c.producer = "two\nlines";
  CHECK_THROWS_AS(static_cast<void>(encode(c)), ir::InternalFault);
  c.producer.assign(kMostProducerBytes + 1, 'a');
  CHECK_THROWS_AS(static_cast<void>(encode(c)), ir::InternalFault);
  c.producer.clear();
  c.ordering = ordering::Witness{{0, 2}, {1}};
  CHECK_THROWS_AS(static_cast<void>(encode(c)), ir::InternalFault);
  c.ordering = ordering::Witness{{}, {}};
  CHECK_THROWS_AS(static_cast<void>(encode(c)), ir::InternalFault);
}

}  // namespace spatialcert::proofs::test
