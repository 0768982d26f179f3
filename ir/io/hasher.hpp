// SHA-256 of bytes that come in pieces.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string_view>

#include "ir/digest.hpp"

namespace spatialcert::ir::io {

class Hasher {
 public:
  Hasher();
  void add(std::string_view piece);
  /// Once, at the end.
  [[nodiscard]] Digest finish();

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace spatialcert::ir::io
