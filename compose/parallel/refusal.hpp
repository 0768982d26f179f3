// Why a split over chips cannot be carried out: one enumerated reason, what it is about, and what
// would help. Manifests that say nonsense are refused before that, by place (ir::Refusal).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace spatialcert::compose::parallel {

enum class RefusalReason : std::uint8_t {
  chip_count,           ///< a target, or chips' programs, of another number of chips
  undeclared_tensor,    ///< a part of a full tensor that the program does not declare
  owner_clash,          ///< a tensor that belongs to another chip than the manifest says
  full_declared,        ///< a full tensor with the name of one that the program declares
  part_shape,           ///< a part with other rows or columns than its ranges give
  part_type,            ///< parts of one full tensor with different element types
  not_one_section,      ///< what is to be moved has no section or several
  malformed_section,    ///< what is to be moved is not well-formed
  several_chips,        ///< what is to be moved stands on several chips
  not_stored,           ///< a section does not store what it is said to bind
  no_such_chip,         ///< a target without the chip
  foreign_tensor,       ///< a section that touches another chip's tensor
  partials_mismatch,    ///< another number of partials than chips, or not in chip order
  spine_result,         ///< an all-reduce whose result belongs to one chip
  no_crossing_handoff,  ///< chips that meet, and nothing crosses
  sum_type,             ///< partials of a type in which no sum is made
  not_buildable,        ///< a section that the builder refuses
  mixed_owners,         ///< a fused op that binds tensors of different owners
  fused_fold,           ///< a fused op that contains a fold of a collective
  rewritten,            ///< a tensor that is written again after another chip has read it
  unknown_transfer,     ///< a halt or a chip that names what is no transfer
  doubled_transfer,     ///< a tensor that is sent twice to one chip
  sends_unstored,       ///< a chip that sends what no section of it stores
  receives_unloaded,    ///< a chip that receives what no section of it loads
  receives_own,         ///< a chip that receives what its own sections store
  missing_transfer,     ///< a transfer that nobody sends or receives; a load of what never comes
  wrong_chip,           ///< a transfer at a chip that is not its end
  circular_relay,       ///< no chip can move on
  not_composable        ///< sections, or a system, that the composer refuses
};
inline constexpr std::size_t kReasons = 29;

/// Name with hyphens, e.g. `mixed-owners`.
[[nodiscard]] std::string_view to_string(RefusalReason reason);

struct Refused {
  RefusalReason reason = RefusalReason::chip_count;
  std::string what;    ///< names tensors, sections, chips and sites as the user wrote them
  std::string remedy;  ///< an imperative

  /// `reason: what; remedy`.
  [[nodiscard]] std::string message() const;
};

/// A value, or why there is none.
template <typename T>
using Outcome = std::variant<T, Refused>;

}  // namespace spatialcert::compose::parallel
