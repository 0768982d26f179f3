#include "proofs/reduction/transfer.hpp"

#include <algorithm>

#include "proofs/reduction/op_step.hpp"

namespace spatialcert::proofs::reduction {
namespace {

enum class Linearity : std::uint8_t {
  linear,       ///< in its first operand, the others being whole
  elementwise,  ///< any function, element by element
  row_wise,     ///< any function of whole rows
  other
};

/// Ops that are not treated one by one.
Linearity linearity_of(ir::OpKind op) {
  switch (op) {
    case ir::OpKind::copy:
    case ir::OpKind::scale:
    case ir::OpKind::neg:
    case ir::OpKind::rope:
      return Linearity::linear;
    case ir::OpKind::silu:
    case ir::OpKind::gelu:
    case ir::OpKind::sigmoid:
    case ir::OpKind::exp:
    case ir::OpKind::cast:
    case ir::OpKind::quantise:
    case ir::OpKind::dequantise:
    case ir::OpKind::select:
      return Linearity::elementwise;
    case ir::OpKind::softmax:
    case ir::OpKind::rmsnorm:
    case ir::OpKind::topk:
      return Linearity::row_wise;
    default:
      return Linearity::other;
  }
}

class Transfer : OpStep {
 public:
  Transfer(Types& types, const OpText& what, const std::vector<Operand>& operands, Shape out)
      : OpStep(types, what, operands, out) {}

  Transferred run() {
    if (operands_.empty()) return unclear(fmt::format("{} reads nothing", name()));
    std::vector<ValueId> values;
    for (const Operand& operand : operands_) {
      if (is(type(operand), TypeKind::unclear)) return {operand.type, std::nullopt};
      values.push_back(type(operand).value);
    }
    value_ = value_of_all(values);
    switch (what_.op) {
      case ir::OpKind::matmul:
      case ir::OpKind::gather:
      case ir::OpKind::conv1d:
      case ir::OpKind::gated_delta:
        return matrix_op(types_, what_, operands_, out_);
      case ir::OpKind::add:
      case ir::OpKind::sub:
        return sum_of_operands();
      case ir::OpKind::mul:
        return product();
      case ir::OpKind::sum:
      case ir::OpKind::max:
        return reduction();
      default:
        break;
    }
    return by_linearity(linearity_of(what_.op));
  }

 private:
  Transferred by_linearity(Linearity linearity) {
    if (what_.op == ir::OpKind::copy && operands_.size() != 1)
      return unclear("a copy of several operands");
    const auto part = partial();
    if (part && (linearity != Linearity::linear || *part != 0)) return nonlinear(*part);
    if (part) {
      const Type& t = type(operands_[0]);
      if (t.largest && what_.op != ir::OpKind::copy) return nonlinear(0);
      for (std::size_t i = 1; i < operands_.size(); ++i) {
        if (is(type(operands_[i]), TypeKind::partial)) return nonlinear(i);
        if (is(type(operands_[i]), TypeKind::slice))
          return unclear(fmt::format("{} of {} and {}", name(), text(0), text(i)));
      }
      return of(t);
    }
    if (linearity == Linearity::linear && is(type(operands_[0]), TypeKind::zero) &&
        what_.op == ir::OpKind::copy)
      return of(Type{});
    // A head is turned as a whole.
    if (linearity == Linearity::row_wise || what_.op == ir::OpKind::rope) {
      if (auto result = over_rows()) return *std::move(result);
    }
    if (linearity == Linearity::other) return unclear(fmt::format("{} is not typed", name()));
    return elementwise();
  }

  /// What looks at whole rows must not look at a part of them only.
  std::optional<Transferred> over_rows() {
    for (std::size_t i = 1; i < operands_.size(); ++i) {
      const Type& other = type(operands_[i]);
      const bool whole = other.along == Along::inside || other.along == Along::rows;
      const Type& row = type(operands_[0]);
      const bool stacked = is(row, TypeKind::slice) && row.stacked && other.stacked;
      if (is(other, TypeKind::slice) && !stacked && !whole)
        return unclear(fmt::format("{} over an axis of {} that may be cut", name(), text(i)));
    }
    const Type& t = type(operands_[0]);
    if (!is(t, TypeKind::slice) || t.along == Along::inside || t.along == Along::rows)
      return std::nullopt;
    if (t.stacked) {
      // Within a head the largest entries are no longer along the heads.
      if (what_.op == ir::OpKind::topk) return slice(t, Along::inside, true);
      return std::nullopt;
    }
    if (t.along == Along::columns) {
      return violated(Kind::nonlinear, 0,
                      fmt::format("{} over the cut axis of {}", name(), text(0)));
    }
    return unclear(fmt::format("{} over an axis of {} that may be cut", name(), text(0)));
  }

  // ---- sums of operands ------------------------------------------------------------------------

  Transferred sum_of_operands() {
    const auto part = partial();
    if (!part) {
      const bool all_zero = std::all_of(operands_.begin(), operands_.end(), [&](const Operand& o) {
        return is(type(o), TypeKind::zero);
      });
      return all_zero ? of(Type{}) : elementwise();
    }
    Type total = type(operands_[*part]);
    if (total.largest) return nonlinear(*part);
    std::vector<ValueId> values{total.value};
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (i == *part || is(type(operands_[i]), TypeKind::zero)) continue;
      if (auto result = plus(total, *part, i, values)) return *std::move(result);
    }
    // Terms of one sum, of different parts, or beside zeros, are still of that sum. More of a term
    // is not: a part that takes its term twice is found out by its value.
    const bool first_is_less = what_.op == ir::OpKind::sub && *part != 0;
    if (values.size() == 1 && !first_is_less) value_ = values[0];
    return of(total);
  }

  /// Adds operand `i`. Something if that is no sum of terms.
  std::optional<Transferred> plus(Type& total, std::size_t first, std::size_t i,
                                  std::vector<ValueId>& values) {
    const Type& t = type(operands_[i]);
    if (is(t, TypeKind::replicated)) {
      return violated(Kind::double_contribution, i,
                      fmt::format("{} joins {} with what is {}: every part would add it", name(),
                                  text(first), text(i)));
    }
    if (!is(t, TypeKind::partial) || t.dimension != total.dimension || t.largest)
      return unclear(fmt::format("{} joins {} with {}", name(), text(first), text(i)));
    const bool one_sum = t.value == values[0] && what_.op == ir::OpKind::add;
    if (t.parts == total.parts) {
      // Terms of the same parts: of another sum, or more of their own term.
      values.push_back(t.value);
      return std::nullopt;
    }
    for (std::size_t w = 0; w < t.parts.size(); ++w) {
      if ((t.parts[w] & total.parts[w]) == 0) continue;
      return violated(Kind::double_contribution, i,
                      fmt::format("{} joins {} with {}", name(), text(first), text(i)));
    }
    if (!one_sum || values.size() != 1)
      return unclear(
          fmt::format("{} joins terms of different sums, {} and {}", name(), text(first), text(i)));
    for (std::size_t w = 0; w < t.parts.size(); ++w) total.parts[w] |= t.parts[w];
    return std::nullopt;
  }

  // ---- reductions ------------------------------------------------------------------------------

  Transferred reduction() {
    const Type& t = type(operands_[0]);
    const bool largest = what_.op == ir::OpKind::max;
    if (operands_.size() != 1) return unclear(fmt::format("{} of several operands", name()));
    if (is(t, TypeKind::partial)) return t.largest == largest ? of(t) : nonlinear(0);
    if (!is(t, TypeKind::slice)) return is(t, TypeKind::zero) ? of(Type{}) : replicated();
    const std::uint64_t axes = reduced_axes();
    if (t.along == Along::inside || axes == kNeither) return slice(t, t.along, t.stacked);
    if (axes == kUnknown) return unclear(fmt::format("{} without shapes of {}", name(), text(0)));
    const bool cut = (t.along == Along::rows && (axes == kRows || axes == kBoth)) ||
                     (t.along == Along::columns && (axes == kColumns || axes == kBoth));
    if (t.along == Along::line || t.along == Along::unclear)
      return unclear(fmt::format("{} over an axis of {} that may be cut", name(), text(0)));
    if (!cut) return slice(t, t.along, t.stacked);
    if (t.stacked) return slice(t, Along::inside, true);
    return term_of(t, largest);
  }
};

}  // namespace

Transferred transfer(Types& types, const OpText& what, const std::vector<Operand>& operands,
                     Shape out) {
  return Transfer(types, what, operands, out).run();
}

}  // namespace spatialcert::proofs::reduction
