// Whatever happens to the bytes, the decoder says what is wrong with them, or reads what they say.
#include <doctest/doctest.h>

#include <random>

#include "tests/certificate/forge.hpp"

namespace spatialcert::proofs::test {
namespace {

using Reason = Unreadable::Reason;

/// Refused, or canonical: decoding and encoding gives the same bytes.
void check_decoder(const std::string& bytes) {
  const auto result = decode(bytes);
  if (const auto* certificate = std::get_if<Certificate>(&result)) {
    CHECK(encode(*certificate) == bytes);
  } else {
    CHECK_FALSE(std::get<Unreadable>(result).detail.empty());
  }
}

}  // namespace

TEST_CASE("a certificate that ends too early is truncated, wherever it ends") {
  for (const std::string& good : {encode(small_certificate()), encode(large_certificate())}) {
    for (std::size_t size = 0; size < good.size(); ++size) {
      CAPTURE(size);
      CHECK(refusal(good.substr(0, size)) == Reason::truncated);
    }
  }
}

TEST_CASE("every change of a byte is refused") {
  const std::string good = encode(small_certificate());
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (unsigned flip = 1; flip < 256; ++flip) {
      std::string changed = good;
      changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ flip);
      CAPTURE(i);
      CAPTURE(flip);
      const Reason reason = refusal(changed);
      if (i < 8) {
        CHECK((reason == Reason::not_a_certificate || reason == Reason::damaged));
      } else if (i > 12) {
        CHECK(reason == Reason::damaged);  // before that, the size may be another
      }
    }
  }
}

TEST_CASE("line ends that were translated are recognised") {
  const std::string good = encode(small_certificate());
  std::string unix_ends;
  std::string dos_ends;
  std::string seven_bits = good;
  for (std::size_t i = 0; i < good.size(); ++i) {
    if (good.compare(i, 2, "\r\n") != 0) unix_ends += good[i];
    dos_ends += good[i] == '\n' ? "\r\n" : std::string(1, good[i]);
    seven_bits[i] = static_cast<char>(good[i] & 0x7f);
  }
  CHECK(refusal(unix_ends) == Reason::damaged);
  CHECK(refusal(dos_ends) == Reason::damaged);
  CHECK(refusal(seven_bits) == Reason::not_a_certificate);
}

TEST_CASE("every change of a byte by a forger is refused or means something else") {
  const std::string good = encode(small_certificate());
  const std::string covered = good.substr(0, good.size() - 32);
  std::size_t read = 0;
  for (std::size_t i = 0; i < covered.size(); ++i) {
    for (unsigned flip = 1; flip < 256; ++flip) {
      std::string changed = covered;
      changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ flip);
      const std::string bytes = seal(changed);
      CAPTURE(i);
      CAPTURE(flip);
      check_decoder(bytes);
      read += std::holds_alternative<Certificate>(decode(bytes)) ? 1 : 0;
    }
  }
  CHECK(read > 0);  // digests, for example: they are compared by others
}

TEST_CASE("a forger's truncations, insertions and cuts of the payload") {
  const std::string payload = payload_of(encode(small_certificate()));
  for (std::size_t i = 0; i < payload.size(); ++i) {
    CAPTURE(i);
    CHECK(std::holds_alternative<Unreadable>(decode(forge(payload.substr(0, i)))));
    check_decoder(forge(payload.substr(0, i) + payload.substr(i + 1)));
    for (const char byte : {'\0', '\1', '\x7f', '\x80', '\xff'}) {
      check_decoder(forge(payload.substr(0, i) + byte + payload.substr(i)));
    }
  }
}

TEST_CASE("random payloads with a likely beginning") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 100'000; ++round) {
    std::string payload = payload_head() + natural(1 + random() % 3);
    for (std::uint64_t i = random() % 40; i > 0; --i) {
      const std::uint64_t byte = random() % 4 == 0 ? random() % 256 : random() % 8;
      payload += static_cast<char>(byte);
    }
    check_decoder(forge(payload));
  }
}

}  // namespace spatialcert::proofs::test
