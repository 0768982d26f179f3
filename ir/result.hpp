// Result of reading input that somebody else wrote: a value, or a refusal that names the place.
//
// `Result<T>` uses the names of std::expected, which the supported compilers lack in C++20. Asking
// a failed result for its value is a fault of ours and ends the program in every build.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "ir/require.hpp"

namespace spatialcert::ir {

/// Why an input was refused, where, and what would have been right.
struct Refusal {
  std::string file;        ///< path as the user gave it; empty if the input was never a file
  std::uint64_t line = 0;  ///< 1-based; 0 if unknown
  std::string path;        ///< JSON path such as `$.programs[2].ops[7].wait`, or an XML element
  std::string expected;    ///< what should have stood there; may carry the remedy
  std::string found;       ///< what stood there; empty if nothing did

  /// `FILE:LINE: PATH: expected ..., found ...`
  [[nodiscard]] std::string message() const;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}            // NOLINT
  Result(Refusal refusal) : state_(std::in_place_index<1>, std::move(refusal)) {}  // NOLINT

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  [[nodiscard]] const T& value() const& { return get(*this); }
  [[nodiscard]] T& value() & { return get(*this); }
  [[nodiscard]] T&& value() && { return std::move(get(*this)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  [[nodiscard]] const Refusal& error() const {
    SPATIALCERT_REQUIRE(!has_value(), "error() of a successful result");
    return std::get<1>(state_);
  }

 private:
  template <typename Self>
  static auto& get(Self& self) {
    SPATIALCERT_REQUIRE(self.has_value(), "value() of a refused result");
    return std::get<0>(self.state_);
  }
  std::variant<T, Refusal> state_;
};

/// The result of an action that yields nothing but may be refused.
using Status = std::optional<Refusal>;

}  // namespace spatialcert::ir
