#include "ir/machine/number.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/require.hpp"

namespace spatialcert::ir::machine {
namespace {

/// A binary format: bits of significand (the leading one included), smallest exponent of a normal
/// number, largest finite value.
struct Format {
  int precision;
  int least_exponent;
  double largest;
};

constexpr Format kHalf{11, -14, 65504.0};
constexpr Format kBrain{8, -126, 0x1.fep127};

double rounded_to(double value, const Format& format) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), format.least_exponent);
  const int quantum = exponent - (format.precision - 1);
  // Scaling by powers of two is exact here: only nearbyint rounds, ties to even.
  const double nearest = std::ldexp(std::nearbyint(std::ldexp(value, -quantum)), quantum);
  if (std::abs(nearest) <= format.largest) return nearest;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

std::uint16_t half_bits(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000U : 0U;
  if (std::isnan(value)) return 0x7e00U;
  if (std::isinf(value)) return sign | 0x7c00U;
  const double magnitude = std::abs(value);
  if (magnitude < 0x1p-14) {
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(magnitude * 0x1p24));
  }
  const int exponent = std::ilogb(magnitude);
  const auto fraction = static_cast<unsigned>(std::ldexp(magnitude, 10 - exponent)) & 0x3ffU;
  return static_cast<std::uint16_t>(sign | static_cast<unsigned>(exponent + 15) << 10U | fraction);
}

double half_value(std::uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = (bits >> 10U) & 0x1f;
  const int fraction = bits & 0x3ff;
  if (exponent == 31) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * fraction * 0x1p-24;
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

std::uint16_t brain_bits(double value) {
  if (std::isnan(value)) return 0x7fc0U;
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16U);
}

void put(std::uint64_t bits, DType type, std::uint8_t* to) {
  for (std::uint64_t i = 0; i < size_of(type); ++i)
    to[i] = static_cast<std::uint8_t>(bits >> 8 * i);
}

std::uint64_t get(const std::uint8_t* from, DType type) {
  std::uint64_t bits = 0;
  for (std::uint64_t i = 0; i < size_of(type); ++i) bits |= std::uint64_t{from[i]} << 8 * i;
  return bits;
}

}  // namespace

IntegerRange range_of(DType type) {
  switch (type) {
    case DType::i8:
      return {-128, 127};
    case DType::i16:
      return {-32768, 32767};
    case DType::i32:
      return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    case DType::i64:
      return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    default:
      require_failed("type", "an integer type has a range", __FILE__, __LINE__);
  }
}

double rounded(double value, DType type) {
  switch (type) {
    case DType::f64:
      return value;
    case DType::f32:
      return static_cast<double>(static_cast<float>(value));
    case DType::f16:
      return rounded_to(value, kHalf);
    case DType::bf16:
      return rounded_to(value, kBrain);
    default:
      require_failed("type", "integers are not rounded", __FILE__, __LINE__);
  }
}

void encode_integer(std::int64_t value, DType type, std::uint8_t* to) {
  SPATIALCERT_REQUIRE(range_of(type).holds(value), "a value of its type is written");
  put(static_cast<std::uint64_t>(value), type, to);
}

void encode_real(double value, DType type, std::uint8_t* to) {
  switch (type) {
    case DType::f64:
      return put(std::bit_cast<std::uint64_t>(value), type, to);
    case DType::f32:
      return put(std::bit_cast<std::uint32_t>(static_cast<float>(value)), type, to);
    case DType::f16:
      return put(half_bits(value), type, to);
    case DType::bf16:
      return put(brain_bits(value), type, to);
    default:
      require_failed("type", "a floating-point type", __FILE__, __LINE__);
  }
}

std::int64_t decode_integer(const std::uint8_t* from, DType type) {
  const std::uint64_t bits = get(from, type);
  const unsigned unused = 64 - 8 * static_cast<unsigned>(size_of(type));
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

double decode_real(const std::uint8_t* from, DType type) {
  const std::uint64_t bits = get(from, type);
  switch (type) {
    case DType::f64:
      return std::bit_cast<double>(bits);
    case DType::f32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case DType::f16:
      return half_value(static_cast<std::uint16_t>(bits));
    case DType::bf16:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16U));
    default:
      require_failed("type", "a floating-point type", __FILE__, __LINE__);
  }
}

}  // namespace spatialcert::ir::machine
