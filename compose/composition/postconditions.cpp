#include "compose/composition/postconditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>

#include "compose/composition/initial_contents.hpp"

namespace spatialcert::compose {
namespace {

constexpr std::uint64_t kEverything = std::numeric_limits<std::uint64_t>::max();

/// Elements of a tensor, or bytes of a buffer, [low, high).
struct Range {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// Disjoint ranges that are known to be written, in order.
class Ranges {
 public:
  void add(Range range) {
    auto it = ranges_.upper_bound(range.low);
    if (it != ranges_.begin() && std::prev(it)->second >= range.low) --it;
    while (it != ranges_.end() && it->first <= range.high) {
      range.low = std::min(range.low, it->first);
      range.high = std::max(range.high, it->second);
      it = ranges_.erase(it);
    }
    ranges_.emplace(range.low, range.high);
  }
  [[nodiscard]] bool meets(const Range& range) const {
    const auto it = ranges_.lower_bound(range.high);
    return it != ranges_.begin() && std::prev(it)->second > range.low;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;
};

/// A storage by name: tensors and buffers that are no views.
using Storage = std::pair<bool, std::string_view>;  // is it a tensor?

struct Place {
  Storage storage;
  bool lives = true;  ///< throughout the program
  Range range;
};

/// Smallest and largest value of a bound in the loops around it; nothing if that overflows.
std::optional<std::pair<std::int64_t, std::int64_t>> values(
    const ir::Program& section, const ir::Region& region, int bound,
    const std::vector<std::int64_t>& trips) {
  std::int64_t low = region.bound[bound];
  std::int64_t high = low;
  for (std::uint32_t t = 0; t < region.terms; ++t) {
    const ir::AffineTerm& term = section.affine_terms[region.first_term + t];
    if (term.bound != bound) continue;
    std::int64_t change = 0;
    if (__builtin_mul_overflow(term.coefficient, trips[term.level] - 1, &change))
      return std::nullopt;
    std::int64_t& end = change < 0 ? low : high;
    if (__builtin_add_overflow(end, change, &end)) return std::nullopt;
  }
  return std::pair(low, high);
}

/// The range that encloses a region whose bounds [begin, end) take these values, in units.
Range enclosing(std::int64_t begin, std::int64_t end, std::uint64_t unit) {
  if (begin < 0 || end < 0) return {0, kEverything};
  Range range;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(begin), unit, &range.low) ||
      __builtin_mul_overflow(static_cast<std::uint64_t>(end), unit, &range.high)) {
    return {0, kEverything};
  }
  return range;
}

template <typename Object>
Range shifted_to_root(const std::vector<Object>& objects, std::uint32_t number, Range range) {
  while (objects[number].view) {
    const std::uint64_t offset = objects[number].view->offset;
    if (__builtin_add_overflow(range.low, offset, &range.low) ||
        __builtin_add_overflow(range.high, offset, &range.high)) {
      return {0, kEverything};
    }
    number = objects[number].view->base.value();
  }
  return range;
}

/// Rows enclose what is touched of a tensor.
Place place_of(const ir::Program& section, const ir::Region& region,
               const std::vector<std::int64_t>& trips) {
  const auto begin = values(section, region, 0, trips);
  const auto end = values(section, region, 1, trips);
  const bool tensor = region.kind == ir::RegionKind::tensor;
  const std::uint64_t unit = tensor ? section.tensors[region.object].cols : 1;
  const Range range =
      begin && end ? enclosing(begin->first, end->second, unit) : Range{0, kEverything};
  if (tensor) {
    const std::uint32_t root = root_of(section.tensors, region.object);
    return {{true, section.tensors[root].name},
            true,
            shifted_to_root(section.tensors, region.object, range)};
  }
  const ir::Buffer& root = section.buffers[root_of(section.buffers, region.object)];
  const bool lives = root.lifetime == ir::Lifetime::resident && !root.resident_from.valid();
  return {{false, root.name}, lives, shifted_to_root(section.buffers, region.object, range)};
}

/// Calls `visit(place)` for every write of a section to a tensor or to bytes.
template <typename Visit>
void visit_writes(const ir::Program& section, Visit visit) {
  for (const ir::EngineProgram& program : section.programs) {
    std::vector<std::int64_t> trips;
    std::vector<std::uint32_t> ends;
    for (std::uint32_t i = 0; i < program.ops.size(); ++i) {
      while (!ends.empty() && ends.back() == i) {
        ends.pop_back();
        trips.pop_back();
      }
      const ir::Op& op = program.ops[i];
      if (op.code == ir::OpCode::repeat) {
        trips.push_back(op.count);
        ends.push_back(i + 1 + op.body);
      }
      if (op.code != ir::OpCode::run) continue;
      for (std::uint32_t a = 0; a < op.accesses; ++a) {
        const ir::Access& access = section.accesses[op.first_access + a];
        if (access.write && access.region.kind != ir::RegionKind::page)
          visit(place_of(section, access.region, trips));
      }
    }
  }
}

struct StorageHash {
  std::size_t operator()(const Storage& storage) const {
    return std::hash<std::string_view>{}(storage.second) * 2 + (storage.first ? 1 : 0);
  }
};

}  // namespace

std::vector<std::vector<std::optional<std::string>>> lost_postconditions(
    const std::vector<ir::Program>& sections) {
  std::vector<std::vector<std::optional<std::string>>> lost(sections.size());
  bool any = false;
  for (std::size_t s = 0; s < sections.size(); ++s) {
    lost[s].resize(sections[s].postconditions.size());
    any = any || !lost[s].empty();
  }
  if (!any) return lost;
  std::unordered_map<Storage, std::size_t, StorageHash> first_writer;
  for (std::size_t s = 0; s < sections.size(); ++s)
    visit_writes(sections[s], [&](const Place& place) { first_writer.emplace(place.storage, s); });
  std::unordered_map<Storage, Ranges, StorageHash> written_later;
  for (std::size_t s = sections.size(); s-- > 0;) {
    const ir::Program& section = sections[s];
    for (std::size_t p = 0; p < section.postconditions.size(); ++p) {
      const ir::Postcondition& postcondition = section.postconditions[p];
      const Place region = place_of(section, postcondition.region, {});
      const auto later = written_later.find(region.storage);
      if (!region.lives && sections.size() > 1) {
        lost[s][p] = fmt::format("\"{}\" lives for the section only", region.storage.second);
      } else if (later != written_later.end() && later->second.meets(region.range)) {
        lost[s][p] = fmt::format("a later section writes \"{}\"", region.storage.second);
      }
      for (const ir::Region& term : postcondition.terms) {
        const Place found = place_of(section, term, {});
        const auto writer = first_writer.find(found.storage);
        if (!found.lives && sections.size() > 1) {
          lost[s][p] = fmt::format("\"{}\" lives for the section only", found.storage.second);
        } else if (writer != first_writer.end() && writer->second < s) {
          lost[s][p] =
              fmt::format("section \"{}\" writes \"{}\" before",
                          sections[writer->second].sections.front().name, found.storage.second);
        }
      }
    }
    visit_writes(section,
                 [&](const Place& place) { written_later[place.storage].add(place.range); });
  }
  return lost;
}

}  // namespace spatialcert::compose
