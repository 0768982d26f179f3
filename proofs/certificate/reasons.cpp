#include <array>

#include "ir/require.hpp"
#include "proofs/certificate/certificate.hpp"

namespace spatialcert::proofs {

std::string_view to_string(Unreadable::Reason reason) {
  constexpr std::array<std::string_view, 19> kNames{
      "not a certificate", "other version",      "truncated",          "too large",
      "damaged",           "trailing data",      "not canonical",      "unknown form",
      "unknown rule",      "other rule version", "duplicate rule",     "out of order",
      "unknown class",     "unknown subject",    "malformed producer", "malformed classes",
      "malformed folding", "malformed place",    "malformed witness"};
  const auto index = static_cast<std::size_t>(reason);
  SPATIALCERT_REQUIRE(index < kNames.size(), "enumerator out of range");
  return kNames[index];
}

}  // namespace spatialcert::proofs
