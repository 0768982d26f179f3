// The certificate: what was proved of a program, and the witnesses that show it, as bytes.
//
// Format, byte for byte: docs/certificate.md. Canonical: one content has one payload, and `decode`
// accepts no other.
//
// `decode` is trusted. It takes bytes from anybody: it never crashes, it refuses with a reason, and
// it allocates nothing that the bytes still to be read could not fill. It knows no program, so what
// it returns is well-formed and not yet true of anything: whoever uses a certificate compares the
// digests, justifies the places anew and checks every witness against the subject. The digest at a
// certificate's end reveals damage. It is no signature: a forger can compute it too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/digest.hpp"
#include "ir/folding.hpp"
#include "ir/net.hpp"
#include "proofs/boundary/rule.hpp"
#include "proofs/bounds/rule.hpp"
#include "proofs/coverage/rule.hpp"
#include "proofs/flow/rule.hpp"
#include "proofs/isolation/rule.hpp"
#include "proofs/liveness/rule.hpp"
#include "proofs/memory/rule.hpp"
#include "proofs/ordering/rule.hpp"
#include "proofs/quiescence/rule.hpp"
#include "proofs/reduction/rule.hpp"
#include "proofs/rules.hpp"
#include "proofs/shard/rule.hpp"
#include "proofs/slices/rule.hpp"

namespace spatialcert::proofs {

inline constexpr std::uint32_t kCertificateVersion = 3;
/// A larger payload is compressed, any other is not.
inline constexpr std::uint64_t kMostRawBytes = 4096;
/// No payload is larger than this.
inline constexpr std::uint64_t kMostPayloadBytes = std::uint64_t{1} << 30U;
/// What was decoded takes at most this many bytes per byte of payload.
inline constexpr std::uint64_t kMostBytesPerPayloadByte = 32;
inline constexpr std::size_t kMostProducerBytes = 255;

/// What shows that the rules hold of one program.
struct Proof {
  /// Loops that are folded (ir/folding.hpp). Everything below is about the folded program.
  ir::Folding folding;
  /// Places of one iteration that known order justifies, in order of justification. Those that
  /// counting justifies are recomputed and never stored.
  std::vector<ir::Place> justified;
  // One per rule that was proved, in the order of their numbers.
  std::optional<liveness::Witness> liveness;
  std::optional<bounds::Witness> bounds;
  std::optional<quiescence::Witness> quiescence;
  std::optional<ordering::Witness> ordering;
  std::optional<flow::Witness> flow;
  std::optional<memory::Witness> memory;
  std::optional<reduction::Witness> reduction;
  std::optional<coverage::Witness> coverage;
  std::optional<boundary::Witness> boundary;
  std::optional<isolation::Witness> isolation;
  std::optional<shard::Witness> shard;
  std::optional<slices::Witness> slices;
};

/// The proof is of the whole program, or there are classes of sections, each with a proof of its own
/// (proofs/composition/check.hpp), and of the whole nothing but the witnesses of `reduction`, `shard`
/// and `slices`, if any.
struct Certificate : Proof {
  std::string producer;  ///< tool and solver with versions, printable ASCII; for information only
  ir::Digest program{};  ///< ir::digest
  ir::Digest target{};   ///< ir::target_digest
  /// Of the sections with an op, in the order of the program; numbered as they occur.
  std::vector<std::uint32_t> class_of;
  std::vector<Proof> classes;
};

/// The canonical bytes. The paths of `ordering` must follow one another from 0 to the last place.
[[nodiscard]] std::string encode(const Certificate& certificate);

/// Why bytes are no certificate that this version can read.
struct Unreadable {
  enum class Reason : std::uint8_t {
    not_a_certificate,   ///< it begins with something else
    other_version,       ///< of the format
    truncated,           ///< the end is missing
    too_large,           ///< the payload is larger than allowed, or than memory
    damaged,             ///< a digest differs, or line ends were translated
    trailing_data,       ///< something follows the end
    not_canonical,       ///< a number, or the whole, is written in another than the one way
    unknown_form,        ///< neither raw nor compressed
    unknown_rule,        ///< a rule number that this version does not have
    other_rule_version,  ///< a witness of an earlier or later version of its rule
    duplicate_rule,
    out_of_order,     ///< rules do not ascend
    unknown_class,    ///< an obligation of another class than its proof is about
    unknown_subject,  ///< an obligation about something else than its proof
    malformed_producer,
    malformed_classes,
    malformed_folding,
    malformed_place,
    malformed_witness
  };
  Reason reason = Reason::damaged;
  std::string detail;  ///< where or which; one line
};
[[nodiscard]] std::string_view to_string(Unreadable::Reason reason);

/// `most`: a caller who knows how large an honest payload can be may allow less.
[[nodiscard]] std::variant<Certificate, Unreadable> decode(std::string_view bytes,
                                                           std::uint64_t most = kMostPayloadBytes);

}  // namespace spatialcert::proofs
