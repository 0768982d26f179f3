// The search for types of contents: rounds until they recur, or a fault. Untrusted.
#pragma once

#include "proofs/reduction/rule.hpp"

namespace spatialcert::proofs::reduction {

[[nodiscard]] Search<Typing> prove_types(const Subject& subject, smt::Session& session);

}  // namespace spatialcert::proofs::reduction
