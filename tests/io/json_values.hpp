// Every value of a JSON text with its place, for tests that spoil them one by one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spatialcert::ir::test {

struct JsonValue {
  std::size_t at = 0;
  std::size_t size = 0;
  std::string path;  ///< as refusals write it: `$.programs[0].ops[1].n`
  std::string key;   ///< of the member; of the list for an element of a list
  /// Members of an object: offset of the key's opening quote.
  std::vector<std::size_t> keys;

  /// One of `{ [ " 0 t n`: objects, arrays, strings, numbers, booleans, null.
  [[nodiscard]] static char kind_of(std::string_view text);
};

/// In the order in which they begin. The text must be JSON without escapes in its keys.
[[nodiscard]] std::vector<JsonValue> values_of(std::string_view json);

/// The text with `value` replaced.
[[nodiscard]] std::string with(std::string_view json, const JsonValue& value, std::string_view by);

}  // namespace spatialcert::ir::test
