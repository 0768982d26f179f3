// Every op kind, with values computed by hand.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/machine/one_run.hpp"

namespace spatialcert::tests {
namespace {

constexpr DType i8 = DType::i8, i32 = DType::i32, i64 = DType::i64;
constexpr DType f32 = DType::f32, f64 = DType::f64, bf16 = DType::bf16;

TEST_CASE("matmul, with and without what it is added to") {
  const Matrix a = ints(i8, 2, 3, {1, 2, 3, 4, 5, 6});
  const Matrix b = ints(i8, 3, 2, {7, 8, 9, 10, 11, 12});
  check_op(OpKind::matmul, {a, b}, ints(i32, 2, 2, {58, 64, 139, 154}));
  check_op(OpKind::matmul, {a, b, ints(i32, 2, 2, {1000, 0, -1, 1})},
           ints(i32, 2, 2, {1058, 64, 138, 155}));
  check_op(OpKind::matmul, {reals(bf16, 1, 2, {0.5, 2}), reals(bf16, 2, 1, {3, 0.25})},
           reals(f32, 1, 1, {2}));
  // 1 + 2^-9 in double, rounded once at the end to 8 bits of significand.
  check_op(OpKind::matmul, {reals(bf16, 1, 2, {1, 0x1p-9}), reals(bf16, 2, 1, {1, 1})},
           reals(bf16, 1, 1, {1}));
  check_op(OpKind::matmul, {reals(bf16, 1, 3, {1, 0x1p-9, 0x1p-9}), reals(bf16, 3, 1, {1, 1, 1})},
           reals(bf16, 1, 1, {1}));
  check_op(OpKind::matmul, {reals(bf16, 1, 3, {1, 0x1p-9, 0x1p-8}), reals(bf16, 3, 1, {1, 1, 1})},
           reals(bf16, 1, 1, {1 + 0x1p-7}));
}

TEST_CASE("add, sub and mul of several operands") {
  const Matrix a = ints(i32, 2, 2, {1, 2, 3, 4});
  const Matrix b = ints(i32, 2, 2, {10, -20, 30, -40});
  const Matrix c = ints(i32, 2, 2, {5, 5, 5, 5});
  check_op(OpKind::add, {a}, a);
  check_op(OpKind::add, {a, b}, ints(i32, 2, 2, {11, -18, 33, -36}));
  check_op(OpKind::add, {a, b, c}, ints(i32, 2, 2, {16, -13, 38, -31}));
  check_op(OpKind::sub, {a, b}, ints(i32, 2, 2, {-9, 22, -27, 44}));
  check_op(OpKind::sub, {a, b, c}, ints(i32, 2, 2, {-14, 17, -32, 39}));
  check_op(OpKind::mul, {a, b}, ints(i32, 2, 2, {10, -40, 90, -160}));
  check_op(OpKind::mul, {a, b, c}, ints(i32, 2, 2, {50, -200, 450, -800}));
  check_op(OpKind::add, {reals(f32, 1, 2, {0.5, 1}), reals(f32, 1, 2, {0.25, -1})},
           reals(f32, 1, 2, {0.75, 0}));
}

TEST_CASE("a row, a column or one element stands for all") {
  const Matrix a = ints(i32, 2, 3, {1, 2, 3, 4, 5, 6});
  check_op(OpKind::add, {a, ints(i32, 1, 3, {10, 20, 30})},
           ints(i32, 2, 3, {11, 22, 33, 14, 25, 36}));
  check_op(OpKind::mul, {a, ints(i32, 2, 1, {1, -1})}, ints(i32, 2, 3, {1, 2, 3, -4, -5, -6}));
  check_op(OpKind::sub, {ints(i32, 1, 1, {0}), a}, ints(i32, 2, 3, {-1, -2, -3, -4, -5, -6}));
  check_op(OpKind::mul, {ints(i32, 2, 1, {2, 3}), ints(i32, 1, 2, {5, 7})},
           ints(i32, 2, 2, {10, 14, 15, 21}));
}

TEST_CASE("scale and neg") {
  check_op(OpKind::scale, {ints(i32, 1, 3, {1, -2, 3})}, ints(i32, 1, 3, {-3, 6, -9}), 0, -3);
  check_op(OpKind::scale, {reals(f32, 1, 2, {1, -2})}, reals(f32, 1, 2, {0.25, -0.5}), 0, 0.25);
  check_op(OpKind::neg, {ints(i8, 1, 3, {1, -2, 127})}, ints(i8, 1, 3, {-1, 2, -127}));
  check_op(OpKind::neg, {reals(f32, 1, 2, {1, 0})}, reals(f32, 1, 2, {-1, -0.0}));
}

TEST_CASE("sum and max over the axis that the result says") {
  const Matrix x = ints(i32, 2, 3, {1, -2, 3, 4, 5, -6});
  check_op(OpKind::sum, {x}, ints(i32, 1, 3, {5, 3, -3}));
  check_op(OpKind::sum, {x}, ints(i32, 2, 1, {2, 3}));
  check_op(OpKind::sum, {x}, ints(i32, 1, 1, {5}));
  check_op(OpKind::sum, {x}, x);
  check_op(OpKind::max, {x}, ints(i32, 1, 3, {4, 5, 3}));
  check_op(OpKind::max, {x}, ints(i32, 2, 1, {3, 5}));
  check_op(OpKind::max, {x}, ints(i32, 1, 1, {5}));
  check_op(OpKind::max, {reals(f32, 1, 3, {-3, -1, -2})}, reals(f32, 1, 1, {-1}));
  check_op(OpKind::sum, {reals(f32, 2, 1, {0.5, 0.25})}, reals(f32, 1, 1, {0.75}));
}

TEST_CASE("rmsnorm of every row") {
  // Mean squares 12.5 and 4: roots 3.5355339 and 2 (and the epsilon of 1e-6).
  const Matrix x = reals(f64, 2, 2, {3, 4, 2, -2});
  const double first = std::sqrt(12.5 + 1e-6), second = std::sqrt(4 + 1e-6);
  check_op(OpKind::rmsnorm, {x}, reals(f64, 2, 2, {3 / first, 4 / first, 2 / second, -2 / second}),
           1e-15);
  check_op(OpKind::rmsnorm, {x, reals(f64, 1, 2, {10, 100})},
           reals(f64, 2, 2, {8.48528103, 113.13708226, 9.99999875, -99.9999875}), 1e-5);
  check_op(OpKind::rmsnorm, {reals(f64, 1, 2, {0, 0})}, reals(f64, 1, 2, {0, 0}));
}

TEST_CASE("softmax of every row") {
  const double e = std::exp(1.0);
  check_op(OpKind::softmax, {reals(f64, 2, 2, {0, 1, 5, 5})},
           reals(f64, 2, 2, {1 / (1 + e), e / (1 + e), 0.5, 0.5}), 1e-15);
  // The largest is taken off first, so that nothing overflows.
  for (const double far : {10000.0, -10000.0}) {
    check_op(OpKind::softmax, {reals(f64, 1, 2, {far, far - 1})},
             reals(f64, 1, 2, {0.7310585786300049, 0.2689414213699951}), 1e-15);
  }
}

TEST_CASE("silu, gelu, sigmoid, exp") {
  check_op(OpKind::sigmoid, {reals(f64, 1, 3, {0, 2, -2})},
           reals(f64, 1, 3, {0.5, 0.8807970779778823, 0.11920292202211755}), 1e-15);
  check_op(OpKind::silu, {reals(f64, 1, 3, {0, 2, -2})},
           reals(f64, 1, 3, {0, 1.7615941559557646, -0.2384058440442351}), 1e-15);
  check_op(OpKind::gelu, {reals(f64, 1, 3, {0, 1, -1})},
           reals(f64, 1, 3, {0, 0.8413447460685429, -0.15865525393145707}), 1e-15);
  check_op(OpKind::exp, {reals(f64, 1, 3, {0, 1, -1})},
           reals(f64, 1, 3, {1, 2.718281828459045, 0.36787944117144233}), 1e-15);
  check_op(OpKind::exp, {reals(bf16, 1, 1, {1})}, reals(bf16, 1, 1, {2.71875}));
}

TEST_CASE("rope turns the halves of every row") {
  // A quarter turn of (1, 3), no turn of (2, 4).
  check_op(OpKind::rope,
           {ints(i32, 1, 4, {1, 2, 3, 4}), ints(i32, 1, 2, {0, 1}), ints(i32, 1, 2, {1, 0})},
           ints(i32, 1, 4, {-3, 2, 1, 4}));
  check_op(OpKind::rope,
           {ints(i32, 2, 2, {1, 2, 3, 4}), ints(i32, 2, 1, {0, -1}), ints(i32, 2, 1, {1, 0})},
           ints(i32, 2, 2, {-2, 1, -3, -4}));
  const double half = std::sqrt(0.5);
  check_op(OpKind::rope,
           {reals(f64, 2, 2, {1, 0, 0, 2}), reals(f64, 1, 1, {half}), reals(f64, 1, 1, {half})},
           reals(f64, 2, 2, {half, half, -2 * half, 2 * half}), 1e-15);
}

TEST_CASE("gather takes rows by index") {
  const Matrix table = ints(i32, 3, 2, {1, 2, 3, 4, 5, 6});
  check_op(OpKind::gather, {table, ints(i32, 2, 1, {2, 0})}, ints(i32, 2, 2, {5, 6, 1, 2}));
  check_op(OpKind::gather, {table, ints(i64, 1, 3, {1, 1, 2})},
           ints(i32, 3, 2, {3, 4, 3, 4, 5, 6}));
  check_op(OpKind::gather, {reals(bf16, 2, 1, {0.5, 0.25}), ints(i8, 1, 1, {1})},
           reals(bf16, 1, 1, {0.25}));
}

TEST_CASE("conv1d weighs a window of rows, every column on its own") {
  const Matrix x = ints(i32, 4, 2, {1, 10, 2, 20, 3, 30, 4, 40});
  const Matrix w = ints(i32, 3, 2, {1, 0, 10, 0, 100, 1});
  check_op(OpKind::conv1d, {x, w}, ints(i32, 2, 2, {321, 30, 432, 40}));
  check_op(OpKind::conv1d, {x, w, ints(i32, 1, 2, {1000, -1})},
           ints(i32, 2, 2, {1321, 29, 1432, 39}));
  check_op(OpKind::conv1d, {reals(f32, 2, 1, {1, 2}), reals(f32, 2, 1, {0.5, 0.25})},
           reals(f32, 1, 1, {1}));
}

TEST_CASE("gated-delta forgets, corrects and remembers") {
  // S = [[1, 2], [3, 4]], decay 1/2: [[.5, 1], [1.5, 2]]. Key (1, 2) recalls (3.5, 5); value (5.5,
  // 1), rate 1/2: correction (1, -2); the key times that is added.
  const Matrix state = reals(f64, 2, 2, {1, 2, 3, 4});
  const Matrix key = reals(f64, 1, 2, {1, 2});
  const Matrix value = reals(f64, 1, 2, {5.5, 1});
  const Matrix decay = reals(f64, 1, 1, {0.5});
  const Matrix rate = reals(f64, 1, 1, {0.5});
  check_op(OpKind::gated_delta, {state, key, value, decay, rate},
           reals(f64, 2, 2, {1.5, -1, 3.5, -2}));
  // Keys of length 1, rate 1: what was stored under a key is replaced.
  check_op(OpKind::gated_delta,
           {ints(i32, 2, 1, {7, 9}), ints(i32, 1, 2, {0, 1}), ints(i32, 1, 1, {5}),
            ints(i32, 1, 1, {1}), ints(i32, 1, 1, {1})},
           ints(i32, 2, 1, {7, 5}));
  // Two tokens, one after the other.
  check_op(OpKind::gated_delta,
           {ints(i32, 1, 2, {1, 1}), ints(i32, 2, 1, {1, 2}), ints(i32, 2, 2, {3, 4, 5, 6}),
            ints(i32, 2, 1, {2, 3}), ints(i32, 2, 1, {1, 1})},
           // 2 + (3 - 2), 2 + (4 - 2) = 3, 4; then 9 + 2 (5 - 18), 12 + 2 (6 - 24).
           ints(i32, 1, 2, {-17, -24}));
}

TEST_CASE("topk gives columns to integers and values to floating-point regions") {
  const Matrix x = reals(f32, 2, 4, {1, 4, 4, 2, -1, -2, -3, 0});
  check_op(OpKind::topk, {x}, ints(i32, 2, 3, {1, 2, 3, 3, 0, 1}));
  check_op(OpKind::topk, {x}, reals(f32, 2, 2, {4, 4, 0, -1}));
  check_op(OpKind::topk, {ints(i32, 1, 3, {5, 7, 6})}, ints(i32, 1, 2, {1, 2}));
}

TEST_CASE("select") {
  check_op(OpKind::select,
           {ints(i8, 1, 3, {0, 1, -1}), reals(f32, 1, 3, {1, 2, 3}), reals(f32, 1, 1, {9})},
           reals(f32, 1, 3, {9, 2, 3}));
  check_op(OpKind::select,
           {reals(f32, 2, 1, {0, 0.5}), ints(i32, 2, 2, {1, 2, 3, 4}), ints(i32, 1, 2, {8, 9})},
           ints(i32, 2, 2, {8, 9, 3, 4}));
}

TEST_CASE("cast goes between types, to the nearest value") {
  check_op(OpKind::cast, {reals(f32, 1, 5, {0.5, 1.5, 2.5, -0.5, -2.75})},
           ints(i8, 1, 5, {0, 2, 2, 0, -3}));
  check_op(OpKind::cast, {ints(i32, 1, 2, {257, -3})}, reals(bf16, 1, 2, {256, -3}));
  check_op(OpKind::cast, {reals(f32, 1, 1, {257})}, reals(bf16, 1, 1, {256}));
  check_op(OpKind::cast, {ints(i32, 1, 1, {100})}, ints(i8, 1, 1, {100}));
}

TEST_CASE("quantise and dequantise, with a scale per block") {
  check_op(OpKind::quantise,
           {reals(f32, 1, 5, {1, 1.25, -1.75, 100, -100}), reals(f32, 1, 1, {0.5})},
           ints(i8, 1, 5, {2, 2, -4, 127, -128}));
  check_op(OpKind::quantise, {reals(f32, 2, 2, {1, 1, 1, 1}), reals(f32, 2, 1, {0.5, 0.25})},
           ints(i8, 2, 2, {2, 2, 4, 4}));
  check_op(OpKind::dequantise, {ints(i8, 2, 2, {1, -2, 3, 4}), reals(f32, 1, 2, {0.5, 10})},
           reals(f32, 2, 2, {0.5, -20, 1.5, 40}));
  check_op(OpKind::dequantise,
           {ints(i8, 2, 4, {1, 2, 3, 4, 5, 6, 7, 8}), reals(f32, 1, 2, {1, 10})},
           reals(bf16, 2, 4, {1, 2, 30, 40, 5, 6, 70, 80}));
}

TEST_CASE("copy keeps every bit") {
  check_op(OpKind::copy, {ints(i64, 1, 2, {std::numeric_limits<std::int64_t>::min(), -1})},
           ints(i64, 1, 2, {std::numeric_limits<std::int64_t>::min(), -1}));
  check_op(OpKind::copy,
           {reals(f32, 1, 3, {-0.0, std::numeric_limits<double>::infinity(), 0x1p-149})},
           reals(f32, 1, 3, {-0.0, std::numeric_limits<double>::infinity(), 0x1p-149}));
}

}  // namespace
}  // namespace spatialcert::tests
