#include "proofs/reduction/op_step.hpp"

namespace spatialcert::proofs::reduction {
namespace {

class MatrixOp : OpStep {
 public:
  MatrixOp(Types& types, const OpText& what, const std::vector<Operand>& operands, Shape out)
      : OpStep(types, what, operands, out) {}

  Transferred run() {
    std::vector<ValueId> values;
    for (const Operand& operand : operands_) values.push_back(type(operand).value);
    value_ = value_of_all(values);
    switch (what_.op) {
      case ir::OpKind::matmul:
        return matmul();
      case ir::OpKind::gather:
        return gather();
      case ir::OpKind::conv1d:
        return convolution();
      default:
        return recurrence();
    }
  }

 private:
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
};

}  // namespace

Transferred matrix_op(Types& types, const OpText& what, const std::vector<Operand>& operands,
                      Shape out) {
  return MatrixOp(types, what, operands, out).run();
}

}  // namespace spatialcert::proofs::reduction
