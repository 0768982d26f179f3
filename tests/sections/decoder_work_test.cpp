// The works that a decoder needs beside the plain ones: batches and scales of products, casts and
// choices, convolutions, the largest of a row, views, owners.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/machine/number.hpp"
#include "tests/sections/fixture.hpp"

namespace spatialcert::tests {
namespace {

using namespace compose::sections;  // NOLINT: the words of descriptions
using ir::OpKind;
using ir::machine::rounded;

SectionTensor given(const std::string& name, std::uint64_t rows, std::uint64_t cols,
                    DType type = DType::i32) {
  return {name, rows, cols, type, ir::TensorRole::input, {}, {}, 0};
}

SectionTensor view(const std::string& name, std::uint64_t rows, std::uint64_t cols,
                   const std::string& base, std::uint64_t offset = 0, DType type = DType::i32) {
  return {name, rows, cols, type, ir::TensorRole::activation, {}, base, offset};
}

template <typename T, typename Function>
Matrix filled(DType type, std::uint64_t rows, std::uint64_t cols, Function function) {
  std::vector<T> values;
  for (std::uint64_t r = 0; r < rows; ++r) {
    for (std::uint64_t c = 0; c < cols; ++c) values.push_back(function(r, c));
  }
  return Matrix::of(type, rows, cols, std::move(values));
}

TEST_CASE("a batch of products: stacked or side by side, one left factor or many, caches in part") {
  constexpr std::uint64_t kBatch = 3, kRows = 2, kInner = 7, kCols = 5;
  for (const bool side_by_side : {false, true}) {
    for (const bool shared : {false, true}) {
      for (const bool prefix : {false, true}) {
        const std::uint64_t rows = kInner + (prefix ? 2 : 0), cols = kCols + (prefix ? 3 : 0);
        for (const Variation& v : variations({{1, 2, 3}, {4, 16, 16}})) {
          CAPTURE(v.text());
          CAPTURE(side_by_side);
          const Matmul work{"a", "b", "c", {}, kBatch, side_by_side, prefix, {}};
          const auto description = describe(
              work,
              {given("a", shared ? kRows : kBatch * kRows, kInner),
               given("b", side_by_side ? rows : kBatch * rows, side_by_side ? kBatch * cols : cols),
               given("c", kBatch * kRows, kCols)},
              v);
          check_section(description, "c", [&](const Contents& of) {
            return filled<std::int64_t>(DType::i32, kBatch * kRows, kCols, [&](auto r, auto c) {
              const std::uint64_t one = r / kRows;
              std::int64_t sum = 0;
              for (std::uint64_t k = 0; k < kInner; ++k) {
                sum += of("a").at<std::int64_t>(shared ? r % kRows : r, k) *
                       of("b").at<std::int64_t>(side_by_side ? k : one * rows + k,
                                                side_by_side ? one * cols + c : c);
              }
              return sum;
            });
          });
        }
      }
    }
  }
}

TEST_CASE("one product with a right factor that lies in panels of columns") {
  constexpr std::uint64_t kPanels = 5, kRows = 2, kInner = 7, kWidth = 3;
  for (const Variation& v : variations({{1, 2, 3}, {4, 16, 16}})) {
    CAPTURE(v.text());
    const auto description =
        describe(Matmul{"a", "b", "c", {}, kPanels, false, false, {}, true},
                 {given("a", kRows, kInner), given("b", kPanels * kInner, kWidth),
                  given("c", kRows, kPanels * kWidth)},
                 v);
    check_section(description, "c", [&](const Contents& of) {
      return filled<std::int64_t>(DType::i32, kRows, kPanels * kWidth, [&](auto r, auto c) {
        std::int64_t sum = 0;
        for (std::uint64_t k = 0; k < kInner; ++k) {
          sum += of("a").template at<std::int64_t>(r, k) *
                 of("b").template at<std::int64_t>(c / kWidth * kInner + k, c % kWidth);
        }
        return sum;
      });
    });
  }
}

TEST_CASE("a product with weights of i8 and a scale per block, summed up in f32") {
  for (const Variation& v : variations({{1, 4, 6}, {2, 2, 3}, {4, 16, 16}})) {
    CAPTURE(v.text());
    const auto description = describe(Matmul{"a", "b", "c", {}, 1, false, false, "s"},
                                      {given("a", 2, 12, DType::bf16), given("b", 12, 8, DType::i8),
                                       given("s", 4, 4, DType::bf16), given("c", 2, 8, DType::f32)},
                                      v, DType::bf16);
    check_section(
        description, "c",
        [&](const Contents& of) {
          return filled<double>(DType::f32, 2, 8, [&](auto r, auto c) {
            double sum = 0;
            for (std::uint64_t k = 0; k < 12; ++k) {
              const double w =
                  rounded(static_cast<double>(of("b").template at<std::int64_t>(k, c)) *
                              of("s").template at<double>(k / 3, c / 2),
                          DType::bf16);
              sum += of("a").template at<double>(r, k) * w;
            }
            return sum;
          });
        },
        1e-5);
  }
}

TEST_CASE("a cast between types, inside an expression, and a choice") {
  for (const Variation& v : variations({{2, 4, 1}, {3, 3, 1}})) {
    CAPTURE(v.text());
    const auto description =
        describe(Elementwise{add(tensor("x"), select("i", cast("y"), scale(tensor("x"), 2))), "z"},
                 {given("x", 5, 7, DType::bf16), given("y", 5, 7, DType::f32), given("i", 5, 1),
                  given("z", 5, 7, DType::bf16)},
                 v, DType::bf16);
    check_section(description, "z", [&](const Contents& of) {
      return filled<double>(DType::bf16, 5, 7, [&](auto r, auto c) {
        const double x = of("x").template at<double>(r, c);
        const double y = rounded(of("y").template at<double>(r, c), DType::bf16);
        const bool chosen = of("i").template at<std::int64_t>(r, 0) != 0;
        return rounded(x + (chosen ? y : rounded(2 * x, DType::bf16)), DType::bf16);
      });
    });
  }
}

TEST_CASE("values that are quantised and back, a scale per block") {
  for (const Variation& v : variations({{2, 4, 1}, {4, 2, 1}})) {
    CAPTURE(v.text());
    const auto quantised = describe(
        Rescale{OpKind::quantise, "x", "s", "q"},
        {given("x", 6, 8, DType::f32), given("s", 3, 4, DType::f32), given("q", 6, 8, DType::i8)},
        v);
    const Inputs inputs{{{"s", filled<double>(DType::f32, 3, 4,
                                              [](auto r, auto c) {
                                                return 0.01 * static_cast<double>(1 + r + c);
                                              })}},
                        {},
                        1,
                        {}};
    check_section(
        quantised, "q",
        [&](const Contents& of) {
          return filled<std::int64_t>(DType::i8, 6, 8, [&](auto r, auto c) {
            const double q = std::nearbyint(of("x").template at<double>(r, c) /
                                            of("s").template at<double>(r / 2, c / 2));
            return static_cast<std::int64_t>(std::clamp(q, -128.0, 127.0));
          });
        },
        0, inputs);
    const auto back = describe(
        Rescale{OpKind::dequantise, "q", "s", "x"},
        {given("x", 6, 8, DType::f32), given("s", 3, 4, DType::f32), given("q", 6, 8, DType::i8)},
        v);
    check_section(back, "x", [&](const Contents& of) {
      return filled<double>(DType::f32, 6, 8, [&](auto r, auto c) {
        return rounded(static_cast<double>(of("q").template at<std::int64_t>(r, c)) *
                           of("s").template at<double>(r / 2, c / 2),
                       DType::f32);
      });
    });
  }
}

TEST_CASE("a convolution over the last inputs, which move up") {
  for (const Variation& v : variations({{1, 2, 1}, {1, 16, 1}}, false)) {
    CAPTURE(v.text());
    const auto shifted =
        describe(ShiftRows{"x", "window"}, {given("x", 1, 7), given("window", 4, 7)}, v);
    check_section(shifted, "window", [&](const Contents& of) {
      return filled<std::int64_t>(DType::i32, 4, 7, [&](auto r, auto c) {
        return r == 3 ? of("x").template at<std::int64_t>(0, c)
                      : of("window").template at<std::int64_t>(r + 1, c);
      });
    });
    for (const bool biased : {false, true}) {
      const auto description = describe(
          Conv1d{"window", "w", "y", biased ? "bias" : ""},
          {given("window", 5, 7), given("w", 4, 7), given("bias", 1, 7), given("y", 2, 7)}, v);
      check_section(description, "y", [&](const Contents& of) {
        return filled<std::int64_t>(DType::i32, 2, 7, [&](auto r, auto c) {
          std::int64_t sum = biased ? of("bias").template at<std::int64_t>(0, c) : 0;
          for (std::uint64_t t = 0; t < 4; ++t) {
            sum += of("w").template at<std::int64_t>(t, c) *
                   of("window").template at<std::int64_t>(r + t, c);
          }
          return sum;
        });
      });
    }
  }
}

TEST_CASE("rows again and again") {
  for (const Variation& v : variations({{2, 4, 1}, {3, 2, 1}})) {
    CAPTURE(v.text());
    const auto description =
        describe(RepeatRows{"x", "y"}, {given("x", 5, 6), given("y", 15, 6)}, v);
    check_section(description, "y", [&](const Contents& of) {
      return filled<std::int64_t>(DType::i32, 15, 6, [&](auto r, auto c) {
        return of("x").template at<std::int64_t>(r % 5, c);
      });
    });
  }
}

TEST_CASE("the largest of every row, as columns or as values") {
  for (const Variation& v : variations({{2, 4, 1}}, true, false)) {
    CAPTURE(v.text());
    for (const bool columns : {true, false}) {
      const DType type = columns ? DType::i32 : DType::f32;
      const auto description =
          describe(TopK{"x", "y"}, {given("x", 5, 9, DType::f32), given("y", 5, 3, type)}, v);
      check_section(description, "y", [&](const Contents& of) {
        std::vector<std::int64_t> at;
        std::vector<double> values;
        for (std::uint64_t r = 0; r < 5; ++r) {
          std::vector<std::int64_t> order = {0, 1, 2, 3, 4, 5, 6, 7, 8};
          const auto value = [&](std::int64_t c) {
            return of("x").template at<double>(r, static_cast<std::uint64_t>(c));
          };
          std::stable_sort(order.begin(), order.end(),
                           [&](auto a, auto b) { return value(a) > value(b); });
          for (std::size_t k = 0; k < 3; ++k) {
            at.push_back(order[k]);
            values.push_back(value(order[k]));
          }
        }
        return columns ? Matrix::of(type, 5, 3, at) : Matrix::of(type, 5, 3, values);
      });
    }
  }
}

TEST_CASE("the states of several heads are updated in place") {
  constexpr std::uint64_t kHeads = 3, kKeys = 4, kValues = 5, kTokens = 2;
  for (const Variation& v : variations({{4, 2, 1}, {1, 8, 1}})) {
    CAPTURE(v.text());
    const std::uint64_t rows = kHeads * kTokens;
    const auto description =
        describe(DeltaUpdate{"s", "k", "v", "decay", "rate", kHeads},
                 {given("s", kHeads * kKeys, kValues), given("k", rows, kKeys),
                  given("v", rows, kValues), given("decay", rows, 1), given("rate", rows, 1)},
                 v);
    Inputs small;
    for (const auto& [name, cols] : {std::pair<const char*, std::uint64_t>{"k", kKeys},
                                     {"v", kValues},
                                     {"decay", 1},
                                     {"rate", 1}}) {
      small.tensors[name] = filled<std::int64_t>(DType::i32, rows, cols, [](auto r, auto c) {
        return static_cast<std::int64_t>((r * 7 + c * 5) % 5) - 2;
      });
    }
    check_section(
        description, "s",
        [&](const Contents& of) {
          Matrix s = of("s");
          const auto at = [&](const char* name, auto r, auto c) {
            return of(name).template at<std::int64_t>(r, c);
          };
          for (std::uint64_t h = 0; h < kHeads; ++h) {
            for (std::uint64_t t = h * kTokens; t < (h + 1) * kTokens; ++t) {
              for (std::uint64_t e = 0; e < kValues; ++e) {
                const auto cell = [&](auto d) -> std::int64_t& {
                  return s.integers[(h * kKeys + d) * kValues + e];
                };
                std::int64_t seen = 0;
                for (std::uint64_t d = 0; d < kKeys; ++d) {
                  cell(d) *= at("decay", t, 0);
                  seen += at("k", t, d) * cell(d);
                }
                for (std::uint64_t d = 0; d < kKeys; ++d) {
                  cell(d) += at("k", t, d) * (at("rate", t, 0) * (at("v", t, e) - seen));
                }
              }
            }
          }
          return s;
        },
        0, small);
  }
}

TEST_CASE("views are read and written in the place of their bases") {
  for (const Variation& v : variations({{1, 2, 3}})) {
    CAPTURE(v.text());
    const auto read = describe(
        Matmul{"heads", "w", "y", {}},
        {given("x", 1, 14), view("heads", 3, 4, "x", 2), given("w", 4, 5), given("y", 3, 5)}, v);
    const auto built = compose::build_section(read);
    REQUIRE(built.has_value());
    CHECK(built->tensors[0].init == ir::Init::external);
    CHECK(built->tensors[1].init == ir::Init::undefined);
    CHECK(built->tensors[1].view->offset == 2);
    check_section(read, "y", [&](const Contents& of) {
      return filled<std::int64_t>(DType::i32, 3, 5, [&](auto r, auto c) {
        std::int64_t sum = 0;
        for (std::uint64_t k = 0; k < 4; ++k) {
          sum += of("x").template at<std::int64_t>(0, 2 + r * 4 + k) *
                 of("w").template at<std::int64_t>(k, c);
        }
        return sum;
      });
    });
  }
  const auto whole =
      describe(Copy{"x", "rows"}, {given("x", 3, 4), given("y", 1, 12), view("rows", 3, 4, "y")});
  const auto part = describe(Copy{"x", "rows"},
                             {given("x", 3, 4), given("y", 1, 13), view("rows", 3, 4, "y", 1)});
  const auto built_whole = compose::build_section(whole), built_part = compose::build_section(part);
  REQUIRE(built_whole.has_value());
  REQUIRE(built_part.has_value());
  CHECK(built_whole->tensors[1].role == ir::TensorRole::output);
  CHECK(built_whole->tensors[1].init == ir::Init::undefined);
  CHECK(built_part->tensors[1].role == ir::TensorRole::state);
  CHECK(built_part->tensors[1].init == ir::Init::external);
}

TEST_CASE("tensors of a chip are the chip's") {
  auto description = describe(Copy{"x", "y"}, {given("x", 3, 4), given("y", 3, 4)});
  for (SectionTensor& t : description.tensors) t.owner = 1;
  description.tensors[0].values = ir::ValueRange{-8, 8};
  const auto built = compose::build_section(description);
  REQUIRE(built.has_value());
  for (const ir::Tensor& t : built->tensors) CHECK(t.owner == 1U);
  CHECK(built->tensors[0].values->largest == 8);
  CHECK_FALSE(built->tensors[1].values);
  check_section(description, "y", [](const Contents& of) { return of("x"); });
}

using Tensors = std::vector<SectionTensor>;

void refused(const Work& work, const Tensors& tensors, const std::string& where,
             const std::string& wanted, const std::string& found) {
  const std::string place = where[0] == '.' ? where : fmt::format(".tensors[\"{}\"]", where);
  check_refused(describe(work, tensors, {1, Split::rows, Handover::fifo, 2, {2, 2, 2}}),
                fmt::format("section part{}", place), wanted, found);
}

TEST_CASE("refused: batches and scales") {
  const Tensors tensors = {given("a", 6, 4),
                           given("shared", 2, 4),
                           given("b", 12, 5),
                           given("beside", 4, 15),
                           given("c", 6, 5),
                           given("bytes", 4, 8, DType::i8),
                           given("s", 2, 4, DType::f32),
                           given("thirds", 3, 4, DType::f32),
                           given("rough", 1, 4, DType::f32),
                           given("half", 2, 4, DType::bf16),
                           given("x", 1, 4, DType::f32),
                           given("y", 1, 8, DType::f32),
                           given("odd", 1, 7, DType::f32)};
  const auto batch = [](const char* a, const char* b, std::uint64_t count, bool beside = false) {
    return Matmul{a, b, "c", {}, count, beside, false, {}};
  };
  refused(batch("a", "b", 0), tensors, "c", "rows of 0 products", "6 x 5");
  refused(batch("a", "b", 4), tensors, "c", "rows of 4 products", "6 x 5");
  refused(batch("shared", "b", 2), tensors, "shared", "6 x 4", "2 x 4");
  refused(batch("a", "b", 2), tensors, "b", "8 x 5", "12 x 5");
  refused(batch("a", "beside", 3), tensors, "beside", "3 matrices of one size", "4 x 15");
  refused(Matmul{"shared", "b", "c", {}, 3, false, false, {}, true}, tensors, "c",
          "columns of 3 products", "6 x 5");
  refused(Matmul{"shared", "b", "c", {}, 5, false, false, {}, true}, tensors, "shared", "6 x 4",
          "2 x 4");
  refused(batch("a", "b", 3, true), tensors, "b", "3 matrices of one size", "12 x 5");
  const Matmul prefix{"a", "beside", "c", {}, 1, false, true, {}};
  CHECK(compose::build_section(describe(prefix, tensors)).has_value());
  refused(Matmul{"a", "s", "c", {}, 1, false, true, {}}, tensors, "s", "4 x 5", "2 x 4");
  const auto scaled = [](const char* b, const char* s, const char* y) {
    return Matmul{"x", b, y, {}, 1, false, false, s};
  };
  CHECK(compose::build_section(describe(scaled("bytes", "s", "y"), tensors,
                                        {1, Split::rows, Handover::fifo, 2, {1, 2, 2}}))
            .has_value());
  refused(scaled("s", "s", "y"), tensors, "s", "4 x 4", "2 x 4");
  refused(scaled("bytes", "half", "y"), tensors, "half", "elements of f32", "bf16");
  refused(scaled("bytes", "thirds", "y"), tensors, "thirds", "divide those of 4 x 8", "3 x 4");
  refused(scaled("bytes", "rough", "y"), tensors, ".tile", "multiples of the 4 x 2", "2 x 2");
  Matmul part = scaled("bytes", "s", "odd");
  part.prefix = true;
  refused(part, tensors, "bytes", "blocks that are used whole", "2 x 4");
  refused(Rescale{OpKind::scale, "bytes", "s", "y"}, tensors, ".work", "\"quantise\" or", "scale");
  refused(Rescale{OpKind::dequantise, "y", "y", "y"}, tensors, "y", "an integer type", "f32");
  refused(Rescale{OpKind::dequantise, "bytes", "s", "y"}, tensors, "y", "4 x 8", "1 x 8");
  refused(Rescale{OpKind::quantise, "bytes", "s", "bytes"}, tensors, "bytes", "elements of f32",
          "i8");
}

TEST_CASE("refused: casts, choices, windows, convolutions, repetitions, the largest") {
  const Tensors tensors = {given("x", 4, 6), given("z", 4, 6),  given("w", 5, 6),
                           given("y", 1, 6), given("w2", 2, 5), given("r", 4, 6, DType::f32),
                           given("k", 4, 7), given("t", 6, 6)};
  const auto value = [](const Expression& e) { return Elementwise{e, "z"}; };
  refused(value(apply(OpKind::cast, {neg(tensor("x"))})), tensors, ".work", "a cast of a tensor",
          "an expression");
  refused(value(apply(OpKind::select, {tensor("x"), tensor("x")})), tensors, ".work",
          "three arguments", "of 2");
  refused(value(apply(OpKind::select, {neg(tensor("x")), tensor("x"), tensor("x")})), tensors,
          ".work", "a tensor as condition", "an expression");
  refused(value(select("x", tensor("x"), tensor("r"))), tensors, "r", "elements of i32", "f32");
  refused(ShiftRows{"x", "x"}, tensors, "x", "no operand", "in place");
  refused(ShiftRows{"x", "z"}, tensors, "x", "fewer rows than 4 x 6", "4 x 6");
  refused(ShiftRows{"w2", "x"}, tensors, "w2", "2 x 6", "2 x 5");
  refused(ShiftRows{"r", "x"}, tensors, "r", "elements of i32", "f32");
  refused(Conv1d{"x", "w", "y", {}}, tensors, "w", "at most 4 rows", "5 x 6");
  refused(Conv1d{"x", "w2", "y", {}}, tensors, "w2", "2 x 6", "2 x 5");
  refused(Conv1d{"w", "x", "z", {}}, tensors, "z", "2 x 6", "4 x 6");
  refused(Conv1d{"x", "z", "y", "w"}, tensors, "w", "1 x 6", "5 x 6");
  refused(RepeatRows{"x", "t"}, tensors, "t", "a multiple of 4 rows", "6 x 6");
  refused(RepeatRows{"x", "k"}, tensors, "k", "4 x 6", "4 x 7");
  refused(RepeatRows{"x", "x"}, tensors, "x", "no operand", "in place");
  refused(TopK{"x", "k"}, tensors, "k", "at most 6 columns", "4 x 7");
  refused(TopK{"x", "y"}, tensors, "y", "4 x 6", "1 x 6");
  refused(TopK{"x", "r"}, tensors, "r", "elements of i32", "f32");
  refused(DeltaUpdate{"x", "z", "z", "z", "z", 3}, tensors, "x", "3 heads of one size", "4 x 6");
}

TEST_CASE("refused: owners and views") {
  const auto copy = [](SectionTensor x, SectionTensor y) {
    return Tensors{given("base", 4, 4), std::move(x), std::move(y)};
  };
  SectionTensor owned = given("y", 2, 2);
  owned.owner = 2;
  refused(Copy{"x", "y"}, copy(given("x", 2, 2), owned), "y", "an owner below 2", "chip 2");
  owned.owner = 0;
  refused(Copy{"x", "y"}, copy(given("x", 2, 2), owned), "y", "sites on chip 0", "[1,0,1]");
  const SectionTensor y = given("y", 2, 2);
  refused(Copy{"x", "y"}, copy(view("x", 2, 2, "none"), y), "x", "a declared tensor", "\"none\"");
  refused(Copy{"x", "y"}, copy(view("x", 2, 2, "x"), y), "x", "that is no view", "\"x\"");
  refused(Copy{"x", "y"}, copy(view("x", 2, 2, "base", 13), y), "x",
          "inside the 16 elements of \"base\"", "4 from 13 on");
  refused(Copy{"x", "y"}, copy(view("x", 2, 2, "base", 0, DType::i8), y), "x", "elements of i32",
          "i8");
  SectionTensor ranged = given("x", 2, 2);
  ranged.values = ir::ValueRange{3, 2};
  refused(Copy{"x", "y"}, copy(ranged, y), "x", "a least value that is not above", "[3, 2]");
  ranged.dtype = DType::f32;
  refused(Copy{"x", "y"}, copy(ranged, y), "x", "an integer type", "f32");
  SectionTensor other = view("x", 2, 2, "base");
  other.owner = 1;
  refused(Copy{"x", "y"}, copy(other, y), "x", "no owner, as its base", "chip 1");
  refused(Copy{"x", "y"}, copy(view("x", 2, 2, "base"), view("y", 2, 2, "base", 3)), "y",
          "storage that nothing else has", "some of \"x\"");
  CHECK(compose::build_section(
            describe(Copy{"x", "y"}, copy(view("x", 2, 2, "base"), view("y", 2, 2, "base", 4))))
            .has_value());
}

}  // namespace
}  // namespace spatialcert::tests
