// Regions and their affine bounds.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "ir/io/locate.hpp"
#include "ir/io/loops.hpp"
#include "ir/io/program_reader.hpp"

namespace spatialcert::ir::io {
namespace {

constexpr Key kRegionKeys[] = {{"tensor", false}, {"buffer", false}, {"fifo", false},
                               {"rows", false},   {"cols", false},   {"page", false},
                               {"bytes", false}};
constexpr std::uint32_t kObjectBits = 0b0000111;
// What may stand in a region of each kind, besides its object.
constexpr std::uint32_t kPartBits[] = {0b0011000, 0b1000000, 0b1100000};

constexpr NameKind kObjectKinds[] = {NameKind::tensor, NameKind::buffer, NameKind::buffer};
constexpr RegionKind kRegionKinds[] = {RegionKind::tensor, RegionKind::bytes, RegionKind::page};

std::int64_t extent(std::uint64_t size) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(size, kMost));
}

// The loop of a key `iK`; nothing if it is none.
std::optional<std::uint32_t> loop_of(std::string_view key) {
  if (key.size() < 2 || key.size() > 3 || key[0] != 'i') return std::nullopt;
  std::uint32_t level = 0;
  for (const char digit : key.substr(1)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    level = 10 * level + static_cast<std::uint32_t>(digit - '0');
  }
  if (key.size() == 3 && key[1] == '0') return std::nullopt;
  return level;
}

}  // namespace

Region ProgramReader::read_region(Value& value, std::uint32_t depth) {
  Region region;
  region.first_term = static_cast<std::uint32_t>(program_.affine_terms.size());
  const char* const at = JsonReader::start(value);
  std::uint32_t given = 0;
  json_.members(value, "a region", kRegionKeys, [&](std::size_t key, Value& member) {
    given |= 1U << key;
    switch (key) {
      case 3:
        read_bounds(member, 0, region, depth);
        break;
      case 4:
        read_bounds(member, 2, region, depth);
        break;
      case 5:
        region.page = json_.index(member);
        break;
      case 6:
        read_bounds(member, 0, region, depth);
        break;
      default:
        region.kind = kRegionKinds[key];
        region.object = resolve(kObjectKinds[key], member);
        break;
    }
  });
  const std::uint32_t objects = given & kObjectBits;
  if (objects == 0 || (objects & (objects - 1)) != 0) {
    JsonReader::refuse(at, "exactly one of \"tensor\", \"buffer\" and \"fifo\"",
                       objects == 0 ? "none" : "several");
  }
  const std::uint32_t stray = given & ~kObjectBits & ~kPartBits[static_cast<int>(region.kind)];
  for (std::size_t key = 0; key < std::size(kRegionKeys); ++key) {
    if ((stray >> key & 1U) == 0) continue;
    JsonReader::refuse(at,
                       region.kind == RegionKind::tensor  ? "\"rows\" and \"cols\" only"
                       : region.kind == RegionKind::bytes ? "\"bytes\" only"
                                                          : "\"page\" and \"bytes\" only",
                       fmt::format("\"{}\"", kRegionKeys[key].name));
  }
  complete_region(region, given);
  // The order of the canonical form, so that reading what was written gives the same model.
  const auto terms = program_.affine_terms.begin() + region.first_term;
  std::sort(terms, program_.affine_terms.end(), [](const AffineTerm& a, const AffineTerm& b) {
    return std::tie(a.bound, a.level) < std::tie(b.bound, b.level);
  });
  return region;
}

// Parts left out mean all of the object.
void ProgramReader::complete_region(Region& region, std::uint32_t given) const {
  if (region.kind == RegionKind::tensor) {
    const Tensor& tensor = program_.tensors[region.object];
    if ((given & 0b0001000U) == 0) region.bound[1] = extent(tensor.rows);
    if ((given & 0b0010000U) == 0) region.bound[3] = extent(tensor.cols);
  } else if ((given & 0b1000000U) == 0) {
    const Buffer& buffer = program_.buffers[region.object];
    // A product that does not fit is refused by validation, at the buffer.
    const bool page = region.kind == RegionKind::page;
    region.bound[1] = extent(page ? buffer.page_bytes : buffer.bytes());
  }
}

void ProgramReader::read_bounds(Value& value, std::uint8_t first, Region& region,
                                std::uint32_t depth) {
  const char* const at = JsonReader::start(value);
  const std::size_t count =
      json_.elements(value, "a range [begin, end)", [&](Value& item, std::size_t position) {
        if (position < 2)
          read_bound(item, static_cast<std::uint8_t>(first + position), region, depth);
      });
  if (count != 2) JsonReader::refuse(at, "a range [begin, end)", fmt::format("{} bounds", count));
}

void ProgramReader::read_bound(Value& value, std::uint8_t which, Region& region,
                               std::uint32_t depth) {
  const char* const at = JsonReader::start(value);
  if (*at != '{') {
    std::int64_t number = 0;
    if (value.get_int64().get(number) != simdjson::SUCCESS) {
      json_.refuse(at, "an integer of 64 bits or an affine bound {\"const\": 0, \"i0\": 1}");
    }
    region.bound[which] = number;
    return;
  }
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  std::uint64_t seen = 0;
  bool has_constant = false;
  for (auto member : json_.object(value, "an affine bound")) {
    Field field;
    JsonReader::check(std::move(member).get(field));
    const char* const key_at = JsonReader::key_start(field);
    const std::string key(JsonReader::key(field));
    if (key == "const") {
      if (std::exchange(has_constant, true)) JsonReader::refuse_duplicate(key_at, key);
      region.bound[which] = json_.integer(field.value(), kLeast);
      continue;
    }
    const auto level = loop_of(key);
    if (!level || *level >= depth) {
      json_.refuse(
          key_at,
          depth == 0 ? "\"const\" only, as no loop encloses this"
                     : fmt::format("\"const\" or an enclosing loop, \"i0\" to \"i{}\"", depth - 1));
    }
    if ((seen >> *level & 1U) != 0) JsonReader::refuse_duplicate(key_at, key);
    seen |= std::uint64_t{1} << *level;
    const std::int64_t coefficient = json_.integer(field.value(), kLeast);
    if (coefficient == 0) continue;
    program_.affine_terms.push_back({which, static_cast<std::uint8_t>(*level), coefficient});
    ++region.terms;
  }
  if (!has_constant && seen == 0) json_.refuse(at, "a bound", "an empty object");
}

}  // namespace spatialcert::ir::io
