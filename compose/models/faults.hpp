// Known ways to get a split model wrong, built into a program that is right (docs/models.md).
//
// Each of them is what one slip of a compiler would leave behind: one collective, one part, one
// signal or one buffer is wrong, and all else is as it should be.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/program.hpp"
#include "ir/result.hpp"

namespace spatialcert::compose::models {

enum class ModelFault : std::uint8_t {
  skip_chip,         ///< an all-reduce leaves the last chip out
  chip_twice,        ///< an all-reduce takes the first chip's partial sum for the last one's
  plain_sum,         ///< an all-reduce is an ordinary sum
  nonlinear_before,  ///< a partial sum goes through silu on its way to the all-reduce
  reduce_again,      ///< an all-reduce takes a result that is whole already
  slice_gap,         ///< no part has the first indices of a full tensor
  slice_overlap,     ///< two parts have the same indices
  swapped_parts,     ///< the parts of the first two chips are exchanged
  weight_elsewhere,  ///< a part of a weight belongs to another chip
  drop_arrival,      ///< an engine program does not arrive at a rendezvous
  drop_release,      ///< a site is not released by a rendezvous
  move_buffer        ///< a buffer lies where another one does
};
[[nodiscard]] const std::vector<ModelFault>& model_faults();
[[nodiscard]] std::string_view to_string(ModelFault fault);
[[nodiscard]] std::optional<ModelFault> parse_model_fault(std::string_view name);

/// Refused: a program in which there is no place for the fault, such as a model of one chip.
[[nodiscard]] ir::Result<ir::Program> with_fault(const ir::Program& program, ModelFault fault);

}  // namespace spatialcert::compose::models
