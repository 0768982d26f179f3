// Numbers that the encoder and the decoder share (docs/certificate.md).
#pragma once

#include <cstdint>
#include <string_view>

namespace spatialcert::proofs {

/// As in PNG: a byte above 127, so that it is no text; CR LF and LF, which a transfer as text
/// changes; and the character that ends a listing.
inline constexpr std::string_view kCertificateMagic{"\x89SCC\r\n\x1a\n", 8};
inline constexpr std::uint64_t kFormRaw = 0;
inline constexpr std::uint64_t kFormZstd = 1;
inline constexpr int kZstdLevel = 9;
inline constexpr std::uint64_t kSubjectProgram = 0;
inline constexpr std::uint64_t kSubjectClass = 1;

}  // namespace spatialcert::proofs
