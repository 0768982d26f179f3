// What becomes of several contents together, and of one under another shape.
#include <fmt/format.h>

#include <algorithm>

#include "proofs/reduction/op_step.hpp"

namespace spatialcert::proofs::reduction {
namespace {

/// What a vector's axis is without its orientation.
Along as_line(Along along, Shape shape) {
  if (along == Along::inside || along == Along::unclear || shape.none()) return along;
  if (along == Along::line) return along;
  if (shape.rows == 1) return along == Along::columns ? Along::line : Along::inside;
  if (shape.cols == 1) return along == Along::rows ? Along::line : Along::inside;
  // Row by row, a matrix that is cut along its rows is a line that is cut along itself.
  return along == Along::rows ? Along::line : Along::unclear;
}

}  // namespace

Along oriented(Along along, Shape shape) {
  if (along != Along::line || shape.none()) return along;
  if (shape.rows == 1) return Along::columns;
  if (shape.cols == 1) return Along::rows;
  return Along::unclear;
}

Transferred all_reduce(Types& types, ir::OpKind op, const std::vector<TypeId>& operands) {
  const bool largest = op == ir::OpKind::max;
  Type total;
  std::optional<TypeId> first;
  for (std::uint32_t i = 0; i < operands.size(); ++i) {
    const Type t = types[operands[i]];
    const std::string text = describe(types, operands[i]);
    if (is(t, TypeKind::unclear)) return {operands[i], std::nullopt};
    if (is(t, TypeKind::zero) && !largest) continue;
    if (is(t, TypeKind::replicated) && operands.size() == 1) return {operands[i], std::nullopt};
    if (is(t, TypeKind::replicated) || is(t, TypeKind::zero)) {
      return {Types::kZero,
              Violation{Kind::double_contribution, i,
                        fmt::format("the all-reduce takes what is {}: every operand would count "
                                    "again",
                                    text)}};
    }
    const bool term = is_term(t);
    if (!term || (is(t, TypeKind::partial) && t.largest != largest)) {
      return {Types::kZero, Violation{Kind::nonlinear, i,
                                      fmt::format("the all-reduce takes {}, which is no term of "
                                                  "what it forms",
                                                  text)}};
    }
    if (!first) {
      first = operands[i];
      total = t;
      continue;
    }
    if (t.dimension != total.dimension || t.value != total.value)
      return {types.unclear(fmt::format("the all-reduce joins terms of different sums, {} and {}",
                                        describe(types, *first), text)),
              std::nullopt};
    for (std::size_t w = 0; w < t.parts.size(); ++w) {
      if ((t.parts[w] & total.parts[w]) != 0) {
        return {Types::kZero, Violation{Kind::double_contribution, i,
                                        fmt::format("the all-reduce takes {} again", text)}};
      }
      total.parts[w] |= t.parts[w];
    }
  }
  if (!first) return {Types::kZero, std::nullopt};
  const ValueId value = types.value_of(op, kUnknown + 1, {total.value});
  if (types.all_parts(total.dimension, total.parts)) return {types.replicated(value), std::nullopt};
  total.kind = TypeKind::partial;
  total.along = Along::inside;
  total.stacked = false;
  total.width = 0;
  total.largest = largest;
  return {types.number(total), std::nullopt};
}

bool is_term(const Type& t) {
  return is(t, TypeKind::partial) ||
         (is(t, TypeKind::slice) && t.along == Along::inside && t.stacked);
}

TypeId blend(Types& types, TypeId a, TypeId b) {
  if (a == b) return a;
  Type x = types[a], y = types[b];
  if (is(x, TypeKind::unclear)) return a;
  if (is(y, TypeKind::unclear)) return b;
  std::uint32_t range = 0;
  if (x.range != 0 && y.range != 0) {
    range = types.number_of({std::min(types.range(x.range).least, types.range(y.range).least),
                             std::max(types.range(x.range).largest, types.range(y.range).largest)});
  }
  if (is(x, TypeKind::zero) || is(y, TypeKind::zero)) {
    // Zeros are whatever the rest is, but of the value nothing more is known than that both occur.
    Type other = is(x, TypeKind::zero) ? y : x;
    if (x.kind != y.kind) other.value = types.blend(x.value, y.value);
    other.range = range;
    return types.number(other);
  }
  Type out = x;
  out.along = x.along == y.along || y.along == Along::inside ? x.along
              : x.along == Along::inside                     ? y.along
                                                             : Along::unclear;
  if (x.width != y.width) out.along = Along::unclear;
  out.stacked = x.stacked && y.stacked;
  out.value = types.blend(x.value, y.value);
  out.range = range;
  x.along = y.along = Along::inside;
  x.stacked = y.stacked = false;
  x.value = y.value = x.range = y.range = 0;
  x.width = y.width = 0;
  if (x != y) {
    return types.unclear(
        fmt::format("a mixture of {} and {}", describe(types, a), describe(types, b)));
  }
  return types.number(out);
}

TypeId reshaped(Types& types, TypeId id, Shape from, Shape to) {
  const Type type = types[id];
  const bool line = type.along == Along::line && !to.none();
  if (!is(type, TypeKind::slice) || (from == to && !line)) return id;
  // Without a shape only a line has an axis.
  if (from.none() && !line) return id;
  Type out = type;
  out.along = oriented(as_line(type.along, from), to);
  return types.number(out);
}

}  // namespace spatialcert::proofs::reduction
