// Parallelism manifests: how a model is split over chips (DESIGN 5, docs/parallelism.md).
//
// A manifest says which chip owns what, how full tensors are cut into the chips' parts, where
// partial sums of all chips become one replicated tensor, and what the statements of the source
// are. It is a JSON object, format `spatialcert-parallelism`, version 1, read as strictly as
// program files.
//
// What is promised of a manifest that was read, or that `validate` accepts: names are not empty and
// stand where they may only once; chips and ranges are inside; every part belongs to a chip; the
// folds of a collective are the sum of its partials, each once. What is not: that the parts of a
// full tensor tile it, which is a matter of proof.
//
// The split by chips that it describes is that of Megatron-LM [Shoeybi et al. 2019]: column- and
// row-parallel products around one all-reduce.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.hpp"
#include "ir/result.hpp"

namespace spatialcert::compose::parallel {

/// What a quantised weight is made of. Both live on the chip of the weight.
struct Quantised {
  std::string weight;
  std::string values;
  std::string scales;
};

/// A tensor of one chip that holds ranges of a full tensor, one behind the other.
struct Part {
  std::string tensor;
  std::vector<ir::IndexRange> ranges;
};

/// The same as ir::SlicedTensor, by names.
struct FullTensor {
  std::string name;
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  ir::Axis axis = ir::Axis::rows;  ///< that is cut
  std::string dimension;           ///< of the model, that the axis runs along
  bool stacked = false;            ///< entries along the axis are never summed up: heads, experts
  std::uint32_t copies = 1;        ///< how many parts hold every index
  std::vector<Part> parts;
};

/// Partial sums of all chips become one replicated tensor.
struct Collective {
  std::string out;
  std::vector<std::string> partials;  ///< that of chip c at position c
  std::vector<std::string> folds;     ///< names that the statements bind which spell it; last `out`
};

/// One statement of the front end. Names may be bound more than once (state that is updated).
struct Statement {
  std::string name;  ///< that it binds
  ir::OpKind op = ir::OpKind::copy;
  std::vector<std::string> reads;
};

/// What the front end hands over as one op: a statement, or several that are fused.
struct SourceOp {
  std::vector<Statement> members;
};

struct Manifest {
  std::uint32_t chips = 1;
  /// Chip of every chip-local tensor, weights that are quantised and their parts included. What is
  /// not in it is replicated: the spine.
  std::map<std::string, std::uint32_t> owners;
  std::vector<Quantised> quantised;
  std::vector<FullTensor> full;
  std::vector<Collective> collectives;
  std::vector<SourceOp> statements;  ///< in source order
};

/// The first thing that is wrong, by JSON path.
[[nodiscard]] ir::Status validate(const Manifest& manifest);

/// `file` only labels refusals.
[[nodiscard]] ir::Result<Manifest> parse_manifest(std::string_view json, const std::string& file);
[[nodiscard]] ir::Result<Manifest> read_manifest(const std::string& path);

/// Canonical text: equal manifests have equal bytes, and reading them gives the same manifest.
[[nodiscard]] std::string serialise(const Manifest& manifest);
/// Compressed if the name ends in `.zst`.
[[nodiscard]] ir::Status write_manifest(const Manifest& manifest, const std::string& path);

}  // namespace spatialcert::compose::parallel
