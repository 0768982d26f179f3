// Every kind of work, built in many ways: it certifies, and its values are those of a plain loop.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "ir/machine/number.hpp"
#include "tests/sections/fixture.hpp"

namespace spatialcert::tests {
namespace {

using namespace compose::sections;  // NOLINT: the words of descriptions
using ir::OpKind;
using ir::machine::rounded;
using Tiling = SectionDescription::Tiling;

SectionTensor given(const std::string& name, std::uint64_t rows, std::uint64_t cols,
                    DType type = DType::i32) {
  return {name, rows, cols, type, ir::TensorRole::input};
}

/// Every element by its row and column.
template <typename T, typename Function>
Matrix filled(DType type, std::uint64_t rows, std::uint64_t cols, Function function) {
  std::vector<T> values;
  for (std::uint64_t r = 0; r < rows; ++r) {
    for (std::uint64_t c = 0; c < cols; ++c) values.push_back(function(r, c));
  }
  return Matrix::of(type, rows, cols, std::move(values));
}

TEST_CASE("matmul of integers") {
  struct Size {
    std::uint64_t rows, inner, cols;
  };
  // Multiples of the tile, ragged edges in every dimension, one tile, one element.
  for (const Size& s :
       {Size{8, 12, 8}, Size{7, 11, 9}, Size{2, 3, 2}, Size{1, 1, 1}, Size{5, 8, 4}}) {
    for (const Variation& v : variations({{2, 4, 4}, {4, 3, 5}, {3, 16, 16}})) {
      CAPTURE(s.rows);
      CAPTURE(v.text());
      const auto description = describe(
          Matmul{"a", "b", "c", {}},
          {given("a", s.rows, s.inner), given("b", s.inner, s.cols), given("c", s.rows, s.cols)},
          v);
      check_section(description, "c", [&](const Contents& of) {
        return filled<std::int64_t>(DType::i32, s.rows, s.cols, [&](auto r, auto c) {
          std::int64_t sum = 0;
          for (std::uint64_t k = 0; k < s.inner; ++k) {
            sum += of("a").at<std::int64_t>(r, k) * of("b").at<std::int64_t>(k, c);
          }
          return sum;
        });
      });
    }
  }
}

TEST_CASE("matmul in bf16 with sums in f32, and a matrix times itself") {
  for (const Variation& v : variations({{2, 4, 4}})) {
    CAPTURE(v.text());
    const auto description =
        describe(Matmul{"a", "a", "c", {}},
                 {given("a", 6, 6, DType::bf16), given("c", 6, 6, DType::bf16)}, v, DType::bf16);
    check_section(description, "c", [&](const Contents& of) {
      return filled<double>(DType::bf16, 6, 6, [&](auto r, auto c) {
        double sum = 0;
        for (std::uint64_t k = 0; k < 6; ++k) {
          sum += of("a").template at<double>(r, k) * of("a").template at<double>(k, c);
          // A tile of the inner dimension is one run, and what it leaves is rounded.
          if (k % 4 == 3) sum = rounded(sum, DType::f32);
        }
        return rounded(sum, DType::bf16);
      });
    });
  }
}

TEST_CASE("matmul of narrow integers with sums in wide ones") {
  const auto description = describe(
      Matmul{"a", "b", "c", DType::i16},
      {given("a", 4, 4, DType::i8), given("b", 4, 4, DType::i8), given("c", 4, 4, DType::i32)},
      {2, Split::rows, Handover::fifo, 2, {2, 2, 2}});
  const auto built = compose::build_section(description);
  REQUIRE(built.has_value());
  CHECK(std::any_of(built->buffers.begin(), built->buffers.end(), [](const ir::Buffer& b) {
    return b.kind == ir::BufferKind::interm && b.tile->dtype == DType::i16;
  }));
  check_section(description, "c", [&](const Contents& of) {
    return filled<std::int64_t>(DType::i32, 4, 4, [&](auto r, auto c) {
      std::int64_t sum = 0;
      for (std::uint64_t k = 0; k < 4; ++k) {
        sum += of("a").template at<std::int64_t>(r, k) * of("b").template at<std::int64_t>(k, c);
      }
      return sum;
    });
  });
}

TEST_CASE("elementwise ops on narrow integers give wide ones") {
  const auto description =
      describe(Elementwise{add(tensor("a"), mul(tensor("b"), tensor("row"))), "z"},
               {given("a", 3, 4, DType::i8), given("b", 3, 4, DType::i16),
                given("row", 1, 4, DType::i8), given("z", 3, 4, DType::i32)},
               {1, Split::rows, Handover::fifo, 2, {2, 2, 1}});
  check_section(description, "z", [&](const Contents& of) {
    return filled<std::int64_t>(DType::i32, 3, 4, [&](auto r, auto c) {
      return of("a").template at<std::int64_t>(r, c) +
             of("b").template at<std::int64_t>(r, c) * of("row").template at<std::int64_t>(0, c);
    });
  });
}

TEST_CASE("elementwise expressions of integers, with rows and columns spread") {
  const Expression value =
      sub(mul(add(tensor("x"), tensor("row")), scale(tensor("y"), 3)),
          mul(neg(tensor("column")), add(tensor("x"), mul(tensor("one"), tensor("row")))));
  for (const auto& [rows, cols] :
       {std::pair<std::uint64_t, std::uint64_t>{8, 8}, {7, 9}, {1, 5}, {5, 1}}) {
    for (const Variation& v : variations({{2, 4, 1}, {3, 2, 1}, {16, 16, 1}})) {
      CAPTURE(rows);
      CAPTURE(cols);
      CAPTURE(v.text());
      const auto description =
          describe(Elementwise{value, "z"},
                   {given("x", rows, cols), given("y", rows, cols), given("row", 1, cols),
                    given("column", rows, 1), given("one", 1, 1), given("z", rows, cols)},
                   v);
      check_section(description, "z", [&, h = rows, w = cols](const Contents& of) {
        const auto at = [&](const char* name, auto r, auto c) {
          return of(name).at<std::int64_t>(r, c);
        };
        return filled<std::int64_t>(DType::i32, h, w, [&](auto r, auto c) {
          const std::int64_t x = at("x", r, c), row = at("row", 0, c);
          return (x + row) * (at("y", r, c) * 3) -
                 -at("column", r, 0) * (x + at("one", 0, 0) * row);
        });
      });
    }
  }
}

TEST_CASE("elementwise functions in bf16, rounded after every op, in place or not") {
  const auto round = [](double x) { return rounded(x, DType::bf16); };
  for (const std::string result : {"z", "x"}) {
    for (const Variation& v : variations({{2, 4, 1}, {3, 3, 1}})) {
      CAPTURE(v.text());
      const auto description = describe(
          Elementwise{mul(silu(tensor("x")), add(sigmoid(tensor("g")), gelu(exp(tensor("x"))))),
                      result},
          {given("x", 6, 7, DType::bf16), given("g", 6, 7, DType::bf16),
           given("z", 6, 7, DType::bf16)},
          v, DType::bf16);
      check_section(description, result, [&](const Contents& of) {
        return filled<double>(DType::bf16, 6, 7, [&](auto r, auto c) {
          const double x = of("x").at<double>(r, c), g = of("g").at<double>(r, c);
          const double left = round(x * (1 / (1 + std::exp(-x))));
          const double gate = round(1 / (1 + std::exp(-g)));
          const double e = round(std::exp(x));
          const double right = round(e / 2 * (1 + std::erf(e / std::sqrt(2.0))));
          return round(left * round(gate + right));
        });
      });
    }
  }
}

TEST_CASE("an operator per row and an operand that is used many times") {
  Expression sum = tensor("x");
  for (int i = 0; i < 12; ++i) sum = add(std::move(sum), mul(tensor("x"), tensor("x")));
  const auto description = describe(Elementwise{sum, "z"}, {given("x", 5, 5), given("z", 5, 5)},
                                    {2, Split::columns, Handover::semaphores, 2, {2, 2, 1}});
  const auto built = compose::build_section(description);
  REQUIRE(built.has_value());
  // Scratch is given back: no more than two intermediate tiles per width.
  CHECK(std::count_if(built->buffers.begin(), built->buffers.end(), [](const ir::Buffer& b) {
          return b.kind == ir::BufferKind::scratch && b.site == ir::Site{1, 0, 1};
        }) <= 4);
  check_section(description, "z", [&](const Contents& of) {
    return filled<std::int64_t>(DType::i32, 5, 5, [&](auto r, auto c) {
      const std::int64_t x = of("x").at<std::int64_t>(r, c);
      return x + 12 * x * x;
    });
  });
}

TEST_CASE("sums and maxima of rows") {
  for (const OpKind op : {OpKind::sum, OpKind::max}) {
    for (const std::uint64_t rows : {8U, 7U, 1U}) {
      for (const Variation& v : variations({{2, 4, 1}, {3, 1, 1}}, true, false)) {
        CAPTURE(v.text());
        const auto description =
            describe(RowReduction{op, "x", "y"}, {given("x", rows, 9), given("y", rows, 1)}, v);
        check_section(description, "y", [&](const Contents& of) {
          return filled<std::int64_t>(DType::i32, rows, 1, [&](auto r, auto) {
            std::int64_t out = of("x").at<std::int64_t>(r, 0);
            for (std::uint64_t c = 1; c < 9; ++c) {
              const std::int64_t x = of("x").at<std::int64_t>(r, c);
              out = op == OpKind::sum ? out + x : std::max(out, x);
            }
            return out;
          });
        });
      }
    }
  }
}

TEST_CASE("rmsnorm and softmax of rows, in place or not") {
  for (const std::string result : {"y", "x"}) {
    for (const Variation& v : variations({{2, 4, 1}, {3, 4, 1}, {9, 1, 1}}, true, false)) {
      CAPTURE(v.text());
      const std::vector<SectionTensor> tensors = {given("x", 7, 10, DType::f32),
                                                  {"w", 1, 10, DType::f32, ir::TensorRole::weight},
                                                  given("y", 7, 10, DType::f32)};
      check_section(
          describe(RmsNorm{"x", "w", result}, tensors, v), result,
          [&](const Contents& of) {
            return filled<double>(DType::f32, 7, 10, [&](auto r, auto c) {
              double mean = 0;
              for (std::uint64_t k = 0; k < 10; ++k) {
                mean += std::pow(of("x").at<double>(r, k), 2) / 10;
              }
              return of("x").at<double>(r, c) * of("w").at<double>(0, c) / std::sqrt(mean + 1e-6);
            });
          },
          1e-6);
      check_section(
          describe(Softmax{"x", result}, tensors, v), result,
          [&](const Contents& of) {
            return filled<double>(DType::f32, 7, 10, [&](auto r, auto c) {
              double sum = 0;
              for (std::uint64_t k = 0; k < 10; ++k) {
                sum += std::exp(of("x").at<double>(r, k) - of("x").at<double>(r, c));
              }
              return 1 / sum;
            });
          },
          1e-6);
    }
  }
}

TEST_CASE("rotary embedding, head by head, with angles per row or shared") {
  for (const std::uint64_t angles : {5U, 1U}) {
    for (const Variation& v : variations({{2, 4, 1}, {8, 1, 1}})) {
      CAPTURE(v.text());
      const auto description = describe(
          Rope{"x", "cos", "sin", "y"},
          {given("x", 5, 12), given("cos", angles, 2), given("sin", angles, 2), given("y", 5, 12)},
          v);
      check_section(description, "y", [&](const Contents& of) {
        return filled<std::int64_t>(DType::i32, 5, 12, [&](auto r, auto c) {
          const std::uint64_t head = c / 4 * 4, j = c % 2, row = angles == 1 ? 0 : r;
          const std::int64_t a = of("x").at<std::int64_t>(r, head + j);
          const std::int64_t b = of("x").at<std::int64_t>(r, head + 2 + j);
          const std::int64_t co = of("cos").at<std::int64_t>(row, j);
          const std::int64_t si = of("sin").at<std::int64_t>(row, j);
          return c % 4 < 2 ? a * co - b * si : b * co + a * si;
        });
      });
    }
  }
}

TEST_CASE("rows gathered from a table") {
  Inputs inputs;
  inputs.tensors["index"] = Matrix::of(DType::i32, 5, 1, std::vector<std::int64_t>{3, 0, 3, 6, 1});
  for (const Variation& v : variations({{2, 4, 1}, {1, 3, 1}})) {
    CAPTURE(v.text());
    const auto description = describe(GatherRows{"table", "index", "y"},
                                      {{"table", 7, 9, DType::bf16, ir::TensorRole::weight},
                                       given("index", 5, 1),
                                       given("y", 5, 9, DType::bf16)},
                                      v);
    check_section(
        description, "y",
        [&](const Contents& of) {
          return filled<double>(DType::bf16, 5, 9, [&](auto r, auto c) {
            const auto row = of("index").at<std::int64_t>(r, 0);
            return of("table").at<double>(static_cast<std::uint64_t>(row), c);
          });
        },
        0, inputs);
  }
}

TEST_CASE("copies, and rows appended to a cache") {
  for (const Variation& v : variations({{2, 4, 1}, {3, 3, 1}})) {
    CAPTURE(v.text());
    check_section(
        describe(Copy{"x", "y"}, {given("x", 7, 9, DType::i8), given("y", 7, 9, DType::i8)}, v),
        "y", [](const Contents& of) { return of("x"); });
    for (const std::uint64_t position : {0U, 3U, 13U}) {
      check_section(
          describe(AppendRows{"k", "cache", position},
                   {given("k", 3, 9, DType::bf16), given("cache", 16, 9, DType::bf16)}, v),
          "cache", [&](const Contents& of) {
            return filled<double>(DType::bf16, 16, 9, [&](auto r, auto c) {
              const bool fresh = r >= position && r < position + 3;
              return fresh ? of("k").at<double>(r - position, c) : of("cache").at<double>(r, c);
            });
          });
    }
  }
}

TEST_CASE("a row appended to a cache as a column") {
  for (const Variation& v : variations({{1, 4, 1}, {3, 3, 1}}, false, true)) {
    CAPTURE(v.text());
    for (const std::uint64_t position : {0U, 4U}) {
      check_section(
          describe(AppendColumn{"k", "cache", position},
                   {given("k", 1, 11, DType::bf16), given("cache", 11, 5, DType::bf16)}, v),
          "cache", [&](const Contents& of) {
            return filled<double>(DType::bf16, 11, 5, [&](auto r, auto c) {
              return c == position ? of("k").at<double>(0, r) : of("cache").at<double>(r, c);
            });
          });
    }
  }
}

TEST_CASE("a recurrent state is updated in place") {
  for (const std::uint64_t tokens : {1U, 2U}) {
    for (const Variation& v : variations({{2, 4, 1}, {8, 3, 1}}, false, true)) {
      CAPTURE(v.text());
      const auto description =
          describe(DeltaUpdate{"s", "k", "v", "decay", "rate"},
                   {given("s", 4, 10, DType::f64), given("k", tokens, 4, DType::f64),
                    given("v", tokens, 10, DType::f64), given("decay", tokens, 1, DType::f64),
                    given("rate", tokens, 1, DType::f64)},
                   v, DType::f64);
      check_section(
          description, "s",
          [&](const Contents& of) {
            Matrix s = of("s");
            for (std::uint64_t t = 0; t < tokens; ++t) {
              const double decay = of("decay").reals[t], rate = of("rate").reals[t];
              // S (I - rate k k') written out, plus rate v k', with S as d x e.
              const Matrix old = s;
              for (std::uint64_t i = 0; i < 4; ++i) {
                for (std::uint64_t j = 0; j < 10; ++j) {
                  double value = decay * old.at<double>(i, j);
                  for (std::uint64_t l = 0; l < 4; ++l) {
                    value -= rate * of("k").at<double>(t, i) * of("k").at<double>(t, l) * decay *
                             old.at<double>(l, j);
                  }
                  s.reals[i * 10 + j] =
                      value + rate * of("k").at<double>(t, i) * of("v").at<double>(t, j);
                }
              }
            }
            return s;
          },
          1e-12);
    }
  }
}

}  // namespace
}  // namespace spatialcert::tests
