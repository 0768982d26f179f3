// The table of types, by name: what an op makes of contents, and what it refuses. The lemmas
// (transfer_test.cpp) do not see what is stacked or inside a part, and nothing that is refused.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cctype>
#include <sstream>

#include "proofs/reduction/transfer.hpp"
#include "tests/proofs/draft.hpp"

namespace spatialcert::proofs::reduction {
namespace {

using Kind = Type::Kind;
using ir::OpKind;

/// Dimensions: 0 and 1 of two parts, 2 of one part, 3 of 65.
ir::Program dimensions() {
  tests::Draft d("dimensions");
  std::string all;
  int number = 0;
  for (const int count : {2, 2, 1, 65}) {
    std::string parts;
    for (int p = 0; p < count; ++p) {
      const std::string name = fmt::format("t{}.{}", number, p);
      d.tensor(name, "external", 1, "f32", R"("owner": 0)");
      parts += fmt::format(R"({}{{"tensor": "{}", "ranges": [[{}, {}]]}})", p == 0 ? "" : ", ",
                           name, p, p + 1);
    }
    all += fmt::format(
        R"({0}{{"full": "t{1}", "rows": {2}, "cols": 4, "axis": "rows", "dimension": "d{1}", "parts": [{3}]}})",
        number == 0 ? "" : ", ", number, count, parts);
    ++number;
  }
  d.member("slices", "[" + all + "]");
  return d.tensor("x", "external").tensor("y").engine("compute", {"run work x > y"}).program();
}

/// Contents as words: `0` zeros, `?` nothing known, `x` and `y` whole; of part n a partial sum `pn`
/// of x or `qn` of y, a partial maximum `mn`, a slice along rows `rn`, columns `cn`, a line `ln`,
/// some axis `un`, or inside `in`. More: `+n` another part, `s` stacked, `h` dimension 1, `o` 2,
/// `w` 3, `:2x8` the shape, otherwise 4x4, and `:0x0` none.
class Table {
 public:
  Table() : program_(dimensions()), types_(program_) {
    x_ = types_.tensor_value(0);
    y_ = types_.tensor_value(1);
  }
  Types& types() { return types_; }

  TypeId type(const std::string& word) {
    const char head = word[0];
    if (head == '0') return Types::kZero;
    if (head == '?') return types_.unclear("nothing known");
    if (head == 'x' || head == 'y') return types_.replicated(head == 'x' ? x_ : y_);
    Type t;
    const std::size_t along = std::string("ircl").find(head);
    const bool partial = head == 'p' || head == 'q' || head == 'm';
    t.kind = partial ? Kind::partial : Kind::slice;
    if (!partial) t.along = head == 'u' ? Along::unclear : static_cast<Along>(along);
    t.largest = head == 'm';
    t.value = head == 'q' ? y_ : x_;
    t.stacked = word.find('s') != std::string::npos;
    const auto has = [&](char mark) { return word.find(mark) != std::string::npos; };
    t.dimension = has('h') ? 1 : has('o') ? 2 : has('w') ? 3 : 0;
    t.parts = Parts((types_.dimensions()[t.dimension].parts + 63) / 64, 0);
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (i != 0 && word[i] != '+') continue;
      const Parts part =
          types_.part(t.dimension, static_cast<std::uint32_t>(std::stoul(word.substr(i + 1))));
      for (std::size_t w = 0; w < part.size(); ++w) t.parts[w] |= part[w];
    }
    return types_.number(t);
  }

  /// The same words for a type; whatever is whole is `x`.
  std::string word(TypeId id) const {
    const Type& t = types_[id];
    if (t.kind == Kind::zero) return "0";
    if (t.kind == Kind::unclear) return "?";
    if (t.kind == Kind::replicated) return "x";
    std::string out;
    for (std::uint32_t p = 0; p < types_.dimensions()[t.dimension].parts; ++p) {
      if ((t.parts[p / 64] >> (p % 64) & 1U) != 0) out += fmt::format("+{}", p);
    }
    const bool partial = t.kind == Kind::partial;
    out[0] = partial ? (t.largest ? 'm' : 'p') : "ircl"[0];
    if (!partial) out[0] = t.along == Along::unclear ? 'u' : "ircl"[static_cast<int>(t.along)];
    return out + (t.stacked ? "s" : "") + (t.dimension == 1 ? "h" : t.dimension == 3 ? "w" : "");
  }

  static Shape shape(const std::string& text) {
    const auto by = text.find('x');
    return {std::stoul(text.substr(0, by)), std::stoul(text.substr(by + 1))};
  }

  Transferred made(OpKind op, const std::string& operands, Shape out, double scale = 1.0) {
    std::vector<Operand> list;
    std::istringstream in(operands);
    for (std::string w; in >> w;) {
      const auto colon = w.find(':');
      list.push_back({type(w.substr(0, colon)),
                      colon == std::string::npos ? Shape{4, 4} : shape(w.substr(colon + 1))});
    }
    return transfer(types_, {op, scale}, list, out);
  }
  std::string says(const Transferred& made) const {
    return made.violation ? std::string(to_string(made.violation->kind)) : word(made.type);
  }
  std::string reduced(OpKind op, const std::string& operands) {
    std::vector<TypeId> list;
    std::istringstream in(operands);
    for (std::string w; in >> w;) list.push_back(type(w));
    return says(all_reduce(types_, op, list));
  }

 private:
  ir::Program program_;
  Types types_;
  ValueId x_ = 0, y_ = 0;
};

struct Row {
  OpKind op;
  const char* operands;
  const char* result;
  Shape out{4, 4};
};

void agrees(const std::vector<Row>& rows) {
  Table table;
  for (const Row& row : rows) {
    CAPTURE(ir::to_string(row.op));
    CAPTURE(row.operands);
    CHECK(table.says(table.made(row.op, row.operands, row.out)) == row.result);
  }
}

TEST_CASE("types: the table, element by element") {
  agrees({{OpKind::add, "c0 c0h", "?"},
          {OpKind::add, "c0 c1", "mismatch"},
          {OpKind::add, "c0s c0", "c0"},
          {OpKind::add, "c0 c0s", "c0"},
          {OpKind::add, "c0 r0", "u0"},
          {OpKind::add, "c0 i0", "c0"},
          {OpKind::add, "x c0", "c0"},
          {OpKind::add, "x ?", "?"},
          {OpKind::add, "x x", "x"},
          {OpKind::add, "c0 c0:4x1", "?"},
          {OpKind::add, "c0s c0s:4x1", "c0s"},
          {OpKind::add, "x c0s:4x1", "i0s"},
          {OpKind::add, "x r0:1x4", "?"},
          {OpKind::add, "x r0s:1x4", "i0s"},
          {OpKind::silu, "c0", "c0"},
          {OpKind::silu, "p0", "nonlinear"},
          {OpKind::silu, "?", "?"},
          {OpKind::select, "x p0", "nonlinear"},
          {OpKind::scale, "p0", "p0"},
          {OpKind::scale, "m0", "nonlinear"},
          {OpKind::copy, "m0", "m0"},
          {OpKind::mul, "p0 x", "p0"},
          {OpKind::mul, "p0 p0", "nonlinear"},
          {OpKind::mul, "p0 c0", "?"},
          {OpKind::mul, "m0 x", "nonlinear"}});
}

TEST_CASE("types: the table, sums of operands") {
  agrees({{OpKind::add, "p0 x", "double-contribution"},
          {OpKind::add, "p0 p1", "p0+1"},
          {OpKind::add, "p0 0", "p0"},
          {OpKind::add, "0 0", "0"},
          {OpKind::add, "p0 p0", "p0"},
          {OpKind::add, "p0 q0", "p0"},
          {OpKind::add, "p0 q1", "?"},
          {OpKind::add, "p0 p1h", "?"},
          {OpKind::add, "p0 p0h", "?"},
          {OpKind::add, "p0 c0", "?"},
          {OpKind::add, "p0 c1", "?"},
          {OpKind::add, "m0 p0", "nonlinear"},
          {OpKind::add, "p0 m0", "?"},
          {OpKind::add, "p0 m1", "?"},
          {OpKind::add, "p0+1 p1", "double-contribution"},
          {OpKind::add, "p0 p1 p1", "double-contribution"},
          {OpKind::add, "p0+64w p64w", "double-contribution"},
          {OpKind::add, "p0 q0 p1", "?"},
          {OpKind::sub, "p0 p1", "?"},
          {OpKind::sub, "p0 p0", "p0"}});
}

TEST_CASE("types: the table, whole rows") {
  agrees({{OpKind::rmsnorm, "c0 x", "nonlinear"},
          {OpKind::rmsnorm, "r0 x:1x4", "r0"},
          {OpKind::rmsnorm, "u0 x:1x4", "?"},
          {OpKind::rmsnorm, "r0 c0:1x4", "?"},
          {OpKind::rmsnorm, "r0 c0s:1x4", "?"},
          {OpKind::rmsnorm, "r0s c0:1x4", "?"},
          {OpKind::rmsnorm, "c0s c0s:1x4", "c0s"},
          {OpKind::softmax, "c0", "nonlinear"},
          {OpKind::softmax, "c0s", "c0s"},
          {OpKind::topk, "c0", "nonlinear"},
          {OpKind::topk, "c0s", "i0s"},
          {OpKind::rope, "c0 x x", "nonlinear"},
          {OpKind::rope, "r0 x x", "r0"},
          {OpKind::rope, "p0 x x", "p0"},
          {OpKind::rope, "p0 p0 x", "nonlinear"},
          {OpKind::rope, "p0 c0 x", "?"},
          {OpKind::rope, "x p0 x", "nonlinear"},
          {OpKind::rope, "x c0 p0", "nonlinear"}});
}

TEST_CASE("types: the table, reductions") {
  agrees({{OpKind::sum, "c0", "p0", {4, 1}},
          {OpKind::sum, "c0", "c0", {1, 4}},
          {OpKind::sum, "c0", "p0", {1, 1}},
          {OpKind::sum, "r0", "p0", {1, 4}},
          {OpKind::sum, "r0", "r0", {4, 1}},
          {OpKind::sum, "r0", "p0", {1, 1}},
          {OpKind::max, "c0", "m0", {4, 1}},
          {OpKind::sum, "c0s", "i0s", {4, 1}},
          {OpKind::sum, "u0", "?", {1, 4}},
          {OpKind::sum, "c0:0x0", "?", {0, 0}},
          {OpKind::sum, "c0 c0", "?", {4, 1}},
          {OpKind::sum, "c0o", "x", {4, 1}},
          {OpKind::sum, "p0", "p0", {4, 1}},
          {OpKind::max, "p0", "nonlinear", {4, 1}},
          {OpKind::max, "m0", "m0", {4, 1}},
          {OpKind::sum, "m0", "nonlinear", {4, 1}}});
}

TEST_CASE("types: the table, products of matrices") {
  agrees(
      {{OpKind::matmul, "c0 r0", "p0"},        {OpKind::matmul, "c0 r1", "mismatch"},
       {OpKind::matmul, "c0 r0h", "mismatch"}, {OpKind::matmul, "c0 c0h", "?"},
       {OpKind::matmul, "c0 c0", "?"},         {OpKind::matmul, "i0s r0", "p0"},
       {OpKind::matmul, "i0 r0", "?"},         {OpKind::matmul, "c0 i0s", "p0"},
       {OpKind::matmul, "c0 i0", "?"},         {OpKind::matmul, "x c0", "c0"},
       {OpKind::matmul, "r0 x", "r0"},         {OpKind::matmul, "c0 x", "?"},
       {OpKind::matmul, "c0s x", "i0s"},       {OpKind::matmul, "x r0", "?"},
       {OpKind::matmul, "x r0s", "i0s"},       {OpKind::matmul, "u0s x", "u0s"},
       {OpKind::matmul, "r0 c0", "?"},         {OpKind::matmul, "r0s c0", "?"},
       {OpKind::matmul, "r0s c0s", "u0s"},     {OpKind::matmul, "r0 i0s", "?"},
       {OpKind::matmul, "i0s c0", "?"},        {OpKind::matmul, "i0 i0s", "i0"},
       {OpKind::matmul, "u0 i0", "?"},         {OpKind::matmul, "c0s r0s", "i0s"},
       {OpKind::matmul, "c0s r0", "p0"},       {OpKind::matmul, "x x 0", "x"},
       {OpKind::matmul, "x x c0", "c0"},       {OpKind::matmul, "c0 r0 x", "double-contribution"},
       {OpKind::matmul, "c0 r0 c0", "?"}});
}

TEST_CASE("types: the table, what is treated one by one") {
  agrees({{OpKind::gather, "x p0:4x1", "nonlinear"},
          {OpKind::gather, "p0 x:4x1", "p0"},
          {OpKind::gather, "m0 x:4x1", "nonlinear"},
          {OpKind::gather, "p0 c0:4x1", "nonlinear"},
          {OpKind::gather, "r0 r1:4x1", "mismatch"},
          {OpKind::gather, "r0 r0:4x1", "?"},
          {OpKind::gather, "r0s r0s:4x1", "u0s"},
          {OpKind::gather, "r0s r0:4x1", "?"},
          {OpKind::gather, "r0 x:4x1", "?"},
          {OpKind::gather, "r0s x:4x1", "i0s"},
          {OpKind::gather, "c0 x:4x1", "c0"},
          {OpKind::gather, "x r0:4x1", "r0"},
          {OpKind::gather, "x c0:4x1", "?"},
          {OpKind::gather, "x c0:1x4", "r0"},
          {OpKind::gather, "x r0:4x4", "?"},
          {OpKind::conv1d, "c0 c0", "c0"},
          {OpKind::conv1d, "p0 x", "p0"},
          {OpKind::conv1d, "m0 x", "nonlinear"},
          {OpKind::conv1d, "p0 x x", "nonlinear"},
          {OpKind::conv1d, "x p0", "nonlinear"},
          {OpKind::conv1d, "p0 p0", "nonlinear"},
          {OpKind::conv1d, "p0 c0", "?"},
          {OpKind::conv1d, "r0 x", "?"},
          {OpKind::gated_delta, "p0 x", "nonlinear"},
          {OpKind::gated_delta, "c0 x", "?"},
          {OpKind::gated_delta, "c0s c1s", "mismatch"},
          {OpKind::gated_delta, "c0s c0sh", "?"},
          {OpKind::gated_delta, "x c0s", "u0s"},
          {OpKind::gated_delta, "c0s x", "c0s"},
          {OpKind::gated_delta, "x x", "x"}});
}

TEST_CASE("types: the table, all-reduces") {
  Table table;
  const auto sum = [&](const std::string& operands) {
    return table.reduced(OpKind::add, operands);
  };
  const auto largest = [&](const std::string& operands) {
    return table.reduced(OpKind::max, operands);
  };
  CHECK(sum("p0 p1") == "x");
  CHECK(sum("p0") == "p0");
  CHECK(sum("p1") == "p1");
  CHECK(sum("0 p0 p1") == "x");
  CHECK(sum("0 0") == "0");
  CHECK(sum("x") == "x");
  CHECK(sum("x x") == "double-contribution");
  CHECK(sum("x p0") == "double-contribution");
  CHECK(sum("p0 p1 x") == "double-contribution");
  CHECK(sum("p0 p0") == "double-contribution");
  CHECK(sum("p0 p1h") == "?");
  CHECK(sum("p0 q1") == "?");
  CHECK(sum("? p0 p1") == "?");
  CHECK(sum("p0 p1 ?") == "?");
  CHECK(sum("m0 m1") == "nonlinear");
  CHECK(sum("i0s i1s") == "x");
  CHECK(sum("i0s") == "p0");
  CHECK(sum("i0s p1") == "x");
  CHECK(sum("i0 i1") == "nonlinear");
  CHECK(sum("c0s c1s") == "nonlinear");
  CHECK(sum("p0w p64w") == "p0+64w");
  CHECK(largest("m0 m1") == "x");
  CHECK(largest("m0") == "m0");
  CHECK(largest("m0 m1 0") == "double-contribution");
  CHECK(largest("p0 p1") == "nonlinear");
  CHECK(largest("i0s") == "m0");
  // Every part of the first word but one, or all of it but nothing of the second.
  std::string first;
  for (int p = 0; p < 64; ++p) first += fmt::format("p{}w ", p);
  CHECK(sum(first) != "x");
  CHECK(sum(first + "p64w") == "x");
}

TEST_CASE("types: mixtures of contents, and other shapes of them") {
  Table table;
  Types& types = table.types();
  const auto mixed = [&](const char* a, const char* b) {
    return table.word(blend(types, table.type(a), table.type(b)));
  };
  CHECK(mixed("c0", "c0s") == "c0");
  CHECK(mixed("c0s", "c0") == "c0");
  CHECK(mixed("c0", "r0") == "u0");
  CHECK(mixed("i0", "c0") == "c0");
  CHECK(mixed("c0", "c1") == "?");
  CHECK(mixed("c0", "p0") == "?");
  CHECK(mixed("p0", "m0") == "?");
  CHECK(mixed("?", "x") == "?");
  CHECK(mixed("x", "?") == "?");
  CHECK(mixed("0", "c0") == "c0");
  const auto value = [&](const char* a, const char* b) {
    return types[blend(types, table.type(a), table.type(b))].value;
  };
  for (const auto& [a, b] : {std::pair("x", "y"), std::pair("0", "x"), std::pair("x", "0")}) {
    CHECK(value(a, b) != types[table.type("x")].value);
    CHECK(value(a, b) != types[table.type("y")].value);
    CHECK(value(a, b) == value(b, a));
  }
  const auto range = [&](std::uint32_t a, std::uint32_t b) {
    return types[blend(types, types.with_range(table.type("x"), a),
                       types.with_range(table.type("x"), b))]
        .range;
  };
  const std::uint32_t high = types.number_of({0, 5}), low = types.number_of({-3, 2});
  CHECK(range(high, low) == types.number_of({-3, 5}));
  CHECK(range(low, high) == types.number_of({-3, 5}));
  CHECK(range(high, 0) == 0);
  CHECK(range(0, high) == 0);
  const auto seen = [&](const char* word, Shape from, Shape to) {
    return table.word(reshaped(types, table.type(word), from, to));
  };
  CHECK(seen("c0", {1, 4}, {4, 1}) == "r0");
  CHECK(seen("r0", {4, 1}, {1, 4}) == "c0");
  CHECK(seen("c0", {4, 1}, {1, 4}) == "i0");
  CHECK(seen("c0", {4, 4}, {2, 8}) == "u0");
  CHECK(seen("c0", {4, 4}, {1, 16}) == "u0");
  CHECK(seen("r0", {4, 4}, {1, 16}) == "c0");
  CHECK(seen("r0", {4, 4}, {2, 8}) == "u0");
  CHECK(seen("l0", {}, {4, 1}) == "r0");
  CHECK(seen("l0", {}, {1, 4}) == "c0");
  CHECK(seen("l0", {}, {4, 4}) == "u0");
}

TEST_CASE("types: equal contents of the model are equal numbers, and no others") {
  Table table;
  const auto value = [&](OpKind op, const char* operands, Shape out = {4, 4}, double scale = 1.0) {
    return table.types()[table.made(op, operands, out, scale).type].value;
  };
  const auto x = table.types()[table.type("x")].value;
  CHECK(value(OpKind::copy, "x") == x);
  CHECK(value(OpKind::silu, "x") == value(OpKind::silu, "x"));
  CHECK(value(OpKind::silu, "x") == value(OpKind::silu, "c0"));
  CHECK(value(OpKind::silu, "x") != value(OpKind::gelu, "x"));
  CHECK(value(OpKind::silu, "x") != value(OpKind::silu, "y"));
  CHECK(value(OpKind::mul, "x x") != value(OpKind::mul, "x y"));
  CHECK(value(OpKind::scale, "x", {4, 4}, 2) != value(OpKind::scale, "x", {4, 4}, 3));
  CHECK(value(OpKind::sum, "x", {1, 4}) != value(OpKind::sum, "x", {4, 1}));
  CHECK(value(OpKind::add, "p0 p1") == x);
  CHECK(value(OpKind::add, "p0 q0") != x);
  CHECK(table.types().full_value(0) != table.types().full_value(1));
}

}  // namespace
}  // namespace spatialcert::proofs::reduction
