// One refusal per reason, and every way to it. What is refused here has a right SHA-256 unless
// damage is the point.
#include <doctest/doctest.h>

#include <limits>

#include "ir/packing.hpp"
#include "tests/certificate/forge.hpp"

namespace spatialcert::proofs::test {
namespace {

using Reason = Unreadable::Reason;

const std::string kMagic{"\x89SCC\r\n\x1a\n", 8};

std::string text_of(const ir::Digest& digest) { return {digest.begin(), digest.end()}; }

/// A payload with these obligations.
std::string with(const std::string& obligations, std::uint64_t count = 1) {
  return forge(payload_head() + natural(count) + obligations);
}

/// A payload with these justified places, and nothing proved.
std::string with_places(const std::string& places) {
  return forge(natural(4) + "test" + std::string(64, '\x11') + natural(0) + natural(0) + places +
               natural(0));
}

/// A compressed certificate, by its parts.
std::string compressed(std::uint64_t size, const ir::Digest& digest, const std::string& frame) {
  return seal(kMagic + natural(kCertificateVersion) + natural(1) + natural(size) + text_of(digest) +
              natural(frame.size()) + frame);
}

std::string large_payload() {
  const std::string zeros(10'000, '\0');
  return payload_head() + natural(1) + obligation(0, integer(1) + natural(zeros.size()) + zeros);
}

std::string with_number(const std::string& number) {
  return with(obligation(0, number + natural(0)));  // the period of liveness
}

}  // namespace

TEST_CASE("not a certificate") {
  CHECK(refusal("{\"format\": \"spatialcert-program\"}") == Reason::not_a_certificate);
  CHECK(refusal("\x89PNG\r\n\x1a\n") == Reason::not_a_certificate);
  CHECK(refusal(std::string(100, '\0')) == Reason::not_a_certificate);
}

TEST_CASE("another version of the format") {
  CHECK(refusal(seal(kMagic + natural(kCertificateVersion + 1) + "whatever")) ==
        Reason::other_version);
  CHECK(refusal(seal(kMagic + natural(0) + natural(0) + natural(0))) == Reason::other_version);
  CHECK(refusal(seal(kMagic + natural(~std::uint64_t{0}))) == Reason::other_version);
}

TEST_CASE("truncated inside, by a forger") {
  CHECK(refusal(seal(kMagic)) == Reason::truncated);
  CHECK(refusal(seal(kMagic + natural(kCertificateVersion) + natural(0) + natural(100) +
                     "short")) == Reason::truncated);
  CHECK(refusal(forge("")) == Reason::truncated);
  CHECK(refusal(forge(natural(200) + "short")) == Reason::truncated);
  CHECK(refusal(with("", 1)) == Reason::truncated);
  CHECK(refusal(with("", ~std::uint64_t{0})) == Reason::truncated);
  CHECK(refusal(with(natural(0) + natural(1) + natural(0) + natural(0) + natural(9) + "123")) ==
        Reason::truncated);
  CHECK(refusal(with_places(natural(1'000'000))) == Reason::truncated);
}

TEST_CASE("too large: what is stated is looked at first, and a bomb is not unpacked") {
  const std::string bomb = ir::pack(std::string(kMostRawBytes + 1, '\0'), 1);
  CHECK(refusal(compressed(kMostPayloadBytes + 1, {}, bomb)) == Reason::too_large);
  CHECK(refusal(compressed(~std::uint64_t{0}, {}, bomb)) == Reason::too_large);
  const std::string good = encode(large_certificate());
  CHECK(refusal(good, 5000) == Reason::too_large);
  CHECK(refusal(encode(small_certificate()), 10) == Reason::too_large);
}

TEST_CASE("a frame holds more, or less, than is stated") {
  const std::string payload = large_payload();
  const ir::Digest digest = ir::sha256(payload);
  const std::string frame = ir::pack(payload, 9);
  CHECK(decoded(compressed(payload.size(), digest, frame)).liveness.has_value());
  CHECK(refusal(compressed(payload.size() - 1, digest, frame)) == Reason::damaged);
  CHECK(refusal(compressed(payload.size() + 1, digest, frame)) == Reason::damaged);
  CHECK(refusal(compressed(kMostPayloadBytes, digest, frame)) == Reason::damaged);
  // 256 MiB of zeros that say they are little: the frame's own size, too, is made to lie.
  std::string bomb = ir::pack(std::string(std::size_t{1} << 28U, '\0'), 1);
  CHECK(bomb.size() < 20'000);
  CHECK(refusal(compressed(payload.size(), digest, bomb)) == Reason::damaged);
  const std::size_t descriptor = 4;
  // A size of 4 bytes, after one byte for the window.
  REQUIRE((static_cast<unsigned char>(bomb[descriptor]) & 0xe0U) == 0x80U);
  for (int i = 0; i < 4; ++i) {
    bomb[descriptor + 2 + static_cast<std::size_t>(i)] =
        static_cast<char>(payload.size() >> (8U * static_cast<unsigned>(i)));
  }
  CHECK(refusal(compressed(payload.size(), digest, bomb)) == Reason::damaged);
}

TEST_CASE("damaged frames, and frames that are not the only one") {
  const std::string payload = large_payload();
  const ir::Digest digest = ir::sha256(payload);
  const std::string frame = ir::pack(payload, 9);
  const std::size_t size = payload.size();
  CHECK(refusal(compressed(size, ir::sha256("other"), frame)) == Reason::damaged);
  CHECK(refusal(compressed(size, digest, frame + frame)) == Reason::damaged);
  CHECK(refusal(compressed(size, digest, frame + '\0')) == Reason::damaged);
  CHECK(refusal(compressed(size, digest, "")) == Reason::damaged);
  const std::string skippable{"\x50\x2a\x4d\x18\x01\0\0\0x", 9};
  CHECK(refusal(compressed(size, digest, skippable + frame)) == Reason::damaged);
  CHECK(refusal(compressed(size, digest, frame + skippable)) == Reason::damaged);
  for (std::size_t i = 0; i < frame.size(); ++i) {
    std::string changed = frame;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    // Where a bit of the frame means nothing, the payload is what it was.
    const auto result = decode(compressed(size, digest, changed));
    if (const auto* unreadable = std::get_if<Unreadable>(&result)) {
      CHECK(unreadable->reason == Reason::damaged);
    } else {
      CHECK(encode(std::get<Certificate>(result)) == compressed(size, digest, frame));
    }
    CHECK(refusal(compressed(size, digest, frame.substr(0, i))) == Reason::damaged);
  }
}

TEST_CASE("trailing data, sealed or not") {
  const std::string good = encode(small_certificate());
  CHECK(refusal(good + '\0') == Reason::trailing_data);
  CHECK(refusal(good + good) == Reason::trailing_data);
  CHECK(refusal(seal(good.substr(0, good.size() - 32) + 'x')) == Reason::trailing_data);
  const std::string large = encode(large_certificate());
  CHECK(refusal(large + "\n") == Reason::trailing_data);
  CHECK(refusal(seal(large.substr(0, large.size() - 32) + 'x')) == Reason::trailing_data);
  CHECK(refusal(forge(payload_head() + natural(0) + '\0')) == Reason::trailing_data);
}

TEST_CASE("not canonical: numbers") {
  CHECK(decoded(with_number("\x7f")).liveness->period == -64);
  CHECK(refusal(with_number(std::string("\xff\0", 2))) == Reason::not_canonical);
  CHECK(refusal(with_number(std::string("\x80\0", 2))) == Reason::not_canonical);
  CHECK(refusal(with_number(std::string("\x80\x80\x80\0", 4))) == Reason::not_canonical);
  // Ten bytes have room for one bit in the last.
  const std::string nine(9, '\xff');
  CHECK(decoded(with_number(nine + '\1')).liveness->period ==
        std::numeric_limits<std::int64_t>::min());
  CHECK(refusal(with_number(nine + '\2')) == Reason::not_canonical);
  CHECK(refusal(with_number(nine + '\x81' + '\0')) == Reason::not_canonical);
  CHECK(refusal(with_number(nine + '\0')) == Reason::not_canonical);
  CHECK(refusal(seal(kMagic + std::string("\x81\0", 2))) == Reason::not_canonical);
}

TEST_CASE("not canonical: the form does not follow from the size") {
  const std::string payload = payload_head() + natural(0);
  CHECK(refusal(compressed(payload.size(), ir::sha256(payload), ir::pack(payload, 9))) ==
        Reason::not_canonical);
  const std::string large = large_payload();
  CHECK(refusal(seal(kMagic + natural(kCertificateVersion) + natural(0) + natural(large.size()) +
                     large)) == Reason::not_canonical);
}

TEST_CASE("unknown form") {
  const std::string payload = payload_head() + natural(0);
  CHECK(refusal(seal(kMagic + natural(kCertificateVersion) + natural(2) + natural(payload.size()) +
                     payload)) == Reason::unknown_form);
}

TEST_CASE("obligations that are not the ones of this version") {
  CHECK(decoded(with(obligation(1, ""))).bounds.has_value());
  CHECK(refusal(with(obligation(proofs::kRules, ""))) == Reason::unknown_rule);
  CHECK(refusal(with(obligation(~std::uint64_t{0}, ""))) == Reason::unknown_rule);
  CHECK(refusal(with(obligation(256, ""))) == Reason::unknown_rule);
  for (std::uint64_t rule = 0; rule < all_rules().size(); ++rule) {
    const std::uint64_t version = rule_version(static_cast<Rule>(rule));
    CHECK(refusal(with(obligation(rule, "", version - 1))) == Reason::other_rule_version);
    CHECK(refusal(with(obligation(rule, "", version + 1))) == Reason::other_rule_version);
    CHECK(refusal(with(obligation(rule, "", version, 1))) == Reason::unknown_subject);
    CHECK(refusal(with(obligation(rule, "", version, 0, 1))) == Reason::unknown_class);
  }
  CHECK(refusal(with(obligation(1, "", (std::uint64_t{1} << 32U) + 1))) ==
        Reason::other_rule_version);
}

TEST_CASE("obligations that do not ascend") {
  CHECK(refusal(with(obligation(1, "") + obligation(1, ""), 2)) == Reason::duplicate_rule);
  CHECK(refusal(with(obligation(2, "") + obligation(1, ""), 2)) == Reason::out_of_order);
  CHECK(refusal(with(obligation(2, "") + obligation(4, "") + obligation(2, ""), 3)) ==
        Reason::out_of_order);
  CHECK(decoded(with(obligation(1, "") + obligation(2, "") + obligation(6, natural(0)), 3))
            .reduction.has_value());
}

TEST_CASE("types of contents that recur after some rounds") {
  const auto types = [](const std::string& witness) { return with(obligation(6, witness), 1); };
  const auto good = decoded(types(natural(1) + natural(2) + natural(60))).reduction;
  REQUIRE((good && good->typing));
  CHECK(good->typing->first == 2);
  CHECK(good->typing->rounds == 60);
  CHECK_FALSE(decoded(types(natural(0))).reduction->typing.has_value());
  for (const std::string& bad : {natural(2), natural(2) + natural(0) + natural(1), natural(1),
                                 natural(1) + natural(0), natural(1) + natural(0) + natural(61),
                                 natural(1) + natural(61) + natural(1), natural(0) + natural(0)}) {
    CHECK(refusal(types(bad)) == Reason::malformed_witness);
  }
}

/// A payload with these classes of sections.
std::string with_classes(std::uint64_t classes, const std::vector<std::uint64_t>& of_sections,
                         const std::string& proofs) {
  std::string payload = natural(4) + "test" + std::string(64, '\x11') + natural(classes) +
                        natural(of_sections.size());
  for (const std::uint64_t number : of_sections) payload += natural(number);
  return forge(payload + proofs + natural(0));
}

/// A proof of one class, with six rules, of which only liveness has something to say.
std::string proof_of_class(std::uint64_t number, std::uint64_t subject = 1) {
  std::string all = natural(0) + natural(0) + natural(6);
  const std::string zeros = integer(1) + natural(20) + std::string(20, '\0');
  for (const std::uint64_t rule : {0, 1, 2, 4, 6, 9})
    all += obligation(rule,
                      rule == 0   ? zeros
                      : rule == 6 ? natural(0)
                                  : "",
                      std::nullopt, subject, number);
  return all;
}

TEST_CASE("classes of sections, each with a proof of its own") {
  const Certificate good =
      decoded(with_classes(2, {0, 0, 1, 0}, proof_of_class(0) + proof_of_class(1)));
  CHECK(good.class_of == std::vector<std::uint32_t>{0, 0, 1, 0});
  REQUIRE(good.classes.size() == 2);
  CHECK(good.classes[1].liveness->potential.size() == 20);
  CHECK_FALSE(good.liveness.has_value());
  CHECK(decoded(encode(good)).class_of == good.class_of);
}

TEST_CASE("malformed classes") {
  const std::string two = proof_of_class(0) + proof_of_class(1);
  for (const auto& numbers : std::vector<std::vector<std::uint64_t>>{
           {1, 0}, {0, 2, 1}, {0, 0}, {}, {0, 1, 2}, {0, 1, std::uint64_t{1} << 32U}}) {
    CHECK(refusal(with_classes(2, numbers, two)) == Reason::malformed_classes);
  }
  CHECK(refusal(with_classes(1, {0, 1}, two)) == Reason::malformed_classes);
  CHECK(refusal(with_classes(2, {0, 1}, proof_of_class(0) + proof_of_class(0))) ==
        Reason::unknown_class);
  CHECK(refusal(with_classes(2, {0, 1}, proof_of_class(0) + proof_of_class(1, 0))) ==
        Reason::unknown_subject);
  CHECK(refusal(with_classes(2, {0, 1}, proof_of_class(0))) == Reason::truncated);
  CHECK(refusal(with_classes(1, {0}, two)) == Reason::trailing_data);
}

TEST_CASE("no room is made for classes that have no bytes") {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < 100; ++i) all.push_back(i);
  CHECK(refusal(with_classes(100, all, std::string(99 * 12, '\0'))) == Reason::truncated);
}

TEST_CASE("malformed producer") {
  const std::string rest =
      std::string(64, '\x11') + natural(0) + natural(0) + natural(0) + natural(0);
  CHECK(decoded(forge(natural(0) + rest)).producer.empty());
  CHECK(refusal(forge(natural(2) + "a\n" + rest)) == Reason::malformed_producer);
  CHECK(refusal(forge(natural(2) + "\x1b[" + rest)) == Reason::malformed_producer);
  CHECK(refusal(forge(natural(2) + "\xc3\xa4" + rest)) == Reason::malformed_producer);
  CHECK(refusal(forge(natural(256) + std::string(256, 'a') + rest)) == Reason::malformed_producer);
}

TEST_CASE("malformed place") {
  constexpr std::int64_t kId = std::numeric_limits<std::uint32_t>::max();
  const auto place = [](std::int64_t from, std::int64_t to, std::int64_t counter,
                        std::int64_t tokens) {
    return with_places(natural(1) + integer(from) + integer(to) + integer(counter) +
                       integer(tokens));
  };
  CHECK(decoded(place(kId, kId, kId, 5)).justified[0].tokens == 2);
  CHECK(refusal(place(-1, 0, 0, 0)) == Reason::malformed_place);
  CHECK(refusal(place(0, kId + 1, 0, 0)) == Reason::malformed_place);
  CHECK(refusal(place(0, 0, -1, 0)) == Reason::malformed_place);
  for (const std::int64_t tokens :
       {std::int64_t{1} << 32U, -(std::int64_t{1} << 32U) - 2,
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    CHECK(refusal(place(0, 0, 0, tokens)) == Reason::malformed_place);
  }
}

TEST_CASE("malformed witness") {
  const auto wrong = [](std::uint64_t rule, const std::string& witness) {
    return refusal(with(obligation(rule, witness))) == Reason::malformed_witness;
  };
  const std::uint64_t most = ~std::uint64_t{0};
  for (const std::uint64_t empty : {1, 2, 4, 6}) CHECK(wrong(empty, "x"));
  // Liveness: the witness ends too early, holds more, or has no bytes for its elements.
  CHECK(wrong(0, ""));
  CHECK(wrong(0, integer(1)));
  CHECK(wrong(0, integer(1) + natural(2) + integer(0)));
  CHECK(wrong(0, integer(1) + natural(most)));
  CHECK(wrong(0, integer(1) + natural(0) + "x"));
  CHECK(wrong(0, "\x80"));
  // Ordering.
  CHECK(wrong(3, ""));
  CHECK(wrong(3, natural(most)));
  CHECK(wrong(3, natural(1) + natural(2) + integer(0)));
  CHECK(wrong(3, natural(2) + natural(1) + natural(most) + integer(0)));
  CHECK(wrong(3, natural(2) + natural(most) + natural(2) + integer(0)));
  CHECK(wrong(3, natural(1) + natural(1) + integer(-1)));
  CHECK(wrong(3, natural(1) + natural(1) + integer(std::int64_t{1} << 32U)));
  CHECK(wrong(3, natural(1) + natural(0) + "x"));
  // Memory.
  CHECK(wrong(5, natural(most)));
  CHECK(wrong(5, natural(1) + natural(5) + integer(0)));
  CHECK(wrong(5, natural(1) + natural(1) + integer(-1)));
  CHECK(wrong(5, natural(0) + "x"));
  // Coverage.
  CHECK(wrong(7, natural(1) + natural(1) + natural(1)));
  CHECK(wrong(7, natural(1) + natural(1) + natural(1) + natural(1) + natural(1)));
}

TEST_CASE("malformed folding") {
  const auto refused = [](const std::string& folding) {
    return refusal(forge(natural(4) + "test" + std::string(64, '\x11') + natural(0) + folding +
                         natural(0) + natural(0))) == Reason::malformed_folding;
  };
  const auto group = [](std::uint64_t removed, std::int64_t program, std::int64_t op,
                        std::uint64_t turns, std::uint64_t skip) {
    return natural(1) + natural(removed) + natural(1) + integer(program) + integer(op) +
           natural(turns) + natural(skip);
  };
  constexpr std::uint64_t kMost = std::uint64_t{1} << 63U;
  constexpr std::int64_t kBeyond = std::int64_t{1} << 32U;
  const Certificate good =
      decoded(forge(natural(4) + "test" + std::string(64, '\x11') + natural(0) +
                    group(kMost - 1, 2, 3, kMost - 1, kMost - 1) + natural(0) + natural(0)));
  REQUIRE(good.folding.size() == 1);
  CHECK(good.folding[0].removed == std::numeric_limits<std::int64_t>::max());
  CHECK(good.folding[0].loops[0].program == 2);
  CHECK(good.folding[0].loops[0].op == 3);
  CHECK(refused(group(kMost, 2, 3, 4, 5)));
  CHECK(refused(group(1, -1, 3, 4, 5)));
  CHECK(refused(group(1, kBeyond, 3, 4, 5)));
  CHECK(refused(group(1, 2, -1, 4, 5)));
  CHECK(refused(group(1, 2, kBeyond, 4, 5)));
  CHECK(refused(group(1, 2, 3, kMost, 5)));
  CHECK(refused(group(1, 2, 3, 4, kMost)));
}

TEST_CASE("nothing is allocated for elements that have no bytes") {
  const auto detail = [](const std::string& bytes) {
    const auto result = decode(bytes);
    const auto* unreadable = std::get_if<Unreadable>(&result);
    return unreadable == nullptr ? "" : unreadable->detail;
  };
  // Four bytes a place, and one for the number of obligations, which could belong to a place.
  CHECK(detail(with_places(natural(2) + std::string(6, '\0'))) == "2 elements in 7 bytes");
  CHECK(detail(with_places(natural(2) + std::string(7, '\0'))) == "it ends too early");
  const auto with_folding = [](const std::string& folding) {
    return forge(natural(4) + "test" + std::string(64, '\x11') + natural(0) + folding);
  };
  CHECK(detail(with_folding(natural(2) + "123")) == "2 elements in 3 bytes");
  CHECK(detail(with_folding(natural(1) + natural(5) + natural(2) + "1234567")) ==
        "2 elements in 7 bytes");
  CHECK(detail(with(obligation(0, integer(1) + natural(3) + "12"))) == "3 elements in 2 bytes");
  CHECK(detail(with(obligation(3, natural(3) + "12"))) == "3 elements in 2 bytes");
  CHECK(detail(with(obligation(5, natural(3) + "12"))) == "3 elements in 2 bytes");
  CHECK(detail(with(std::string(9, '\0'), 2)) == "2 elements in 9 bytes");
  // Paths whose places have enough bytes one by one, but not together.
  CHECK(detail(with(obligation(3, natural(2) + natural(2) + natural(2) + "123"))) ==
        "paths of more places than there are bytes");
}

TEST_CASE("every reason has a name of its own") {
  std::string all;
  for (int i = 0; i <= static_cast<int>(Reason::malformed_witness); ++i) {
    const std::string name(to_string(static_cast<Reason>(i)));
    CHECK_FALSE(name.empty());
    CHECK(all.find('|' + name + '|') == std::string::npos);
    all += '|' + name + '|';
  }
}

}  // namespace spatialcert::proofs::test
