#include "ir/io/hasher.hpp"

#include "ir/require.hpp"

namespace spatialcert::ir {
namespace io {

Hasher::Hasher() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
  SPATIALCERT_REQUIRE(
      context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1,
      "SHA-256 of OpenSSL failed");
}

void Hasher::add(std::string_view piece) {
  SPATIALCERT_REQUIRE(EVP_DigestUpdate(context_.get(), piece.data(), piece.size()) == 1,
                      "SHA-256 of OpenSSL failed");
}

Digest Hasher::finish() {
  Digest result{};
  unsigned length = 0;
  SPATIALCERT_REQUIRE(
      EVP_DigestFinal_ex(context_.get(), result.data(), &length) == 1 && length == result.size(),
      "SHA-256 of OpenSSL failed");
  return result;
}

}  // namespace io

Digest sha256(std::string_view bytes) {
  io::Hasher hasher;
  hasher.add(bytes);
  return hasher.finish();
}

std::string to_hex(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

}  // namespace spatialcert::ir
