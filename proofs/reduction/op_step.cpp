#include "proofs/reduction/op_step.hpp"

#include <bit>

namespace spatialcert::proofs::reduction {

bool same_slice(const Type& a, const Type& b) {
  return a.dimension == b.dimension && a.parts == b.parts;
}

OpStep::OpStep(Types& types, const OpText& what, const std::vector<Operand>& operands, Shape out)
    : types_(types), what_(what), operands_(operands), out_(out) {
  for (Operand& operand : operands_)
    operand.type = reshaped(types, operand.type, {}, operand.shape);
}

// A copy is what it copies.
ValueId OpStep::value_of_all(const std::vector<ValueId>& values) {
  if (what_.op == ir::OpKind::copy && values.size() == 1) return values.front();
  std::uint64_t how = 0;
  if (what_.op == ir::OpKind::scale) how = std::bit_cast<std::uint64_t>(what_.scale);
  if (what_.op == ir::OpKind::sum || what_.op == ir::OpKind::max) how = reduced_axes();
  return types_.value_of(what_.op, how, values);
}

std::optional<std::size_t> OpStep::partial() const {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (is(type(operands_[i]), TypeKind::partial)) return i;
  }
  return std::nullopt;
}

/// An operand's axis in the result, over whose rows or columns it may be spread.
Along OpStep::spread(const Operand& operand) const {
  const Along along = type(operand).along;
  // A scale is that of a block, and blocks are of one part.
  if (what_.op == ir::OpKind::quantise || what_.op == ir::OpKind::dequantise) return along;
  if (out_.none() || operand.shape.none()) return along;
  if (along == Along::rows && operand.shape.rows == 1 && out_.rows != 1) return Along::inside;
  if (along == Along::columns && operand.shape.cols == 1 && out_.cols != 1) return Along::inside;
  return along;
}

std::uint64_t OpStep::reduced_axes() const {
  if (operands_[0].shape.none() || out_.none()) return kUnknown;
  const Shape& in = operands_[0].shape;
  const bool rows = out_.rows != in.rows, cols = out_.cols != in.cols;
  return rows ? (cols ? kBoth : kRows) : (cols ? kColumns : kNeither);
}

Transferred OpStep::elementwise() {
  std::optional<std::size_t> first;
  Along along = Along::inside;
  bool stacked = true, spreads = false;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const Type& t = type(operands_[i]);
    if (!is(t, TypeKind::slice)) continue;
    if (first && t.dimension != type(operands_[*first]).dimension)
      return unclear(fmt::format("{} joins slices along two dimensions", name()));
    if (first && !same_slice(t, type(operands_[*first]))) return mismatched(*first, i);
    if (!first) first = i;
    stacked = stacked && t.stacked;
    const Along here = spread(operands_[i]);
    spreads = spreads || here != t.along;
    if (here == Along::inside) continue;
    along = along == Along::inside || along == here ? here : Along::unclear;
  }
  if (!first) return replicated();
  if (spreads && !stacked)
    return unclear(fmt::format("{} spreads over every part what is its own", name()));
  return slice(type(operands_[*first]), along, stacked);
}

Transferred OpStep::product() {
  const auto part = partial();
  if (!part) return elementwise();
  const Type& t = type(operands_[*part]);
  if (t.largest) return nonlinear(*part);
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (i == *part) continue;
    if (is(type(operands_[i]), TypeKind::partial)) return nonlinear(i);
    if (is(type(operands_[i]), TypeKind::slice))
      return unclear(fmt::format("{} of {} and {}", name(), text(*part), text(i)));
  }
  return of(t);
}

Transferred OpStep::term_of(const Type& like, bool largest) {
  if (types_.dimensions()[like.dimension].parts == 1) return replicated();
  Type result;
  result.kind = TypeKind::partial;
  result.largest = largest;
  result.dimension = like.dimension;
  result.parts = like.parts;
  return of(result);
}

}  // namespace spatialcert::proofs::reduction
