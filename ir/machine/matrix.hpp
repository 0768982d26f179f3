// Values outside the machine: what is given to it and read from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "ir/machine/number.hpp"

namespace spatialcert::ir::machine {

/// Rows one after the other. Of an integer type `integers` holds the elements, otherwise `reals`;
/// the other one is empty.
struct Matrix {
  DType dtype = DType::f32;
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  /// Per element, 1 if nothing defined was written there (its value is then 0); empty if all are
  /// defined.
  std::vector<std::uint8_t> undefined;

  Matrix() = default;
  /// Zeros.
  Matrix(DType type, std::uint64_t row_count, std::uint64_t col_count);
  static Matrix of(DType type, std::uint64_t rows, std::uint64_t cols,
                   std::vector<std::int64_t> values);
  static Matrix of(DType type, std::uint64_t rows, std::uint64_t cols, std::vector<double> values);

  [[nodiscard]] std::uint64_t size() const { return rows * cols; }
  [[nodiscard]] bool defined() const { return undefined.empty(); }

  /// T is std::int64_t or double, after the type.
  template <typename T>
  [[nodiscard]] const std::vector<T>& values() const {
    if constexpr (std::is_same_v<T, double>) {
      return reals;
    } else {
      return integers;
    }
  }
  template <typename T>
  [[nodiscard]] std::vector<T>& values() {
    if constexpr (std::is_same_v<T, double>) {
      return reals;
    } else {
      return integers;
    }
  }
  template <typename T>
  [[nodiscard]] T at(std::uint64_t row, std::uint64_t col) const {
    return values<T>()[row * cols + col];
  }
};

/// Says of the first element in which they differ (in shape, type, bits or definedness) what it is
/// in both; nothing if they are equal. NaN equals NaN.
[[nodiscard]] std::optional<std::string> difference(const Matrix& a, const Matrix& b);

}  // namespace spatialcert::ir::machine
