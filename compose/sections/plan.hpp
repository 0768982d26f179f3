// What one site does, before it is written as engine programs.
//
// A tree of loops whose leaves are steps; a step is what the three engines do about one tile. All
// engines walk the same tree, each taking its own part of every step, so that their orders agree.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ir/program.hpp"

namespace spatialcert::compose::sections {

/// Index into Plan::loops of the number of a loop's iteration.
using Variable = std::uint32_t;

struct Term {
  Variable variable = 0;
  std::uint64_t step = 0;
};
/// `size` rows or columns from `first` + sum of variables times steps on.
struct Extent {
  std::uint64_t first = 0;
  std::uint64_t size = 0;
  std::vector<Term> terms;
};

struct TensorPart {
  std::uint32_t tensor = 0;  ///< index into the section's tensors
  Extent rows;
  Extent cols;
};

/// Pages that go from one engine to the next (`stream`), or memory of the compute engine alone. The
/// width is fixed; a tile may have fewer rows than a page.
struct Store {
  enum class Kind : std::uint8_t { stream, accumulator, scratch };
  Kind kind = Kind::stream;
  std::string name;
  ir::DType dtype = ir::DType::f32;
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  bool shapeless = false;  ///< no tile: what is a row to one engine is a column to the next
};
using StoreId = std::uint32_t;

/// The first `rows` rows of a page or a memory.
struct StorePart {
  StoreId store = 0;
  std::uint64_t rows = 0;
};

/// Index into the section's stages.
using StageIndex = std::uint32_t;

struct Load {
  StageIndex stage = 0;
  std::vector<TensorPart> from;
  StorePart to;
};
struct Run {
  StageIndex stage = 0;
  std::vector<StorePart> from;
  StorePart to;
};
struct Save {
  StageIndex stage = 0;
  StorePart from;
  TensorPart to;
};

struct Node;
/// Loads, then what the compute engine runs on them, then what is stored. Pages loaded here are
/// given back here. If nothing runs, what is loaded is stored.
struct TileStep {
  std::vector<Load> loads;
  std::vector<Run> runs;
  std::optional<Save> save;
};
struct Loop {
  Variable variable = 0;
  std::uint64_t trips = 0;
  std::vector<Node> body;
};
/// Pages that stay open for the compute engine while it does the body.
struct Hold {
  std::vector<Load> loads;
  std::vector<Node> body;
};
struct Node {
  std::variant<TileStep, Loop, Hold> what;
};

struct Plan {
  std::vector<Store> stores;
  std::uint32_t variables = 0;
  std::vector<Node> body;

  /// The store of that name and width, with room for `rows` rows.
  StorePart part(Store::Kind kind, const std::string& name, ir::DType dtype, std::uint64_t rows,
                 std::uint64_t cols);

 private:
  std::map<std::pair<std::string, std::uint64_t>, StoreId> by_name_;
};

}  // namespace spatialcert::compose::sections
