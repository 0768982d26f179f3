// Why sections could not be composed: one enumerated reason, what it is about, and what would help.
//
// The composer never repairs and never leaves anything out: what does not fit together is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace spatialcert::compose {

enum class RefusalReason : std::uint8_t {
  no_sections,
  not_one_section,       ///< a section file with no section or several
  malformed_section,     ///< what ir/validate.hpp refuses
  section_has_seam,      ///< a section that brings a boundary of its own
  no_stages,             ///< a section without stages
  no_ops,                ///< a section without ops
  faulty_section,        ///< a section that fails on its own
  duplicate_section,     ///< two sections of one name
  name_clash,            ///< buffers, semaphores or stages of two sections, or of a rendezvous
  tensor_shape,          ///< one name, other rows or columns
  tensor_dtype,          ///< one name, another element type
  tensor_owner,          ///< one name, another owner
  tensor_values,         ///< one name, other declared values
  sliced_tensor,         ///< one full tensor, cut in two ways
  tensor_view,           ///< one name, a view of something else
  tensor_role,           ///< one name, roles that no role of the composed program covers
  init_clash,            ///< one name, other initial contents
  init_lost,             ///< initial contents of memory that lives for a section only
  buffer_clash,          ///< resident buffers or links of one name that are not the same
  unknown_tensor,        ///< a tensor to be bound that its section does not have
  unknown_carried,       ///< a carried name that no section declares
  lost_postcondition,    ///< a claim of a section that means something else in the whole
  execution_mismatch,    ///< a section that wraps around in a program that does not
  target_mismatch,       ///< sections for different hardware
  site_outside_mesh,     ///< a section on a site that the target does not have
  unknown_engine,        ///< a section on an engine that the target does not have
  bad_placement,         ///< no regions; a section that does not begin at its own corner
  does_not_fit,          ///< a section that finds no room in the mesh
  bad_barriers,          ///< boundaries or an order for another number of sections
  semaphores_exhausted,  ///< a site has no room for the semaphores of a rendezvous
  arrival_maximum,       ///< more programs than an arrival semaphore counts
  release_maximum,       ///< more programs on a site than a release semaphore counts
  no_crossing_handoff,   ///< participants on several chips, and nothing crosses
  memory_exhausted,      ///< a site's memory is too small
  bad_parallelism,       ///< what a split over chips cannot be attached to
  malformed_program,     ///< sections that are programs, but not together
  too_large              ///< more of something than a program can number
};

/// Name with hyphens, e.g. `name-clash`.
[[nodiscard]] std::string_view to_string(RefusalReason reason);

struct Refused {
  RefusalReason reason = RefusalReason::no_sections;
  std::string what;    ///< names sections, objects and sites as the user wrote them
  std::string remedy;  ///< an imperative

  /// `what: remedy`, with the reason's name before it.
  [[nodiscard]] std::string message() const;
};

/// A value, or why there is none.
template <typename T>
using Outcome = std::variant<T, Refused>;

}  // namespace spatialcert::compose
