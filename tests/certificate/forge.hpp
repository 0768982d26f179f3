// Certificates to try the decoder on, and what a forger would do to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proofs/certificate/certificate.hpp"

namespace spatialcert::proofs::test {

/// Small and complete: every part holds something.
[[nodiscard]] Certificate small_certificate();
/// Larger than kMostRawBytes, so that it is compressed.
[[nodiscard]] Certificate large_certificate();

// Bytes by hand.
[[nodiscard]] std::string natural(std::uint64_t value);
[[nodiscard]] std::string integer(std::int64_t value);
/// `bytes` with a right SHA-256 behind them.
[[nodiscard]] std::string seal(const std::string& bytes);
/// A certificate with this payload, in the right form.
[[nodiscard]] std::string forge(const std::string& payload);
/// The payload of a certificate that is not compressed.
[[nodiscard]] std::string payload_of(const std::string& raw);
/// A payload without its obligations and their count.
[[nodiscard]] std::string payload_head();
/// An obligation about the whole program, of the version that the rule has unless one is given.
[[nodiscard]] std::string obligation(std::uint64_t rule, const std::string& witness,
                                     std::optional<std::uint64_t> version = std::nullopt,
                                     std::uint64_t subject = 0, std::uint64_t in_class = 0);

/// The reason of a refusal; fails the test if it is none.
[[nodiscard]] Unreadable::Reason refusal(std::string_view bytes,
                                         std::uint64_t most = kMostPayloadBytes);
/// What was decoded; fails the test if it was refused.
[[nodiscard]] Certificate decoded(std::string_view bytes);

}  // namespace spatialcert::proofs::test
