// Accesses of tensors from chips on which they have no business. Trusted.
//
// A tensor with an owner is touched by engine programs of its owner's chip alone, save by stages of
// kind `copy` and `allreduce` on a target that has a hand-off which crosses chips. A tensor without
// one is one location: if one chip writes it, others touch it only where some hand-off of the
// target crosses chips. What goes through FIFOs and semaphores is no access of a tensor, and
// whether those may cross is a matter of form (ir/validate.hpp). Not checked: that it is this very
// hand-off that orders the accesses; that they are ordered is `ordering`'s.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/program.hpp"

namespace spatialcert::proofs::shard {

/// An access of an op in the text of the program.
struct AccessText {
  std::uint32_t program = 0;  ///< engine program
  std::uint32_t op = 0;       ///< of its ops
  std::uint32_t access = 0;   ///< into Program::accesses
};

/// One access of a tensor that belongs to another chip; or two of a tensor that belongs to none,
/// from different chips, the first of them a write.
struct Misplaced {
  AccessText access;
  std::optional<AccessText> other;
};

/// The first in the order of the program. Linear.
[[nodiscard]] std::optional<Misplaced> misplaced(const ir::Program& program);

/// Is this one?
[[nodiscard]] bool is_misplaced(const ir::Program& program, const Misplaced& accesses);

}  // namespace spatialcert::proofs::shard
