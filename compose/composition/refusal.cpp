#include "compose/composition/refusal.hpp"

#include <fmt/format.h>

#include <array>

namespace spatialcert::compose {

std::string_view to_string(RefusalReason reason) {
  constexpr std::array<std::string_view, 37> kNames{
      "no-sections",        "not-one-section",    "malformed-section",
      "section-has-seam",   "no-stages",          "no-ops",
      "faulty-section",     "duplicate-section",  "name-clash",
      "tensor-shape",       "tensor-dtype",       "tensor-owner",
      "tensor-values",      "sliced-tensor",      "tensor-view",
      "tensor-role",        "init-clash",         "init-lost",
      "buffer-clash",       "unknown-tensor",     "unknown-carried",
      "lost-postcondition", "execution-mismatch", "target-mismatch",
      "site-outside-mesh",  "unknown-engine",     "bad-placement",
      "does-not-fit",       "bad-barriers",       "semaphores-exhausted",
      "arrival-maximum",    "release-maximum",    "no-crossing-handoff",
      "memory-exhausted",   "bad-parallelism",    "malformed-program",
      "too-large"};
  static_assert(kNames.size() == static_cast<std::size_t>(RefusalReason::too_large) + 1);
  return kNames.at(static_cast<std::size_t>(reason));
}

std::string Refused::message() const {
  return fmt::format("{}: {}; {}", to_string(reason), what, remedy);
}

}  // namespace spatialcert::compose
