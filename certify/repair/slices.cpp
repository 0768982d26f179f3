// Which indices of a full tensor its parts hold: ranges that tile the axis, and that others have.
#include <fmt/format.h>

#include "certify/names.hpp"
#include "certify/repair/propose.hpp"
#include "proofs/slices/tiling.hpp"

namespace spatialcert::certify::repair {
namespace {

std::uint64_t length(const std::vector<ir::IndexRange>& ranges) {
  std::uint64_t sum = 0;
  for (const ir::IndexRange& range : ranges) sum += range.end - range.begin;
  return sum;
}

class Tiling {
 public:
  Tiling(const Case& what, Proposals& out) : program_(what.program), out_(out) {}

  /// As tensors have it that are cut along the same dimension of the model and are as long.
  void like_others(std::uint32_t sliced) {
    const ir::SlicedTensor& own = program_.sliced[sliced];
    for (std::uint32_t s = 0; s < program_.sliced.size(); ++s) {
      const ir::SlicedTensor& other = program_.sliced[s];
      if (s == sliced || other.dimension != own.dimension || other.copies != own.copies ||
          proofs::slices::length_of(other) != proofs::slices::length_of(own) ||
          other.slices.size() != own.slices.size())
        continue;
      if (proofs::slices::untiled(program_, s)) continue;
      Edits edits;
      for (std::uint32_t p = 0; p < own.slices.size(); ++p)
        change(sliced, p, other.slices[p].ranges, edits);
      if (!edits.empty()) out_.add(std::move(edits), "the ranges that " + other.name + " has");
    }
  }

  /// One part behind the other, each as long as its tensor is.
  void one_behind_the_other(std::uint32_t sliced) {
    const ir::SlicedTensor& own = program_.sliced[sliced];
    const std::uint64_t axis = proofs::slices::length_of(own);
    std::uint64_t held = 0;
    for (const ir::Slice& slice : own.slices) held += length(slice.ranges);
    if (held != axis * own.copies) {
      out_.obstacle(fmt::format(
          "the parts of {} hold {} {} in all, where its axis has {} and every one belongs in {}",
          own.name, held, to_string(own.axis), axis, count_text(own.copies, "part")));
      return;
    }
    Edits edits;
    std::uint64_t at = 0;
    for (std::uint32_t p = 0; p < own.slices.size(); ++p) {
      // With several copies the axis is gone through several times.
      const std::uint64_t needed = length(own.slices[p].ranges);
      if (at + needed > axis) {
        out_.obstacle(
            fmt::format("the parts of {} do not fit its axis one behind the other", own.name));
        return;
      }
      change(sliced, p, {{at, at + needed}}, edits);
      at = (at + needed) % axis;
    }
    if (!edits.empty()) out_.add(std::move(edits), "ranges one behind the other");
  }

 private:
  void change(std::uint32_t sliced, std::uint32_t part, const std::vector<ir::IndexRange>& ranges,
              Edits& edits) const {
    if (program_.sliced[sliced].slices[part].ranges != ranges)
      edits.push_back(ChangeRanges{sliced, part, ranges});
  }

  const ir::Program& program_;
  Proposals& out_;
};

}  // namespace

void propose_slices(const Case& what, Proposals& out) {
  const auto& slices = what.counterexample.slices;
  if (slices.empty()) return;
  out.tried.emplace_back("the ranges of tensors that are cut alike");
  Tiling tiling(what, out);
  for (std::size_t i = slices.size(); i-- > 0;) tiling.like_others(slices[i].sliced);
  if (what.counterexample.kind == proofs::Kind::mismatch) return;
  out.tried.emplace_back("ranges one behind the other");
  tiling.one_behind_the_other(slices.front().sliced);
}

}  // namespace spatialcert::certify::repair
