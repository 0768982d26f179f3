// Names to numbers: used while a file is read and for the uniqueness checks, never afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spatialcert::ir::io {

/// An open-addressing hash table from names to their positions. Holds views: the strings must stay
/// put.
class NameTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  void reserve(std::size_t names);
  /// Gives `name` the next number. If it is there already, returns the number that it keeps.
  std::optional<std::uint32_t> add(std::string_view name);
  /// The number of `name`, or kNone.
  [[nodiscard]] std::uint32_t find(std::string_view name) const;
  /// ` (did you mean "..."?)`, or nothing if no name is near. Linear in the names: for refusals.
  [[nodiscard]] std::string suggestion(std::string_view name) const;

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = kNone;
  };
  void grow(std::size_t slots);

  std::vector<std::string_view> names_;
  std::vector<Slot> slots_;  // a power of two, at most half full
};

/// The one of `candidates` nearest to `name`, if it is near enough to be a slip.
[[nodiscard]] std::optional<std::string_view> nearest(
    std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace spatialcert::ir::io
