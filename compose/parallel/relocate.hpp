// Sections that were made once, on one chip, for all chips: moved to where their data are.
#pragma once

#include <cstdint>
#include <string_view>

#include "compose/parallel/refusal.hpp"
#include "compose/parallel/sharding.hpp"
#include "ir/program.hpp"

namespace spatialcert::compose::parallel {

/// What becomes of another chip's tensor that a section reads: it is refused, as nothing brings it;
/// or it stands for a copy that a relay brings (relay.hpp), and is the chip's own.
enum class Foreign : std::uint8_t { refused, copied };

/// The section on the chip that runs `binder`, which is one of the tensors that it stores (the name
/// that its statement binds). Every site that it names moves, column and row unchanged: engine
/// programs, buffers and semaphores; names in which the builder spells the site (`NAME/0.1.0/...`)
/// follow it.
///
/// Owners: a tensor that the manifest knows, or a view of one, gets its owner. What the section
/// stores otherwise belongs to the chip if the binder does, and to the spine if not. All else is
/// of the spine.
///
/// A certificate of the section speaks of the old sites and does not hold for the moved one, whose
/// digest is another; a section is only the program, so there is nothing to take off it.
///
/// Refused: a program that is not one section or not well-formed; sites on several chips; a binder
/// that the section does not store; a target without the chip; a tensor that says itself that it
/// belongs to another chip than it gets to; a tensor of another chip that the section touches (as
/// far as it is not a copy), or, if the binder is of the spine, one of a chip's own that it stores.
/// That hand-offs reach several sites is no reason: they name their sites one by one, on the chip,
/// so all of them can be moved; this model has no op that names a rectangle of sites.
[[nodiscard]] Outcome<ir::Program> relocate(ir::Program section, std::string_view binder,
                                            const Sharding& sharding,
                                            Foreign foreign = Foreign::refused);

}  // namespace spatialcert::compose::parallel
