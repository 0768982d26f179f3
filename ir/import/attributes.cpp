#include "ir/import/attributes.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace spatialcert::ir::msccl {

LineTable::LineTable(std::string_view text) {
  newlines_.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) {
    newlines_.push_back(static_cast<std::uint32_t>(at));
  }
}

std::uint32_t LineTable::line(std::ptrdiff_t offset) const {
  if (offset < 0) return 0;
  const auto before =
      std::lower_bound(newlines_.begin(), newlines_.end(), static_cast<std::uint32_t>(offset));
  return static_cast<std::uint32_t>(before - newlines_.begin()) + 1;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string result = "`";
  for (const char c : text.substr(0, kLongest)) {
    const auto code = static_cast<unsigned char>(c);
    result += code < 0x20 || code == 0x7f ? '?' : c;
  }
  return result + (text.size() > kLongest ? "`..." : "`");
}

Refusal ElementPlace::refuse(std::string expected, std::string found,
                             std::string_view attribute) const {
  return {file, line, attribute.empty() ? path : fmt::format("{}/@{}", path, attribute),
          std::move(expected), std::move(found)};
}

// Status refusals of `read` leave file and line to the caller, which completes them only when it
// refuses: computing a line for every element would cost more than reading it.
Status Attributes::read(const pugi::xml_node& node, std::span<const AttributeSpec> specs) {
  specs_ = specs;
  values_.fill(nullptr);
  failed_.reset();
  std::size_t guess = 0;  // attributes nearly always come in the same order
  for (const pugi::xml_attribute& attribute : node.attributes()) {
    const std::string_view name = attribute.name();
    std::size_t index = guess < specs.size() && specs[guess].name == name ? guess : 0;
    while (index < specs.size() && specs[index].name != name) ++index;
    if (index == specs.size()) {
      return Refusal{{}, 0, {}, "only attributes that the format has", quoted(name)};
    }
    if (values_[index] != nullptr) {
      return Refusal{{}, 0, {}, fmt::format("`{}` once", name), "it twice"};
    }
    values_[index] = attribute.value();
    guess = index + 1;
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].need == AttributeSpec::Need::required && values_[i] == nullptr) {
      return Refusal{{}, 0, {}, fmt::format("an attribute `{}`", specs[i].name), {}};
    }
  }
  return {};
}

std::optional<std::int32_t> Attributes::integer(std::size_t index, std::int32_t low,
                                                std::int32_t high) {
  std::int32_t value = 0;
  if (const char* begin = values_[index]; begin != nullptr) {
    const char* end = begin + std::strlen(begin);
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error == std::errc{} && stop == end && low <= value && value <= high) return value;
  }
  fail(index,
       low == high ? fmt::format("{}", low) : fmt::format("an integer from {} to {}", low, high));
  return {};
}

std::optional<std::size_t> Attributes::word(std::size_t index,
                                            std::span<const std::string_view> words) {
  if (values_[index] != nullptr) {
    const auto found = std::find(words.begin(), words.end(), std::string_view(values_[index]));
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  }
  fail(index, fmt::format("one of {}", fmt::join(words, ", ")));
  return {};
}

Refusal Attributes::refusal(const ElementPlace& place) const {
  SPATIALCERT_REQUIRE(failed_.has_value(), "no conversion failed");
  const char* value = values_[*failed_];
  return place.refuse(expected_, value == nullptr ? std::string{} : quoted(value),
                      specs_[*failed_].name);
}

void Attributes::fail(std::size_t index, std::string expected) {
  if (failed_.has_value()) return;
  failed_ = index;
  expected_ = std::move(expected);
}

}  // namespace spatialcert::ir::msccl
