#include "proofs/reduction/lemmas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "smt/query.hpp"

namespace spatialcert::proofs::reduction {
namespace {

using Content = StepKind::Content;
using TypeKind = Type::Kind;

constexpr std::size_t kParts = 2;

struct Matrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<smt::Term> terms;  // row by row
  [[nodiscard]] smt::Term at(std::size_t r, std::size_t c) const {
    return terms[(rows == 1 ? 0 : r) * cols + (cols == 1 ? 0 : c)];
  }
};

/// A content: what the parts have of it, and the whole.
struct Family {
  std::vector<Matrix> parts;
  Matrix whole;
};

class Lemma {
 public:
  Lemma(const StepKind& step, smt::Query& query) : step_(step), query_(query) {}

  void write() {
    if (step_.reduces) return write_all_reduce();
    for (std::size_t i = 0; i < step_.operands.size(); ++i) families_.push_back(family(i));
    std::vector<Matrix> parts;
    for (std::size_t p = 0; p < kParts; ++p) {
      std::vector<Matrix> operands;
      for (const Family& family : families_) operands.push_back(family.parts[p]);
      parts.push_back(evaluate(operands, step_.result.rows, step_.result.cols));
    }
    std::vector<Matrix> wholes;
    for (const Family& family : families_) wholes.push_back(family.whole);
    const auto [rows, cols] = whole_shape(step_.result, step_.result.along);
    const Matrix whole = evaluate(wholes, rows, cols);
    std::vector<smt::Term> wrong;
    unrelated(parts, whole, wrong);
    query_.require(wrong.empty() ? query_.less(query_.constant(1), query_.constant(0))
                                 : query_.any_of(wrong));
  }

 private:
  /// Where a content is cut, for this op: what is whole is cut where the result is, unless it is
  /// spread there; what is inside a part are the part's entries of a contraction.
  [[nodiscard]] Along cut_of(std::size_t operand) const {
    const Content& c = step_.operands[operand];
    const bool matmul = step_.op == ir::OpKind::matmul && operand < 2;
    if (c.kind == TypeKind::slice) {
      if (matmul && c.along == Along::inside) return operand == 0 ? Along::columns : Along::rows;
      return c.along == Along::line ? Along::columns : c.along;  // of a line without a shape
    }
    if (c.kind != TypeKind::replicated || step_.result.kind != TypeKind::slice || matmul ||
        step_.op == ir::OpKind::gather)
      return Along::inside;
    const Along along = step_.result.along;
    if (along == Along::rows && c.rows > 1) return Along::rows;
    if ((along == Along::columns || along == Along::line) && c.cols > 1) return Along::columns;
    return Along::inside;
  }
  static std::pair<std::size_t, std::size_t> whole_shape(const Content& c, Along cut) {
    const bool slice = c.kind == TypeKind::slice || c.kind == TypeKind::replicated;
    return {slice && cut == Along::rows ? kParts * c.rows : c.rows,
            slice && (cut == Along::columns || cut == Along::line) ? kParts * c.cols : c.cols};
  }

  Matrix fresh(const std::string& name, std::size_t rows, std::size_t cols) {
    Matrix m{rows, cols, {}};
    for (std::size_t i = 0; i < rows * cols; ++i)
      m.terms.push_back(query_.integer(fmt::format("{}_{}", name, i)));
    return m;
  }
  Matrix combined(const std::vector<Matrix>& parts, bool largest) {
    Matrix out = parts.front();
    for (std::size_t p = 1; p < parts.size(); ++p) {
      for (std::size_t i = 0; i < out.terms.size(); ++i)
        out.terms[i] = largest ? larger(out.terms[i], parts[p].terms[i])
                               : query_.sum({out.terms[i], parts[p].terms[i]});
    }
    return out;
  }
  smt::Term larger(smt::Term a, smt::Term b) {
    return query_.if_then_else(query_.less(a, b), b, a);
  }
  static Matrix joined(const std::vector<Matrix>& parts, bool by_rows) {
    const Matrix& first = parts.front();
    Matrix out{
        by_rows ? kParts * first.rows : first.rows, by_rows ? first.cols : kParts * first.cols, {}};
    for (std::size_t r = 0; r < out.rows; ++r) {
      for (std::size_t c = 0; c < out.cols; ++c) {
        const Matrix& part = parts[by_rows ? r / first.rows : c / first.cols];
        out.terms.push_back(part.terms[(r % first.rows) * first.cols + c % first.cols]);
      }
    }
    return out;
  }

  Family family(std::size_t i) {
    const Content& c = step_.operands[i];
    const Along cut = cut_of(i);
    Family out;
    if (c.kind == TypeKind::zero) {
      out.whole = {1, 1, {query_.constant(0)}};  // spread as far as needed
      out.parts.assign(kParts, out.whole);
      return out;
    }
    if (c.kind == TypeKind::replicated && cut == Along::inside) {
      out.whole = fresh(fmt::format("x{}", i), c.rows, c.cols);
      out.parts.assign(kParts, out.whole);
      return out;
    }
    for (std::size_t p = 0; p < kParts; ++p)
      out.parts.push_back(fresh(fmt::format("x{}_{}", i, p), c.rows, c.cols));
    out.whole = c.kind == TypeKind::partial ? combined(out.parts, c.largest)
                                            : joined(out.parts, cut == Along::rows);
    return out;
  }

  /// Where the results of the parts are not to that of the whole as the type says.
  void unrelated(const std::vector<Matrix>& parts, const Matrix& whole,
                 std::vector<smt::Term>& wrong) {
    const Content& r = step_.result;
    if (r.kind == TypeKind::replicated || r.kind == TypeKind::zero) {
      for (const Matrix& part : parts) differ(part, whole, wrong);
    } else if (r.kind == TypeKind::partial) {
      differ(combined(parts, r.largest), whole, wrong);
    } else if (r.along == Along::rows || r.along == Along::columns || r.along == Along::line) {
      differ(joined(parts, r.along == Along::rows), whole, wrong);
    }
  }
  void differ(const Matrix& a, const Matrix& b, std::vector<smt::Term>& wrong) {
    for (std::size_t i = 0; i < a.terms.size(); ++i)
      wrong.push_back(query_.negation(query_.equal(a.terms[i], b.terms[i])));
  }

  /// The terms of all parts, in order: their sum is the whole.
  void write_all_reduce() {
    const bool largest = step_.op == ir::OpKind::max;
    std::vector<Matrix> terms;
    for (std::size_t i = 0; i < step_.operands.size(); ++i)
      terms.push_back(fresh(fmt::format("x{}", i), 1, 1));
    const smt::Term whole = query_.integer("whole");
    std::vector<Matrix> backwards(terms.rbegin(), terms.rend());
    query_.require(query_.equal(whole, combined(terms, largest).terms[0]));
    query_.require(query_.negation(query_.equal(whole, combined(backwards, largest).terms[0])));
  }

  // ---- ops -------------------------------------------------------------------------------------

  template <typename Element>
  static Matrix filled(std::size_t rows, std::size_t cols, Element element) {
    Matrix out{rows, cols, {}};
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < cols; ++c) out.terms.push_back(element(r, c));
    }
    return out;
  }

  Matrix evaluate(const std::vector<Matrix>& in, std::size_t rows, std::size_t cols) {
    switch (step_.op) {
      case ir::OpKind::matmul:
        return filled(rows, cols, [&](std::size_t r, std::size_t c) {
          std::vector<smt::Term> sum;
          for (std::size_t k = 0; k < in[0].cols; ++k)
            sum.push_back(query_.product(in[0].at(r, k), in[1].at(k, c)));
          if (in.size() > 2) sum.push_back(in[2].at(r, c));
          return query_.sum(sum);
        });
      case ir::OpKind::sum:
      case ir::OpKind::max:
        return filled(rows, cols, [&](std::size_t r, std::size_t c) {
          return reduced(in[0], rows, cols, r, c);
        });
      case ir::OpKind::conv1d:
        return filled(rows, cols, [&](std::size_t r, std::size_t c) {
          std::vector<smt::Term> sum;
          for (std::size_t k = 0; k < in[1].rows; ++k)
            sum.push_back(query_.product(in[1].at(k, c), in[0].at(r + k, c)));
          if (in.size() > 2) sum.push_back(in[2].at(0, c));
          return query_.sum(sum);
        });
      case ir::OpKind::gather:
        return filled(rows, cols, [&](std::size_t r, std::size_t c) {
          smt::Term out = in[0].at(0, c);
          for (std::size_t row = 1; row < in[0].rows; ++row) {
            const auto chosen = query_.equal(in[1].terms[r % in[1].terms.size()],
                                             query_.constant(static_cast<std::int64_t>(row)));
            out = query_.if_then_else(chosen, in[0].at(row, c), out);
          }
          return out;
        });
      default:
        return filled(rows, cols, [&](std::size_t r, std::size_t c) {
          return element(in, {r, c}, {rows, cols});
        });
    }
  }

  smt::Term reduced(const Matrix& in, std::size_t rows, std::size_t cols, std::size_t r,
                    std::size_t c) {
    std::vector<smt::Term> all;
    for (std::size_t i = 0; i < in.rows; ++i) {
      for (std::size_t j = 0; j < in.cols; ++j) {
        if ((rows == in.rows && i != r) || (cols == in.cols && j != c)) continue;
        all.push_back(in.at(i, j));
      }
    }
    if (step_.op == ir::OpKind::sum) return query_.sum(all);
    smt::Term out = all.front();
    for (std::size_t i = 1; i < all.size(); ++i) out = larger(out, all[i]);
    return out;
  }

  /// Element `at` of a result of `shape`.
  smt::Term element(const std::vector<Matrix>& in, std::pair<std::size_t, std::size_t> at,
                    std::pair<std::size_t, std::size_t> shape) {
    const auto [r, c] = at;
    std::vector<smt::Term> operands;
    const bool blocks = step_.op == ir::OpKind::quantise || step_.op == ir::OpKind::dequantise;
    for (const Matrix& m : in) {
      operands.push_back(blocks ? m.at(r * m.rows / shape.first, c * m.cols / shape.second)
                                : m.at(r, c));
    }
    switch (step_.op) {
      case ir::OpKind::copy:
        return operands[0];
      case ir::OpKind::add:
        return query_.sum(operands);
      case ir::OpKind::sub: {
        smt::Term out = operands[0];
        for (std::size_t i = 1; i < operands.size(); ++i) out = query_.minus(out, operands[i]);
        return out;
      }
      case ir::OpKind::mul: {
        smt::Term out = operands[0];
        for (std::size_t i = 1; i < operands.size(); ++i) out = query_.product(out, operands[i]);
        return out;
      }
      case ir::OpKind::neg:
        return query_.scaled(-1, operands[0]);
      case ir::OpKind::scale:  // by any constant
        return query_.product(constant_factor(), operands[0]);
      case ir::OpKind::rope:
        return turned(in, r, c);
      case ir::OpKind::softmax:
      case ir::OpKind::rmsnorm:
      case ir::OpKind::topk:
        return of_row(in, r, c);
      default:
        return query_.apply(std::string(ir::to_string(step_.op)) + "_of", operands);
    }
  }
  smt::Term constant_factor() {
    if (!factor_) factor_ = query_.integer("factor");
    return *factor_;
  }
  /// Two columns are a head: the first with the second.
  smt::Term turned(const std::vector<Matrix>& in, std::size_t r, std::size_t c) {
    if (in.size() < 3 || in[0].cols < 2) return query_.apply("turn", {in[0].at(r, c)});
    const std::size_t half = in[0].cols / 2;
    const auto angle = [&](const Matrix& m) { return m.at(r, c % half); };
    if (c < half) {
      return query_.minus(query_.product(in[0].at(r, c), angle(in[1])),
                          query_.product(in[0].at(r, c + half), angle(in[2])));
    }
    return query_.sum({query_.product(in[0].at(r, c), angle(in[1])),
                       query_.product(in[0].at(r, c - half), angle(in[2]))});
  }
  /// Some function of the row, per column, and of what stands beside it.
  smt::Term of_row(const std::vector<Matrix>& in, std::size_t r, std::size_t c) {
    std::vector<smt::Term> arguments;
    for (std::size_t k = 0; k < in[0].cols; ++k) arguments.push_back(in[0].at(r, k));
    for (std::size_t i = 1; i < in.size(); ++i) arguments.push_back(in[i].at(r, c));
    return query_.apply(fmt::format("{}_{}_of_{}", ir::to_string(step_.op), c, in[0].cols),
                        arguments);
  }

  const StepKind& step_;
  smt::Query& query_;
  std::vector<Family> families_;
  std::optional<smt::Term> factor_;
};

Content content_of(const Types& types, TypeId id, const Shape& shape) {
  const Type& type = types[id];
  Content c{type.kind, Along::inside, false, type.largest, 1, 2};
  if (type.kind == TypeKind::slice) {
    c.along = oriented(type.along, shape);
    c.stacked = type.stacked;
  }
  if (!shape.none()) {
    c.rows = shape.rows > 1 ? 2 : 1;
    c.cols = shape.cols > 1 ? 2 : 1;
  }
  return c;
}

}  // namespace

StepKind kind_of(const Types& types, const StepText& step) {
  StepKind out{step.op.op, step.op.op == ir::OpKind::scale ? 0.0 : 1.0, step.reduces, {}, {}};
  for (const Operand& operand : step.operands)
    out.operands.push_back(content_of(types, operand.type, operand.shape));
  out.result = content_of(types, step.result, step.out);
  return out;
}

// Families of contents, one per part, and contents that are the same for all parts: what an op
// makes of them is another such family, whatever it is.
bool has_lemma(const StepKind& step) {
  if (step.result.kind == TypeKind::unclear || step.result.along == Along::unclear) return false;
  if (step.reduces) return true;
  const auto divided = [](const Content& c) {
    return c.kind == TypeKind::partial || (c.kind == TypeKind::slice && !c.stacked);
  };
  if (step.result.kind == TypeKind::slice && step.result.along == Along::inside) return false;
  // Of what is inside the parts there is no whole, but where it is taken for their entries.
  const bool entries = step.op == ir::OpKind::matmul && step.result.kind == TypeKind::partial;
  for (const Content& c : step.operands) {
    if (c.kind != TypeKind::slice) continue;
    if (c.along == Along::unclear || (c.along == Along::inside && !entries)) return false;
  }
  return std::any_of(step.operands.begin(), step.operands.end(), divided) || divided(step.result);
}

void write_lemma(const StepKind& step, smt::Query& query) { Lemma(step, query).write(); }

void write_overflow(const SumKind& sum, smt::Query& query) {
  const unsigned more = 2 + static_cast<unsigned>(std::bit_width(sum.values.size()));
  std::vector<smt::Term> narrow, wide;
  for (std::size_t i = 0; i < sum.values.size(); ++i) {
    const smt::Term value = query.bits(fmt::format("x{}", i), sum.bits);
    query.require(query.bits_at_most(query.bits_of(sum.values[i].least, sum.bits), value));
    query.require(query.bits_at_most(value, query.bits_of(sum.values[i].largest, sum.bits)));
    narrow.push_back(value);
    wide.push_back(query.bits_widened(value, more));
  }
  const smt::Term wrapped = query.bits_widened(query.bits_sum(narrow), more);
  query.require(query.negation(query.equal(wrapped, query.bits_sum(wide))));
}

void Lemmas::add(const StepText& step) {
  if (step.bits != 0) ++sums_[{step.values, step.bits}];
  // With one part there is nothing to tell apart.
  for (const Operand& operand : step.operands) {
    const Type& type = types_[operand.type];
    const bool divided = type.kind == TypeKind::slice || type.kind == TypeKind::partial;
    if (divided && types_.dimensions()[type.dimension].parts == 1) return;
  }
  StepKind kind = kind_of(types_, step);
  if (has_lemma(kind)) ++kinds_[std::move(kind)];
}

std::optional<std::string> Lemmas::prove(smt::Session& session) const {
  std::vector<const StepKind*> all;
  for (const auto& [kind, steps] : kinds_) {
    all.push_back(&kind);
    session.repeated += steps - 1;
  }
  smt::Questions questions;
  questions.logic = smt::Logic::functions;
  questions.count = all.size();
  questions.expected = smt::Expected::impossible;
  questions.write = [&](std::size_t i, smt::Query& query) {
    write_lemma(*all[i], query);
    return std::vector<smt::Term>{};
  };
  const smt::Replies replies = session.ask(questions);
  if (!replies.other) return prove_sums(session);
  if (const auto* undecided = std::get_if<smt::Undecided>(&*replies.other))
    return undecided->reason;
  return fmt::format("the solver finds values for which {} is not what its type says",
                     ir::to_string(all[replies.values.size() - 1]->op));
}

std::optional<std::string> Lemmas::prove_sums(smt::Session& session) const {
  std::vector<const SumKind*> all;
  for (const auto& [sum, steps] : sums_) {
    all.push_back(&sum);
    session.repeated += steps - 1;
  }
  smt::Questions questions;
  questions.logic = smt::Logic::bits;
  questions.count = all.size();
  questions.expected = smt::Expected::impossible;
  questions.write = [&](std::size_t i, smt::Query& query) {
    write_overflow(*all[i], query);
    return std::vector<smt::Term>{};
  };
  const smt::Replies replies = session.ask(questions);
  if (!replies.other) return std::nullopt;
  if (const auto* undecided = std::get_if<smt::Undecided>(&*replies.other))
    return undecided->reason;
  return "the solver finds an all-reduce of integers that wraps around";
}

}  // namespace spatialcert::proofs::reduction
