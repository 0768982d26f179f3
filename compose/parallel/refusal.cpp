#include "compose/parallel/refusal.hpp"

#include <fmt/format.h>

#include <array>

namespace spatialcert::compose::parallel {

std::string_view to_string(RefusalReason reason) {
  constexpr std::array<std::string_view, kReasons> kNames{
      "chip-count",        "undeclared-tensor", "owner-clash",         "full-declared",
      "part-shape",        "part-type",         "not-one-section",     "malformed-section",
      "several-chips",     "not-stored",        "no-such-chip",        "foreign-tensor",
      "partials-mismatch", "spine-result",      "no-crossing-handoff", "sum-type",
      "not-buildable",     "mixed-owners",      "fused-fold",          "rewritten",
      "unknown-transfer",  "doubled-transfer",  "sends-unstored",      "receives-unloaded",
      "receives-own",      "missing-transfer",  "wrong-chip",          "circular-relay",
      "not-composable"};
  static_assert(kNames.size() == static_cast<std::size_t>(RefusalReason::not_composable) + 1);
  return kNames.at(static_cast<std::size_t>(reason));
}

std::string Refused::message() const {
  return fmt::format("{}: {}; {}", to_string(reason), what, remedy);
}

}  // namespace spatialcert::compose::parallel
