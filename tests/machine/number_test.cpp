// Rounding and storing of elements.
#include "ir/machine/number.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/counts.hpp"

namespace spatialcert::tests {
namespace {

using ir::DType;
using ir::machine::decode_integer;
using ir::machine::decode_real;
using ir::machine::encode_integer;
using ir::machine::encode_real;
using ir::machine::rounded;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double from_bits(DType type, std::uint16_t bits) {
  const std::uint8_t bytes[2] = {static_cast<std::uint8_t>(bits),
                                 static_cast<std::uint8_t>(bits >> 8U)};
  return decode_real(bytes, type);
}

std::uint16_t to_bits(DType type, double value) {
  std::uint8_t bytes[2] = {};
  encode_real(value, type, bytes);
  return static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8U);
}

TEST_CASE("some halves by hand") {
  CHECK(from_bits(DType::f16, 0x3c00) == 1.0);
  CHECK(from_bits(DType::f16, 0xc000) == -2.0);
  CHECK(from_bits(DType::f16, 0x7bff) == 65504.0);
  CHECK(from_bits(DType::f16, 0x0001) == 0x1p-24);
  CHECK(from_bits(DType::f16, 0x0400) == 0x1p-14);
  CHECK(from_bits(DType::f16, 0x3555) == 0.333251953125);
  CHECK(from_bits(DType::f16, 0x7c00) == kInfinity);
  CHECK(std::signbit(from_bits(DType::f16, 0x8000)));
  CHECK(rounded(1.0 / 3, DType::f16) == 0.333251953125);
  CHECK(rounded(65519.999, DType::f16) == 65504.0);
  CHECK(rounded(65520.0, DType::f16) == kInfinity);
  CHECK(rounded(-65520.0, DType::f16) == -kInfinity);
  CHECK(rounded(2049.0, DType::f16) == 2048.0);  // a tie: 2048 is even
  CHECK(rounded(2051.0, DType::f16) == 2052.0);
  CHECK(rounded(0x1p-25, DType::f16) == 0.0);
  CHECK(rounded(0x1.8p-24, DType::f16) == 0x1p-23);
  CHECK(rounded(0x1.000001p-25, DType::f16) == 0x1p-24);
}

TEST_CASE("some brain floats by hand") {
  CHECK(from_bits(DType::bf16, 0x3f80) == 1.0);
  CHECK(from_bits(DType::bf16, 0x4049) == 3.140625);
  CHECK(rounded(3.14159265358979, DType::bf16) == 3.140625);
  CHECK(rounded(257.0, DType::bf16) == 256.0);  // a tie: 256 is even
  CHECK(rounded(259.0, DType::bf16) == 260.0);
  // Rounded once, not through f32: this lies just above a tie that f32 would hit.
  CHECK(rounded(257.0 + 0x1p-40, DType::bf16) == 258.0);
  CHECK(rounded(0x1.fep127, DType::bf16) == 0x1.fep127);
  CHECK(rounded(0x1.ffp127, DType::bf16) == kInfinity);
}

TEST_CASE(
    "every 16-bit pattern is read and written alike, and midpoints go to the even neighbour") {
  for (const DType type : {DType::f16, DType::bf16}) {
    const std::uint16_t infinity = type == DType::f16 ? 0x7c00 : 0x7f80;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto pattern = static_cast<std::uint16_t>(bits);
      const double value = from_bits(type, pattern);
      if (std::isnan(value)) {
        CHECK(std::isnan(from_bits(type, to_bits(type, value))));
        continue;
      }
      if (to_bits(type, value) != pattern || rounded(value, type) != value) FAIL(bits);
    }
    for (std::uint16_t low = 0; low < infinity - 1; ++low) {
      const double a = from_bits(type, low);
      const double b = from_bits(type, static_cast<std::uint16_t>(low + 1));
      const double middle = a + (b - a) / 2;
      const double even = low % 2 == 0 ? a : b;
      if (rounded(middle, type) != even || rounded(-middle, type) != -even) FAIL(low);
      if (rounded(std::nextafter(middle, a), type) != a) FAIL(low);
      if (rounded(std::nextafter(middle, b), type) != b) FAIL(low);
    }
  }
}

TEST_CASE("f32 and f64 are the processor's") {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (std::isnan(value)) continue;
    const auto narrow = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    std::uint8_t bytes[8] = {};
    encode_real(value, DType::f64, bytes);
    if (decode_real(bytes, DType::f64) != value) FAIL(value);
    if (std::isnan(narrow)) continue;
    encode_real(narrow, DType::f32, bytes);
    if (decode_real(bytes, DType::f32) != narrow) FAIL(narrow);
  }
  CHECK(rounded(0.1, DType::f32) == static_cast<double>(0.1F));
  CHECK(rounded(0.1, DType::f64) == 0.1);
  CHECK(rounded(0x1.ffffffp127, DType::f32) == kInfinity);
}

TEST_CASE("integers at the ends of their ranges") {
  for (const DType type : {DType::i8, DType::i16, DType::i32, DType::i64}) {
    const auto range = ir::machine::range_of(type);
    std::uint8_t bytes[8] = {};
    for (const std::int64_t x : {range.low, range.low + 1, std::int64_t{-1}, std::int64_t{0},
                                 std::int64_t{1}, range.high - 1, range.high}) {
      CHECK(range.holds(x));
      encode_integer(x, type, bytes);
      CHECK(decode_integer(bytes, type) == x);
    }
    if (type == DType::i64) continue;
    CHECK_FALSE(range.holds(range.high + 1));
    CHECK_FALSE(range.holds(range.low - 1));
  }
}

}  // namespace
}  // namespace spatialcert::tests
