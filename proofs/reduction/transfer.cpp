#include "proofs/reduction/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace spatialcert::proofs::reduction {
namespace {

using TypeKind = Type::Kind;

/// Which axes a reduction goes over.
constexpr std::uint64_t kRows = 1, kColumns = 2, kBoth = 3, kNeither = 4, kUnknown = 5;

bool is(const Type& type, TypeKind kind) { return type.kind == kind; }
bool same_slice(const Type& a, const Type& b) {
  return a.dimension == b.dimension && a.parts == b.parts;
}

/// What a vector's axis is without its orientation.
Along as_line(Along along, Shape shape) {
  if (along == Along::inside || along == Along::unclear || shape.none()) return along;
  if (along == Along::line) return along;
  if (shape.rows == 1) return along == Along::columns ? Along::line : Along::inside;
  if (shape.cols == 1) return along == Along::rows ? Along::line : Along::inside;
  // Row by row, a matrix that is cut along its rows is a line that is cut along itself.
  return along == Along::rows ? Along::line : Along::unclear;
}

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

class Transfer {
 public:
  Transfer(Types& types, const OpText& what, const std::vector<Operand>& operands, Shape out)
      : types_(types), what_(what), operands_(operands), out_(out) {
    for (Operand& operand : operands_)
      operand.type = reshaped(types, operand.type, {}, operand.shape);
  }

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
        return matmul();
      case ir::OpKind::add:
      case ir::OpKind::sub:
        return sum_of_operands();
      case ir::OpKind::mul:
        return product();
      case ir::OpKind::sum:
      case ir::OpKind::max:
        return reduction();
      case ir::OpKind::gather:
        return gather();
      case ir::OpKind::conv1d:
        return convolution();
      case ir::OpKind::gated_delta:
        return recurrence();
      default:
        break;
    }
    return by_linearity(linearity_of(what_.op));
  }

 private:
  [[nodiscard]] const Type& type(const Operand& operand) const { return types_[operand.type]; }
  [[nodiscard]] std::string text(std::size_t operand) const {
    return describe(types_, operands_[operand].type);
  }
  [[nodiscard]] std::string_view name() const { return ir::to_string(what_.op); }

  // A copy is what it copies.
  ValueId value_of_all(const std::vector<ValueId>& values) {
    if (what_.op == ir::OpKind::copy && values.size() == 1) return values.front();
    std::uint64_t how = 0;
    if (what_.op == ir::OpKind::scale) how = std::bit_cast<std::uint64_t>(what_.scale);
    if (what_.op == ir::OpKind::sum || what_.op == ir::OpKind::max) how = reduced_axes();
    return types_.value_of(what_.op, how, values);
  }

  Transferred violated(Kind kind, std::size_t operand, std::string what) const {
    return {Types::kZero, Violation{kind, static_cast<std::uint32_t>(operand), std::move(what)}};
  }
  Transferred unclear(const std::string& why) { return {types_.unclear(why), std::nullopt}; }
  Transferred of(Type result) {
    if (is(result, TypeKind::zero)) result = Type{};
    if (!is(result, TypeKind::zero)) result.value = value_;
    return {types_.number(result), std::nullopt};
  }
  Transferred replicated() { return {types_.replicated(value_), std::nullopt}; }
  Transferred slice(const Type& like, Along along, bool stacked) {
    Type result = like;
    result.along = along;
    result.stacked = stacked;
    return of(result);
  }

  /// The first operand that is partial.
  [[nodiscard]] std::optional<std::size_t> partial() const {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (is(type(operands_[i]), TypeKind::partial)) return i;
    }
    return std::nullopt;
  }
  Transferred nonlinear(std::size_t operand) const {
    return violated(Kind::nonlinear, operand,
                    fmt::format("{} of {}, before its all-reduce", name(), text(operand)));
  }
  Transferred mismatched(std::size_t a, std::size_t b) const {
    return violated(Kind::mismatch, b,
                    fmt::format("{} joins {} with {}", name(), text(a), text(b)));
  }

  /// An operand's axis in the result, over whose rows or columns it may be spread.
  [[nodiscard]] Along spread(const Operand& operand) const {
    const Along along = type(operand).along;
    // A scale is that of a block, and blocks are of one part.
    if (what_.op == ir::OpKind::quantise || what_.op == ir::OpKind::dequantise) return along;
    if (out_.none() || operand.shape.none()) return along;
    if (along == Along::rows && operand.shape.rows == 1 && out_.rows != 1) return Along::inside;
    if (along == Along::columns && operand.shape.cols == 1 && out_.cols != 1) return Along::inside;
    return along;
  }

  /// Element by element over operands none of which is partial.
  Transferred elementwise() {
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

  Transferred product() {
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

  // ---- reductions ------------------------------------------------------------------------------

  [[nodiscard]] std::uint64_t reduced_axes() const {
    if (operands_[0].shape.none() || out_.none()) return kUnknown;
    const Shape& in = operands_[0].shape;
    const bool rows = out_.rows != in.rows, cols = out_.cols != in.cols;
    return rows ? (cols ? kBoth : kRows) : (cols ? kColumns : kNeither);
  }

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

  /// A sum over the indices of one part. With one part there is nothing to add to it.
  Transferred term_of(const Type& like, bool largest) {
    if (types_.dimensions()[like.dimension].parts == 1) return replicated();
    Type result;
    result.kind = TypeKind::partial;
    result.largest = largest;
    result.dimension = like.dimension;
    result.parts = like.parts;
    return of(result);
  }

  // ---- products of matrices --------------------------------------------------------------------

  Transferred matmul() {
    if (operands_.size() < 2 || operands_.size() > 3) return unclear("a matmul of odd operands");
    value_ = types_.value_of(ir::OpKind::matmul, 0,
                             {type(operands_[0]).value, type(operands_[1]).value});
    Transferred made = contraction();
    if (made.violation || operands_.size() == 2) return made;
    if (is(types_[made.type], TypeKind::unclear)) return made;
    return accumulated(made.type);
  }

  Transferred contraction() {
    const Type& a = type(operands_[0]);
    const Type& b = type(operands_[1]);
    if (is(a, TypeKind::partial) || is(b, TypeKind::partial)) return product();
    if (!is(a, TypeKind::slice) && !is(b, TypeKind::slice)) return replicated();
    if (is(a, TypeKind::slice) && is(b, TypeKind::slice)) return of_slices(a, b);
    return is(a, TypeKind::slice) ? with_whole(a, a.along == Along::columns, Along::rows, 0)
                                  : with_whole(b, b.along == Along::rows, Along::columns, 1);
  }

  /// One operand is a slice, the other one whole. `cut`: along the axis that is contracted.
  Transferred with_whole(const Type& t, bool cut, Along free, std::size_t operand) {
    if (t.along == free) return slice(t, free, t.stacked);
    if (t.along == Along::inside) return slice(t, Along::inside, t.stacked);
    if (t.stacked) return slice(t, cut ? Along::inside : Along::unclear, true);
    return unclear(
        fmt::format("matmul contracts {} with what is {}", text(operand), text(1 - operand)));
  }

  Transferred of_slices(const Type& a, const Type& b) {
    if (a.dimension != b.dimension) {
      if (a.along == Along::columns && b.along == Along::rows) return mismatched(0, 1);
      return unclear(
          fmt::format("matmul of slices along two dimensions: {}, {}", text(0), text(1)));
    }
    if (!same_slice(a, b)) return mismatched(0, 1);
    const bool a_cut = a.along == Along::columns, b_cut = b.along == Along::rows;
    if ((a_cut && !a.stacked) || (b_cut && !b.stacked)) {
      // What is inside a part head by head are the part's entries.
      const auto whole = [](const Type& t) { return t.along == Along::inside && t.stacked; };
      const bool both = (a_cut || whole(a)) && (b_cut || whole(b));
      if (both) return term_of(a, false);
      return unclear(fmt::format("matmul contracts {} with {}", text(0), text(1)));
    }
    const auto odd = [](const Type& t) {
      return t.along == Along::unclear || t.along == Along::line;
    };
    if ((odd(a) && !a.stacked) || (odd(b) && !b.stacked))
      return unclear(
          fmt::format("matmul contracts {} with {} along axes that may be cut", text(0), text(1)));
    if (odd(a) || odd(b)) return slice(a, Along::unclear, true);
    const bool rows = a.along == Along::rows, columns = b.along == Along::columns;
    if (rows && columns) {
      if (a.stacked && b.stacked) return slice(a, Along::unclear, true);
      return unclear(fmt::format("matmul of {} and {} crosses parts", text(0), text(1)));
    }
    // Every part multiplies with a matrix of its own: so it must be meant part by part.
    if ((rows && !a.stacked) || (columns && !b.stacked))
      return unclear(fmt::format("matmul of {} and {}, part by part", text(0), text(1)));
    if (rows) return slice(a, Along::rows, true);
    if (columns) return slice(a, Along::columns, true);
    return slice(a, Along::inside, a.stacked && b.stacked);
  }

  /// What was accumulated, plus a product. More of the same product is still the same.
  Transferred accumulated(TypeId made) {
    const TypeId before = operands_[2].type;
    if (is(types_[before], TypeKind::zero) || before == made) return {made, std::nullopt};
    if (is(types_[made], TypeKind::zero)) return {before, std::nullopt};
    const std::vector<Operand> two{{before, operands_[2].shape}, {made, out_}};
    return transfer(types_, {ir::OpKind::add, 1.0}, two, out_);
  }

  // ---- what is treated one by one --------------------------------------------------------------

  Transferred gather() {
    if (operands_.size() != 2) return unclear("a gather of odd operands");
    const Type& table = type(operands_[0]);
    const Type& index = type(operands_[1]);
    if (is(index, TypeKind::partial)) return nonlinear(1);
    if (is(table, TypeKind::partial)) {
      if (table.largest || is(index, TypeKind::slice)) return nonlinear(0);
      return of(table);
    }
    if (!is(table, TypeKind::slice)) {
      return is(index, TypeKind::slice) ? gathered_by(index) : replicated();
    }
    if (is(index, TypeKind::slice)) {
      if (!same_slice(table, index)) return mismatched(0, 1);
      return table.stacked && index.stacked ? slice(table, Along::unclear, true)
                                            : unclear("a gather of slices by slices");
    }
    if (table.along == Along::columns) return slice(table, Along::columns, table.stacked);
    if (table.along == Along::inside) return slice(table, Along::inside, table.stacked);
    if (table.stacked) return slice(table, Along::inside, true);
    return unclear(fmt::format("gather picks rows of {}", text(0)));
  }

  /// Rows of a table that is whole, by the indices of a part.
  Transferred gathered_by(const Type& index) {
    const Shape& shape = operands_[1].shape;
    const bool column = shape.cols == 1, row = shape.rows == 1;
    const bool runs = index.along == Along::line || (index.along == Along::rows && column) ||
                      (index.along == Along::columns && row);
    if (runs && (column || row)) return slice(index, Along::rows, index.stacked);
    if (index.along == Along::inside) return slice(index, Along::inside, index.stacked);
    return unclear(fmt::format("gather by {}", text(1)));
  }

  Transferred convolution() {
    if (const auto part = partial()) {
      const Type& t = type(operands_[*part]);
      if (t.largest || operands_.size() != 2 || *part != 0) return nonlinear(*part);
      if (is(type(operands_[1]), TypeKind::partial)) return nonlinear(1);
      if (is(type(operands_[1]), TypeKind::slice))
        return unclear(fmt::format("conv1d of {} and {}", text(0), text(1)));
      return of(t);
    }
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const Type& t = type(operands_[i]);
      if (is(t, TypeKind::slice) && t.along != Along::columns && t.along != Along::inside)
        return unclear(fmt::format("conv1d along an axis of {} that may be cut", text(i)));
    }
    return elementwise();
  }

  // A state per head: all of it within one part, or the same for all.
  Transferred recurrence() {
    if (const auto part = partial()) return nonlinear(*part);
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const Type& t = type(operands_[i]);
      if (!is(t, TypeKind::slice)) continue;
      if (!t.stacked)
        return unclear(fmt::format("gated-delta over {}, which is not stacked", text(i)));
      if (first && t.dimension != type(operands_[*first]).dimension)
        return unclear("gated-delta joins slices along two dimensions");
      if (first && !same_slice(t, type(operands_[*first]))) return mismatched(*first, i);
      if (!first) first = i;
    }
    if (!first) return replicated();
    const Type& state = type(operands_[0]);
    return slice(type(operands_[*first]), is(state, TypeKind::slice) ? state.along : Along::unclear,
                 true);
  }

  Types& types_;
  const OpText& what_;
  std::vector<Operand> operands_;
  Shape out_;
  ValueId value_ = 0;
};

}  // namespace

Along oriented(Along along, Shape shape) {
  if (along != Along::line || shape.none()) return along;
  if (shape.rows == 1) return Along::columns;
  if (shape.cols == 1) return Along::rows;
  return Along::unclear;
}

Transferred transfer(Types& types, const OpText& what, const std::vector<Operand>& operands,
                     Shape out) {
  return Transfer(types, what, operands, out).run();
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
    // What is inside one part, a head's or an expert's own, is a term of the sum over all of them.
    const bool term = is(t, TypeKind::partial) || (t.along == Along::inside && t.stacked);
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
