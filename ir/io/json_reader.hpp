// Strict reading of JSON values: one step above simdjson's on-demand interface.
//
// Anything unexpected is thrown as RefusedAt with a pointer into the text. The exception never
// leaves ir/io: parse_program turns it into a Refusal with path and line. Throwing keeps the reader
// free of checks after every member, and costs nothing while nothing is refused.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace spatialcert::ir::io {

using Value = simdjson::ondemand::value;
using Object = simdjson::ondemand::object;
using Array = simdjson::ondemand::array;
using Field = simdjson::ondemand::field;

struct RefusedAt {
  const char* at = nullptr;  ///< first byte of a value or of a key
  std::string expected;
  std::string found;
};

/// The text is not JSON, or simdjson could not read it.
struct BrokenText {
  simdjson::error_code error;
};

struct Key {
  std::string_view name;
  bool required = true;
};

inline constexpr std::int64_t kMaximumInteger = std::numeric_limits<std::int64_t>::max();
inline constexpr std::uint64_t kMaximumIndex = 0xfffffffeU;

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  /// First byte of a value.
  static const char* start(Value& value) { return value.raw_json_token().data(); }

  /// Refuses what stands at `at`, quoting it.
  [[noreturn]] void refuse(const char* at, std::string expected) const;
  [[noreturn]] static void refuse(const char* at, std::string expected, std::string found) {
    throw RefusedAt{at, std::move(expected), std::move(found)};
  }

  [[nodiscard]] std::int64_t integer(Value& value, std::int64_t low,
                                     std::int64_t high = kMaximumInteger) const;
  /// 0 to 2^64 - 1.
  [[nodiscard]] std::uint64_t natural(Value& value) const;
  /// 0 (or `low`) to 2^32 - 2.
  [[nodiscard]] std::uint32_t index(Value& value, std::uint32_t low = 0) const {
    return static_cast<std::uint32_t>(
        integer(value, low, static_cast<std::int64_t>(kMaximumIndex)));
  }
  [[nodiscard]] double number(Value& value) const;
  [[nodiscard]] bool boolean(Value& value) const;
  /// Without a copy if nothing in it is escaped; otherwise valid until the document is rewound.
  [[nodiscard]] std::string_view string(Value& value) const;
  /// Nothing if the value is not a string.
  [[nodiscard]] static bool is_string(Value& value) { return *start(value) == '"'; }

  [[nodiscard]] Object object(Value& value, const char* what) const;
  [[nodiscard]] Array array(Value& value, const char* what) const;

  /// The key of a field and where its opening quote stands.
  static std::string_view key(Field& field);
  static const char* key_start(const Field& field) { return field.key().raw() - 1; }

  /// Calls `visit(element, position)` for every element of an array.
  template <typename Visit>
  std::size_t elements(Value& value, const char* what, Visit visit) const {
    std::size_t position = 0;
    for (auto element : array(value, what)) {
      Value item;
      check(element.get(item));
      visit(item, position++);
    }
    return position;
  }

  /// Calls `visit(number of the key, value)` for every member of an object, which must have keys
  /// out of `keys` only, each at most once and the required ones.
  template <std::size_t N, typename Visit>
  void members(Value& value, const char* what, const Key (&keys)[N], Visit visit) const {
    const char* const at = start(value);
    members_of(object(value, what), at, keys, visit);
  }

  /// The same for an object that begins at `at`.
  template <std::size_t N, typename Visit>
  void members_of(Object object, const char* at, const Key (&keys)[N], Visit visit) const {
    static_assert(N <= 32);
    std::uint32_t seen = 0;
    for (auto member : object) {
      Field field;
      check(std::move(member).get(field));
      const char* const key_at = key_start(field);
      const std::size_t number = known_key(key(field), key_at, keys, N);
      if ((seen >> number & 1U) != 0) refuse_duplicate(key_at, keys[number].name);
      seen |= 1U << number;
      visit(number, field.value());
    }
    for (std::size_t i = 0; i < N; ++i) {
      if (keys[i].required && (seen >> i & 1U) == 0) refuse_missing(at, keys[i].name);
    }
  }

  [[noreturn]] static void refuse_duplicate(const char* key_at, std::string_view key);
  [[noreturn]] static void refuse_missing(const char* at, std::string_view key);
  [[noreturn]] void refuse_key(const char* key_at, std::string_view key, const Key* keys,
                               std::size_t count) const;

  static void check(simdjson::error_code error) {
    if (error != simdjson::SUCCESS) throw BrokenText{error};
  }

 private:
  std::size_t known_key(std::string_view key, const char* at, const Key* keys,
                        std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (keys[i].name == key) return i;
    }
    refuse_key(at, key, keys, count);
  }

  std::string_view text_;
};

}  // namespace spatialcert::ir::io
