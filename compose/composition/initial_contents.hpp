// What a tensor or resident buffer begins with, found from what one section after the other says.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program.hpp"

namespace spatialcert::compose {

/// How a section uses a storage: a tensor or buffer that is no view, and all views of it.
struct Use {
  bool read = false;
  bool written = false;
};

/// How the ops of a section use its tensors and buffers; views have the use of their storage.
struct ObjectUses {
  explicit ObjectUses(const ir::Program& section);
  std::vector<Use> tensors;  ///< by TensorId
  std::vector<Use> buffers;  ///< by BufferId
};

/// The number of the object that `number` is, through views, a part of.
template <typename Object>
[[nodiscard]] std::uint32_t root_of(const std::vector<Object>& objects, std::uint32_t number) {
  while (objects[number].view) number = objects[number].view->base.value();
  return number;
}

/// What one section says of an object.
struct InitClaim {
  ir::Init init = ir::Init::undefined;
  Use use;
  bool written_earlier = false;  ///< by an earlier section, to the same storage
  std::uint32_t section = 0;     ///< source position
};

struct InitDecision {
  ir::Init init = ir::Init::undefined;
  std::uint32_t section = 0;                 ///< whose word it is
  std::optional<InitClaim> contradicted_by;  ///< then there is no decision
};

/// `claims` is not empty and in source order. Of a carried object the word of the first reader
/// counts, otherwise that of the first section. `external` is an assumption that an earlier writer
/// discharges; `zero` is a value, which nobody earlier may have changed within a token.
[[nodiscard]] InitDecision decide_init(const std::vector<InitClaim>& claims, bool carried);

}  // namespace spatialcert::compose
