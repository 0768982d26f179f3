// The parts of a model. Each begins a part of the writer and writes its sections.
#pragma once

#include <string>

#include "compose/models/writer.hpp"

namespace spatialcert::compose::models {

/// x (1 x hidden) to mid = x + what attention adds.
void write_attention(ModelWriter& writer, const std::string& prefix);
/// The same with Gated DeltaNet.
void write_linear_attention(ModelWriter& writer, const std::string& prefix);
/// mid to `next` = mid + what the feed-forward network adds.
void write_feed_forward(ModelWriter& writer, const std::string& prefix, const std::string& next);
/// The same with a mixture of experts.
void write_experts(ModelWriter& writer, const std::string& prefix, const std::string& next);
/// The row of the token's number of a table: `next`.
void write_embedding(ModelWriter& writer, const std::string& next);
/// `last`, normalised, times the output projection: logits, cut by chips.
void write_head(ModelWriter& writer, const std::string& last);

/// Part `chip` of [0, size) in equal parts, one for each of `parts`.
[[nodiscard]] ir::IndexRange share_of_chip(std::uint64_t size, std::uint32_t chip,
                                           std::uint32_t parts);

/// result = act(x gate) (x up) projected down, of `columns` columns cut by chips; `scale`, if not
/// empty, is a 1 x 1 that the middle is multiplied by. The sum of all chips is called `name`.
void write_swiglu(ModelWriter& writer, const std::string& name, const std::string& x,
                  std::uint64_t columns, const std::string& scale);

}  // namespace spatialcert::compose::models
