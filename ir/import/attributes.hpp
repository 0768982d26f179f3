// The attributes of one element, read strictly: every name known, none twice, none missing, numbers
// that are numbers from end to end. pugixml itself takes duplicates, and its `as_int("12abc")`
// is 12.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <pugixml.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/result.hpp"

namespace spatialcert::ir::msccl {

/// Byte offset in the text -> line. Built before parsing, because the parser overwrites the text.
class LineTable {
 public:
  explicit LineTable(std::string_view text);
  [[nodiscard]] std::uint32_t line(std::ptrdiff_t offset) const;

 private:
  std::vector<std::uint32_t> newlines_;
};

/// Where refusals about an element say it stands.
struct ElementPlace {
  const std::string& file;
  std::uint32_t line = 0;
  std::string path;

  [[nodiscard]] Refusal refuse(std::string expected, std::string found,
                               std::string_view attribute = {}) const;
};

/// `text` in back quotes, shortened and without control characters: it comes from the file.
[[nodiscard]] std::string quoted(std::string_view text);

struct AttributeSpec {
  std::string_view name;
  enum class Need : std::uint8_t { required, optional, ignored } need = Need::required;
};

/// The values of an element's attributes, in the order of `specs`; null where absent.
class Attributes {
 public:
  /// Reads all attributes of `node`. `specs` must outlive this object and have at most 16 entries.
  [[nodiscard]] Status read(const pugi::xml_node& node, std::span<const AttributeSpec> specs);

  [[nodiscard]] const char* text(std::size_t index) const { return values_[index]; }
  [[nodiscard]] std::string_view name(std::size_t index) const { return specs_[index].name; }
  /// The attribute as an integer in [low, high].
  [[nodiscard]] std::optional<std::int32_t> integer(std::size_t index, std::int32_t low,
                                                    std::int32_t high);
  /// Index into `words` of the attribute's value.
  [[nodiscard]] std::optional<std::size_t> word(std::size_t index,
                                                std::span<const std::string_view> words);
  /// The refusal of the conversion that failed first (only after one did).
  [[nodiscard]] Refusal refusal(const ElementPlace& place) const;

 private:
  void fail(std::size_t index, std::string expected);

  std::span<const AttributeSpec> specs_;
  std::array<const char*, 16> values_{};
  std::optional<std::size_t> failed_;
  std::string expected_;
};

}  // namespace spatialcert::ir::msccl
