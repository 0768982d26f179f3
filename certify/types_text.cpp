// What chips compute of slices: an op that no sum over chips goes through, and slices that do not
// tile.
#include <fmt/format.h>

#include "certify/narrative.hpp"

namespace spatialcert::certify {
namespace {

using proofs::AccessRef;
using proofs::Counterexample;
using proofs::Kind;

std::string region_of(const OpNames& names, const AccessRef& ref) {
  return region_text(names.program(), names.program().accesses[ref.access].region);
}

const char* title(const Counterexample& c) {
  switch (c.kind) {
    case Kind::double_contribution:
      return "double contribution: what is summed up over chips counts more than once";
    case Kind::missing_chip:
      return "missing chip: a partial sum reaches the spine";
    case Kind::leak:
      return "leak: a slice reaches the spine";
    case Kind::mismatch:
      return "mismatch: parts that do not belong together meet";
    default:
      return "nonlinear: a partial result meets an op that no sum over chips goes through";
  }
}

/// The way of a partial sum, from the op that made it to the one that meets it.
void path_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  std::vector<WayStep> way;
  for (const AccessRef& ref : c.accesses) {
    if (way.empty() || way.back().op != ref.transition) way.push_back({ref.transition, ""});
    std::string& does = way.back().does;
    does += fmt::format("{}{} {}", does.empty() ? "" : ", ",
                        names.program().accesses[ref.access].write ? "writes" : "reads",
                        region_of(names, ref));
  }
  way_lines(names, way, out);
}

std::string ranges_text(const ir::Slice& slice) {
  std::string out;
  for (const ir::IndexRange& range : slice.ranges)
    out += fmt::format("{}[{}, {})", out.empty() ? "" : " ", range.begin, range.end);
  return out;
}

std::string part_line(const ir::Program& program, const proofs::SliceRef& ref) {
  const ir::SlicedTensor& sliced = program.sliced[ref.sliced];
  const ir::Slice& slice = sliced.slices[ref.part];
  const ir::Tensor& tensor = program.tensors[slice.tensor.value()];
  const std::string source = source_text(program, tensor.location);
  return fmt::format("  part {} of {} is {} of chip {}: {} {}{}", ref.part, sliced.name,
                     tensor.name, tensor.owner.value_or(0), to_string(sliced.axis),
                     ranges_text(slice), source.empty() ? "" : fmt::format(" [{}]", source));
}

}  // namespace

void type_lines(const OpNames& names, const Counterexample& c, Lines& out) {
  out.push_back(title(c));
  if (c.accesses.size() > 1) path_lines(names, c, out);
  if (c.ops.empty()) return;
  out.push_back(
      fmt::format("  {}, {}: {}", names.engine(c.ops[0]), names.placed_op(c.ops[0]), c.note));
  if (c.range) {
    out.push_back("  seen at " +
                  ir::describe(names.program(), c.range->storage, c.range->low, c.range->high));
  }
  if (!c.schedules.empty()) out.push_back("  " + after_steps(c.schedules[0]));
}

void slice_lines(const ir::Program& program, const Counterexample& c, Lines& out) {
  const ir::SlicedTensor& sliced = program.sliced[c.slices[0].sliced];
  const std::string full = fmt::format("{} ({} x {}, {} along {})", sliced.name, sliced.rows,
                                       sliced.cols, to_string(sliced.axis), sliced.dimension);
  const std::string wanted = count_text(c.limit, "part");
  switch (c.kind) {
    case Kind::gap:
      out.push_back(fmt::format("gap: index {} of {} is in fewer than {}", c.value, full, wanted));
      break;
    case Kind::overlap:
      out.push_back(fmt::format("overlap: index {} of {} is in more than {}, or twice in one",
                                c.value, full, wanted));
      break;
    default:
      out.push_back(fmt::format("mismatch: parts of dimension {} that do not belong together",
                                sliced.dimension));
      break;
  }
  for (const proofs::SliceRef& ref : c.slices) out.push_back(part_line(program, ref));
}

}  // namespace spatialcert::certify
