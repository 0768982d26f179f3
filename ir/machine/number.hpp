// Elements of every type as bytes, and what they are worth.
//
// Integers are exact. Floating-point values are doubles on the way: `rounded` is the one place
// where they become values of a narrower type, to nearest, ties to even, with subnormals, and
// beyond the largest finite value to infinity.
#pragma once

#include <cstdint>
#include <limits>

#include "ir/program.hpp"

namespace spatialcert::ir::machine {

[[nodiscard]] constexpr bool is_integer(DType type) { return type <= DType::i64; }

/// Smallest and largest value of an integer type.
struct IntegerRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
  [[nodiscard]] bool holds(std::int64_t value) const { return low <= value && value <= high; }
};
[[nodiscard]] IntegerRange range_of(DType type);

/// The value of `type`, a floating-point type, that is nearest to `value`.
[[nodiscard]] double rounded(double value, DType type);

/// Writes size_of(type) bytes, little-endian. The value must be one of the type.
void encode_integer(std::int64_t value, DType type, std::uint8_t* to);
void encode_real(double value, DType type, std::uint8_t* to);
[[nodiscard]] std::int64_t decode_integer(const std::uint8_t* from, DType type);
[[nodiscard]] double decode_real(const std::uint8_t* from, DType type);

}  // namespace spatialcert::ir::machine
