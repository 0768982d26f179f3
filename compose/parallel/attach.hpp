// From names to a program: whose its tensors are, and how its full tensors are cut.
#pragma once

#include <cstdint>
#include <optional>

#include "compose/parallel/manifest.hpp"
#include "compose/parallel/refusal.hpp"
#include "compose/parallel/sharding.hpp"
#include "ir/program.hpp"

namespace spatialcert::compose::parallel {

/// The manifest's owner of a tensor: that of its name, or of the storage that it is a view of.
[[nodiscard]] std::optional<std::uint32_t> owner_in(const ir::Program& program,
                                                    std::uint32_t tensor, const Sharding& sharding);

/// Gives the tensors that the manifest names, and views of them, their owner. Refused, with the
/// program as it was: a tensor that says otherwise itself.
[[nodiscard]] std::optional<Refused> assign_owners(ir::Program& program, const Sharding& sharding);

/// Resolves the full tensors of a valid manifest into Program::sliced, in its order, replacing what
/// was there. Refused, with the program as it was: a target of another number of chips; a full
/// tensor with the name of one that the program declares; parts that
/// the program does not declare, of another shape than their ranges give, or that differ in type;
/// a tensor, part or not, that the manifest gives to a chip and the program to another one or
/// none. Owners of names that the program does not have are no matter: a fused op keeps what it
/// binds inside.
[[nodiscard]] std::optional<Refused> attach(ir::Program& program, const Manifest& manifest);

}  // namespace spatialcert::compose::parallel
