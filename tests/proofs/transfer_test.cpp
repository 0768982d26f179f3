// The table of types, entry by entry, against Z3: whatever it says of an op, no contents of two
// parts are to those of the whole otherwise.
#include "proofs/reduction/transfer.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

#include "proofs/reduction/lemmas.hpp"
#include "smt/query.hpp"
#include "tests/proofs/draft.hpp"

namespace spatialcert::proofs::reduction {
namespace {

ir::Program two_dimensions() {
  tests::Draft d("two dimensions");
  std::string slices;
  for (const char* name : {"ffn", "heads"}) {
    std::string parts;
    for (int p = 0; p < 2; ++p) {
      d.tensor(fmt::format("{}{}", name, p), "external", 4, "f32", R"("owner": 0)");
      parts += fmt::format(R"({}{{"tensor": "{}{}", "ranges": [[{}, {}]]}})", p == 0 ? "" : ", ",
                           name, p, 4 * p, 4 * p + 4);
    }
    slices += fmt::format(
        R"({}{{"full": "{}", "rows": 8, "cols": 4, "axis": "rows", "dimension": "{}", "parts": [{}]}})",
        slices.empty() ? "" : ", ", name, name, parts);
  }
  d.member("slices", "[" + slices + "]");
  return d.tensor("x", "external").tensor("y").engine("compute", {"run work x > y"}).program();
}

class Table {
 public:
  Table() : program_(two_dimensions()), types_(program_) {
    const ValueId x = types_.tensor_value(4), y = types_.tensor_value(5);
    all_ = {Types::kZero, types_.replicated(x), types_.replicated(y)};
    for (const std::uint32_t dimension : {0U, 1U}) {
      for (const std::uint32_t part : {0U, 1U}) {
        for (const Along along :
             {Along::inside, Along::rows, Along::columns, Along::line, Along::unclear}) {
          for (const bool stacked : {false, true}) add_slice(dimension, part, along, stacked, x);
        }
        for (const bool largest : {false, true}) add_partial(dimension, part, largest, x);
      }
    }
    add_partial(0, 0, false, y);
  }

  [[nodiscard]] const std::vector<TypeId>& all() const { return all_; }
  [[nodiscard]] Types& types() { return types_; }

  /// Is what the table says of the step what Z3 says?
  void compare(const OpText& op, const std::vector<Operand>& operands, Shape out) {
    const Transferred made = transfer(types_, op, operands, out);
    ++steps_;
    if (made.violation) ++violations_;
    if (made.violation || types_[made.type].kind == Type::Kind::unclear) return;
    ++typed_;
    const StepKind kind = kind_of(types_, {op, false, operands, out, made.type, {}, 0});
    if (!has_lemma(kind) || !asked_.insert(kind).second) return;
    CAPTURE(ir::to_string(op.op));
    CAPTURE(describe(types_, made.type));
    std::string operands_text;
    for (const Operand& operand : operands) {
      operands_text += fmt::format("{} {} ({} x {}); ", describe(types_, operand.type),
                                   static_cast<int>(types_[operand.type].along), operand.shape.rows,
                                   operand.shape.cols);
    }
    CAPTURE(operands_text);
    smt::Query query = session_.query(smt::Logic::functions);
    write_lemma(kind, query);
    const smt::Answer answer = session_.solve(query);
    CHECK(std::holds_alternative<smt::Impossible>(answer));
  }

  [[nodiscard]] std::size_t steps() const { return steps_; }
  [[nodiscard]] std::size_t typed() const { return typed_; }
  [[nodiscard]] std::size_t violations() const { return violations_; }
  [[nodiscard]] std::size_t asked() const { return asked_.size(); }

 private:
  void add_slice(std::uint32_t dimension, std::uint32_t part, Along along, bool stacked,
                 ValueId value) {
    Type type;
    type.kind = Type::Kind::slice;
    type.along = along;
    type.stacked = stacked;
    type.dimension = dimension;
    type.value = value;
    type.parts = types_.part(dimension, part);
    all_.push_back(types_.number(type));
  }
  void add_partial(std::uint32_t dimension, std::uint32_t part, bool largest, ValueId value) {
    Type type;
    type.kind = Type::Kind::partial;
    type.largest = largest;
    type.dimension = dimension;
    type.value = value;
    type.parts = types_.part(dimension, part);
    all_.push_back(types_.number(type));
  }

  ir::Program program_;
  Types types_;
  std::vector<TypeId> all_;
  std::set<StepKind> asked_;
  smt::Session session_;
  std::size_t steps_ = 0, typed_ = 0, violations_ = 0;
};

constexpr std::uint64_t kSizes[] = {1, 4};

TEST_CASE("types: every op of one operand does what its type says") {
  Table table;
  for (const ir::OpKind op :
       {ir::OpKind::copy, ir::OpKind::scale, ir::OpKind::neg, ir::OpKind::silu, ir::OpKind::gelu,
        ir::OpKind::sigmoid, ir::OpKind::exp, ir::OpKind::cast, ir::OpKind::softmax,
        ir::OpKind::rmsnorm, ir::OpKind::topk, ir::OpKind::sum, ir::OpKind::max}) {
    const bool reduces = op == ir::OpKind::sum || op == ir::OpKind::max;
    for (const TypeId type : table.all()) {
      for (const std::uint64_t rows : kSizes) {
        for (const std::uint64_t cols : kSizes) {
          const Shape in{rows, cols};
          table.compare({op, 2.0}, {{type, in}}, in);
          if (!reduces) continue;
          table.compare({op, 1.0}, {{type, in}}, {1, cols});
          table.compare({op, 1.0}, {{type, in}}, {rows, 1});
          table.compare({op, 1.0}, {{type, in}}, {1, 1});
        }
      }
    }
  }
  MESSAGE(table.steps() << " steps, " << table.typed() << " typed, " << table.violations()
                        << " refuted, " << table.asked() << " lemmas");
  CHECK(table.asked() > 30);
  CHECK(table.violations() > 50);
}

TEST_CASE("types: every op of two operands, element by element, does what its type says") {
  Table table;
  for (const ir::OpKind op : {ir::OpKind::add, ir::OpKind::sub, ir::OpKind::mul,
                              ir::OpKind::rmsnorm, ir::OpKind::quantise, ir::OpKind::dequantise}) {
    for (const TypeId a : table.all()) {
      for (const TypeId b : table.all()) {
        for (const std::uint64_t rows : kSizes) {
          for (const std::uint64_t cols : kSizes) {
            const Shape out{rows, cols};
            table.compare({op, 1.0}, {{a, out}, {b, out}}, out);
            table.compare({op, 1.0}, {{a, out}, {b, {1, cols}}}, out);
            table.compare({op, 1.0}, {{a, out}, {b, {rows, 1}}}, out);
          }
        }
      }
    }
  }
  MESSAGE(table.steps() << " steps, " << table.typed() << " typed, " << table.violations()
                        << " refuted, " << table.asked() << " lemmas");
  CHECK(table.asked() > 60);
  CHECK(table.violations() > 1000);
}

TEST_CASE("types: a scale is that of a block, not spread over all parts") {
  Table table;
  for (const ir::OpKind op : {ir::OpKind::quantise, ir::OpKind::dequantise}) {
    for (const TypeId type : table.all()) {
      for (const Shape scale : {Shape{1, 1}, Shape{1, 2}, Shape{2, 1}, Shape{2, 2}})
        table.compare({op, 1.0}, {{type, {4, 4}}, {type, scale}}, {4, 4});
    }
  }
  CHECK(table.typed() > 100);
}

TEST_CASE("types: products of matrices, gathers and convolutions do what their types say") {
  Table table;
  for (const TypeId a : table.all()) {
    for (const TypeId b : table.all()) {
      for (const std::uint64_t m : kSizes) {
        for (const std::uint64_t k : kSizes) {
          for (const std::uint64_t n : kSizes) {
            table.compare({ir::OpKind::matmul, 1.0}, {{a, {m, k}}, {b, {k, n}}}, {m, n});
            for (const TypeId c : {a, b, Types::kZero}) {
              table.compare({ir::OpKind::matmul, 1.0}, {{a, {m, k}}, {b, {k, n}}, {c, {m, n}}},
                            {m, n});
            }
            table.compare({ir::OpKind::gather, 1.0}, {{a, {4, n}}, {b, {m, 1}}}, {m, n});
          }
        }
      }
      table.compare({ir::OpKind::conv1d, 1.0}, {{a, {4, 4}}, {b, {4, 4}}}, {1, 4});
      table.compare({ir::OpKind::conv1d, 1.0}, {{a, {4, 4}}, {b, {4, 4}}, {table.all()[1], {1, 4}}},
                    {1, 4});
      table.compare({ir::OpKind::rope, 1.0}, {{a, {1, 4}}, {b, {1, 1}}, {b, {1, 1}}}, {1, 4});
      table.compare({ir::OpKind::rope, 1.0}, {{a, {4, 4}}, {b, {4, 1}}, {b, {4, 1}}}, {4, 4});
    }
  }
  MESSAGE(table.steps() << " steps, " << table.typed() << " typed, " << table.violations()
                        << " refuted, " << table.asked() << " lemmas");
  CHECK(table.asked() > 60);
  CHECK(table.violations() > 1000);
}

TEST_CASE("types: Z3 finds values where a type is wrong") {
  using Kind = Type::Kind;
  const StepKind::Content partial{Kind::partial, Along::inside, false, false, 1, 2};
  const StepKind::Content whole{Kind::replicated, Along::inside, false, false, 1, 2};
  const StepKind::Content columns{Kind::slice, Along::columns, false, false, 1, 2};
  const StepKind::Content rows{Kind::slice, Along::rows, false, false, 2, 2};
  smt::Session session;
  const auto wrong = [&](ir::OpKind op, std::vector<StepKind::Content> operands,
                         StepKind::Content result) {
    smt::Query query = session.query(smt::Logic::functions);
    write_lemma({op, 1.0, false, std::move(operands), result}, query);
    return std::holds_alternative<smt::Satisfied>(session.solve(query));
  };
  CHECK(wrong(ir::OpKind::silu, {partial}, partial));
  CHECK_FALSE(wrong(ir::OpKind::scale, {partial}, partial));
  CHECK(wrong(ir::OpKind::add, {partial, whole}, partial));
  CHECK_FALSE(wrong(ir::OpKind::add, {partial, partial}, partial));
  CHECK(wrong(ir::OpKind::mul, {partial, partial}, partial));
  CHECK(wrong(ir::OpKind::rmsnorm, {columns}, columns));
  CHECK(wrong(ir::OpKind::matmul, {columns, rows}, whole));
  CHECK_FALSE(wrong(ir::OpKind::matmul, {columns, rows}, partial));
  StepKind::Content largest = partial;
  largest.largest = true;
  CHECK(wrong(ir::OpKind::neg, {largest}, largest));
  CHECK_FALSE(wrong(ir::OpKind::copy, {largest}, largest));
}

TEST_CASE("types: Z3 finds sums that wrap around, and only those") {
  smt::Session session;
  const auto overflows = [&](std::vector<ir::ValueRange> values, unsigned bits) {
    smt::Query query = session.query(smt::Logic::bits);
    write_overflow({std::move(values), bits}, query);
    return std::holds_alternative<smt::Satisfied>(session.solve(query));
  };
  CHECK_FALSE(overflows({{-64, 63}, {-64, 64}}, 8));
  CHECK(overflows({{-64, 64}, {-64, 64}}, 8));
  CHECK(overflows({{-65, 63}, {-64, 63}}, 8));
  CHECK_FALSE(overflows({{0, 31}, {0, 32}, {0, 32}, {0, 32}}, 8));
  CHECK(overflows({{0, 32}, {0, 32}, {0, 32}, {0, 32}}, 8));
  constexpr std::int64_t kHalf = std::int64_t{1} << 62U;
  CHECK_FALSE(overflows({{-kHalf, kHalf - 1}, {-kHalf, kHalf}}, 64));
  CHECK(overflows({{-kHalf, kHalf}, {-kHalf, kHalf}}, 64));
}

}  // namespace
}  // namespace spatialcert::proofs::reduction
