// What the decoder of certificates refuses, by its reason: one case per condition.
#include <doctest/doctest.h>

#include "ir/packing.hpp"
#include "tests/certificate/forge.hpp"

namespace spatialcert::proofs::test {
namespace {

using Reason = Unreadable::Reason;

std::string head(const std::string& producer, const std::string& justified = natural(0),
                 std::uint64_t classes = 0) {
  return natural(producer.size()) + producer + std::string(64, '\x11') + natural(classes) +
         natural(0) + justified;
}

Reason refused(const std::string& payload) { return refusal(forge(payload)); }

/// With one obligation of `rule`.
Reason refused_witness(Rule rule, const std::string& witness) {
  return refused(payload_head() + natural(1) +
                 obligation(static_cast<std::uint64_t>(rule), witness));
}

std::string start(std::uint64_t version, std::uint64_t form, std::uint64_t size) {
  return std::string("\x89SCC\r\n\x1a\n", 8) + natural(version) + natural(form) + natural(size);
}

std::string digest_of(const std::string& bytes) {
  const ir::Digest digest = ir::sha256(bytes);
  return {digest.begin(), digest.end()};
}

}  // namespace

TEST_CASE("decode: what stands around the payload") {
  const std::string payload = payload_head() + natural(0), good = forge(payload);
  static_cast<void>(decoded(good));
  CHECK(refusal("") == Reason::truncated);
  CHECK(refusal("no certificate, but long enough to be one: 0123456789") ==
        Reason::not_a_certificate);
  CHECK(refusal(std::string("\x89SCC\n\x1a\n", 7) + std::string(60, 'x')) == Reason::damaged);
  for (std::size_t size = 0; size < good.size(); ++size) {
    CHECK(refusal(good.substr(0, size)) == Reason::truncated);
  }
  CHECK(refusal(good + "x") == Reason::trailing_data);
  std::string damaged = good;
  damaged[40] ^= 1;
  CHECK(refusal(damaged) == Reason::damaged);
  const std::uint64_t size = payload.size();
  CHECK(refusal(seal(start(kCertificateVersion + 1, 0, size) + payload)) == Reason::other_version);
  CHECK(refusal(seal(start(kCertificateVersion, 2, size) + payload)) == Reason::unknown_form);
  CHECK(refusal(seal(start(kCertificateVersion, 0, size) + payload + "x")) ==
        Reason::trailing_data);
  CHECK(refusal(seal(start(kCertificateVersion, 0, size + 1) + payload)) == Reason::truncated);
  CHECK(refusal(good, size - 1) == Reason::too_large);
  static_cast<void>(std::get<Certificate>(decode(good, size)));
}

TEST_CASE("decode: compressed if and only if it is large, and one frame of the stated size") {
  const std::string small = payload_head() + natural(0);
  const auto zstd = [](const std::string& payload, const std::string& unpacked,
                       const std::string& digest) {
    const std::string frame = ir::pack(payload, 1);
    return seal(start(kCertificateVersion, 1, unpacked.size()) + digest + natural(frame.size()) +
                frame);
  };
  CHECK(refusal(zstd(small, small, digest_of(small))) == Reason::not_canonical);
  const std::string bytes = encode(large_certificate());
  static_cast<void>(decoded(bytes));
  const std::string large(5000, '\x7f'), larger(5001, '\x7f');
  CHECK(refusal(seal(start(kCertificateVersion, 0, large.size()) + large)) ==
        Reason::not_canonical);
  CHECK(refusal(zstd(large, larger, digest_of(large))) == Reason::damaged);
  CHECK(refusal(zstd(large, large, digest_of(larger))) == Reason::damaged);
}

TEST_CASE("decode: the head of the payload") {
  CHECK(refused(head(std::string(kMostProducerBytes + 1, 'a')) + natural(0)) ==
        Reason::malformed_producer);
  CHECK(refused(head("two\nlines") + natural(0)) == Reason::malformed_producer);
  CHECK(refused(head("\x7f") + natural(0)) == Reason::malformed_producer);
  CHECK(refused(head("\x1f") + natural(0)) == Reason::malformed_producer);
  static_cast<void>(decoded(forge(head(" ~") + natural(0))));
  CHECK(refused(payload_head() + natural(0) + "x") == Reason::trailing_data);
  CHECK(refused(payload_head() + natural(1'000'000)) == Reason::truncated);
}

TEST_CASE("decode: classes of sections") {
  const auto sections = [](std::uint64_t classes, const std::vector<std::uint64_t>& numbers) {
    std::string out =
        natural(1) + "a" + std::string(64, '\x11') + natural(classes) + natural(numbers.size());
    for (const std::uint64_t number : numbers) out += natural(number);
    return out;
  };
  const auto proof = [](std::uint64_t number, std::uint64_t subject) {
    const std::string witness = integer(1) + natural(40) + std::string(40, '\0');
    return natural(0) + natural(0) + natural(1) +
           obligation(0, witness, std::nullopt, subject, number);
  };
  const std::string two = proof(0, 1) + proof(1, 1) + natural(0);
  CHECK(decoded(forge(sections(2, {0, 1, 0}) + two)).classes[1].liveness->potential.size() == 40);
  CHECK(refused(sections(2, {1, 0}) + two) == Reason::malformed_classes);
  CHECK(refused(sections(2, {0, 0}) + two) == Reason::malformed_classes);
  CHECK(refused(sections(2, {0, 1, 2}) + two) == Reason::malformed_classes);
  CHECK(refused(sections(1, {}) + two) == Reason::malformed_classes);
  CHECK(refused(sections(2, {0, 1}) + proof(0, 1) + proof(0, 1)) == Reason::unknown_class);
  CHECK(refused(sections(2, {0, 1}) + proof(0, 1) + proof(1, 0)) == Reason::unknown_subject);
  CHECK(refused(sections(2, {0, 1}) + two + "x") == Reason::trailing_data);
  // Of the whole there is nothing but shard.
  const std::string head = sections(2, {0, 1}) + proof(0, 1) + proof(1, 1) + natural(1);
  const std::string shard = obligation(10, natural(0) + natural(1));
  CHECK(decoded(forge(head + shard)).shard->rounds == 1);
  CHECK(refused(head + obligation(1, "")) == Reason::malformed_classes);
  CHECK(refused(sections(2, {0, 1}) + proof(0, 1) + proof(1, 1) + natural(2) + obligation(1, "") +
                shard) == Reason::malformed_classes);
  // So many bytes are not there, whatever the proofs are.
  CHECK(refusal(forge(sections(2, {0, 1}) + std::string(23, '\0'))) == Reason::truncated);
}

TEST_CASE("decode: places") {
  const auto place = [](std::int64_t from, std::int64_t to, std::int64_t counter,
                        std::int64_t tokens) {
    return head("a",
                natural(1) + integer(from) + integer(to) + integer(counter) + integer(tokens)) +
           natural(0);
  };
  constexpr std::int64_t kBeyond = std::int64_t{1} << 32U;
  static_cast<void>(decoded(forge(place(1, 2, 3, 4))));
  CHECK(refused(place(-1, 2, 3, 4)) == Reason::malformed_place);
  CHECK(refused(place(kBeyond, 2, 3, 4)) == Reason::malformed_place);
  CHECK(refused(place(1, -2, 3, 4)) == Reason::malformed_place);
  CHECK(refused(place(1, 2, kBeyond, 4)) == Reason::malformed_place);
  CHECK(refused(place(1, 2, 3, 2 * kBeyond)) == Reason::malformed_place);
  CHECK(refused(place(1, 2, 3, -2 * kBeyond)) == Reason::malformed_place);
  CHECK(refused(head("a", natural(1'000'000))) == Reason::truncated);
}

TEST_CASE("decode: obligations") {
  const auto two = [](std::uint64_t first, std::uint64_t second) {
    return payload_head() + natural(2) + obligation(first, "") + obligation(second, "");
  };
  const auto one = [](const std::string& obligation) {
    return refused(payload_head() + natural(1) + obligation);
  };
  static_cast<void>(decoded(forge(two(1, 2))));
  CHECK(refused(two(2, 1)) == Reason::out_of_order);
  CHECK(refused(two(2, 2)) == Reason::duplicate_rule);
  CHECK(one(obligation(kRules, "")) == Reason::unknown_rule);
  CHECK(one(obligation(1, "", 2)) == Reason::other_rule_version);
  CHECK(one(obligation(1, "", 0)) == Reason::other_rule_version);
  CHECK(one(obligation(1, "", 1, 1)) == Reason::unknown_subject);
  CHECK(one(obligation(1, "", 1, 0, 1)) == Reason::unknown_class);
  for (const Rule rule : {Rule::bounds, Rule::quiescence, Rule::flow, Rule::reduction}) {
    CHECK(refused_witness(rule, "x") == Reason::malformed_witness);
  }
}

TEST_CASE("decode: witnesses") {
  const auto wrong = [](Rule rule, const std::string& witness) {
    return refused_witness(rule, witness) == Reason::malformed_witness;
  };
  CHECK(wrong(Rule::shard, natural(1)));
  CHECK(wrong(Rule::shard, natural(1) + natural(2) + natural(3)));
  CHECK(wrong(Rule::shard, natural(0) + natural(proofs::shard::kMostRounds + 1)));
  CHECK(wrong(Rule::shard, natural(proofs::shard::kMostRounds + 1) + natural(1)));
  CHECK(wrong(Rule::shard, natural(std::uint64_t{1} << 32U) + natural(1)));
  CHECK(wrong(Rule::liveness, ""));
  CHECK(wrong(Rule::liveness, integer(7) + natural(2) + integer(0)));
  CHECK(wrong(Rule::liveness, integer(7) + natural(1) + integer(0) + "x"));
  CHECK(wrong(Rule::liveness, integer(7) + natural(1'000'000'000)));
  CHECK(wrong(Rule::ordering, natural(1) + natural(2) + integer(0)));
  CHECK(wrong(Rule::ordering, natural(2) + natural(1) + natural(1) + integer(0)));
  CHECK(wrong(Rule::ordering, natural(1) + natural(1) + integer(-1)));
  CHECK(wrong(Rule::ordering, natural(1) + natural(~std::uint64_t{0})));
  CHECK(wrong(Rule::ordering, natural(2) + natural(1) + natural(~std::uint64_t{0}) + integer(0)));
  // Each path may be that long, all of them may not: memory for them would be asked for in vain.
  std::string paths = natural(1'000'000);
  for (int i = 0; i < 1'000'000; ++i) paths += natural(1'000'000);
  CHECK(wrong(Rule::ordering, paths + std::string(1'000'000, '\0')));
  CHECK(wrong(Rule::memory, natural(1) + natural(1) + integer(-1)));
  CHECK(wrong(Rule::memory, natural(3) + natural(0)));
  CHECK(wrong(Rule::coverage, natural(1) + natural(1) + natural(1)));
}

TEST_CASE("decode: the rounds of shard") {
  const std::string witness = natural(3) + natural(proofs::shard::kMostRounds);
  const auto again = decoded(forge(payload_head() + natural(1) +
                                   obligation(static_cast<std::uint64_t>(Rule::shard), witness)));
  REQUIRE(again.shard.has_value());
  CHECK(again.shard->first == 3);
  CHECK(again.shard->rounds == proofs::shard::kMostRounds);
}

TEST_CASE("decode: what was written is read") {
  for (const Certificate& c : {small_certificate(), large_certificate()}) {
    const Certificate again = decoded(encode(c));
    CHECK(again.justified.size() == c.justified.size());
    for (std::size_t i = 0; i < c.justified.size(); ++i) {
      CHECK(again.justified[i].from == c.justified[i].from);
      CHECK(again.justified[i].to == c.justified[i].to);
      CHECK(again.justified[i].counter == c.justified[i].counter);
      CHECK(again.justified[i].tokens == c.justified[i].tokens);
      CHECK(again.justified[i].credit == c.justified[i].credit);
    }
    CHECK(again.program == c.program);
    CHECK(again.target == c.target);
    CHECK(again.liveness->period == c.liveness->period);
    CHECK(again.liveness->potential == c.liveness->potential);
    CHECK(again.ordering->begin == c.ordering->begin);
    CHECK(again.ordering->places == c.ordering->places);
    CHECK(again.memory->order == c.memory->order);
    CHECK(again.coverage->loops == c.coverage->loops);
    CHECK(again.coverage->runs == c.coverage->runs);
  }
}

}  // namespace spatialcert::proofs::test
