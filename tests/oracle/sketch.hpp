// A program as a tree of ops, which is easy to build, to damage and to make smaller.
//
// `assemble` turns it into the flat form of ir/program.hpp: one section that owns every op. Whether
// the result is well-formed is for ir/validate.hpp to say.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ir/program.hpp"

namespace spatialcert::tests {

/// An affine bound: constant, and (loop level, coefficient) terms.
struct Bound {
  std::int64_t base = 0;
  std::vector<std::pair<std::uint8_t, std::int64_t>> terms;

  [[nodiscard]] Bound plus(std::int64_t offset) const { return {base + offset, terms}; }
};

struct SketchAccess {
  ir::RegionKind kind = ir::RegionKind::bytes;
  std::uint32_t object = 0;
  std::uint32_t page = 0;
  Bound bound[4];
  bool write = false;
};

struct SketchOp {
  ir::OpCode code = ir::OpCode::run;
  std::uint32_t object = 0;
  std::int64_t count = 0;
  std::vector<SketchAccess> accesses;
  std::vector<SketchOp> body;
};

struct Sketch {
  ir::Program frame;  ///< everything but ops, accesses and affine terms; its programs have no ops
  std::vector<std::vector<SketchOp>> ops;  ///< by engine program
};

[[nodiscard]] ir::Program assemble(const Sketch& sketch);

/// Every list of ops of the sketch, bodies included, and every op in it.
void for_each_list(Sketch& sketch, const std::function<void(std::vector<SketchOp>&)>& visit);

/// The smallest sketch found by leaving out ops, accesses and objects' uses for which `wanted`
/// still holds.
[[nodiscard]] Sketch shrink(Sketch sketch, const std::function<bool(const ir::Program&)>& wanted);

/// One line per object and op.
[[nodiscard]] std::string listing(const ir::Program& program);

}  // namespace spatialcert::tests
