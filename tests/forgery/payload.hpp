// The payload of a small certificate, taken apart and put together again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proofs/certificate/certificate.hpp"

namespace spatialcert::tests {

struct Obligation {
  std::uint64_t rule = 0, version = 0, subject = 0, in_class = 0;
  std::string witness;
};

struct Payload {
  std::string head;  ///< what stands before the number of obligations
  std::vector<Obligation> obligations;
};

[[nodiscard]] Payload taken_apart(const proofs::Certificate& certificate);
[[nodiscard]] std::string joined(const Payload& payload);

}  // namespace spatialcert::tests
