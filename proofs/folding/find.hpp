// The search for loops that can be folded. Untrusted: what is found is checked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "ir/folding.hpp"
#include "proofs/subject.hpp"

namespace spatialcert::proofs::folding {

/// A folded program that stands for the whole one, checked.
struct Fold {
  ir::Folding folding;
  std::unique_ptr<ir::Folded> folded;  ///< what `subject` is about
  Subject subject;
};

struct NoFold {
  std::string why;
};

/// Folds as many loops as it can, those of at least `least_trips` trips, if that leaves at most
/// half of the op instances. Linear in the text of the program and in what is left of it, times a
/// few attempts, which together look at no more than all op instances.
[[nodiscard]] std::variant<Fold, NoFold> find(const ir::Program& program,
                                              std::int64_t least_trips = 16);

}  // namespace spatialcert::proofs::folding
