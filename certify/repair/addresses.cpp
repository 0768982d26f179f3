// Where buffers can be: free ranges of a memory space over the phases in which a buffer lives.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "certify/repair/propose.hpp"
#include "proofs/memory/layout.hpp"

namespace spatialcert::certify::repair {
namespace {

using Range = std::pair<std::uint64_t, std::uint64_t>;  // [begin, end)

/// Which buffers live beside which. Lifetimes do not depend on addresses.
class Layout {
 public:
  explicit Layout(const ir::Program& program)
      : program_(program), beside_(program.buffers.size()), lives_(program.buffers.size(), false) {
    for (const auto& occupancy : proofs::memory::occupancies(program)) {
      for (const ir::BufferId a : occupancy.buffers) {
        lives_[a.value()] = true;
        for (const ir::BufferId b : occupancy.buffers) {
          if (a != b) beside_[a.value()].insert(b.value());
        }
      }
    }
  }

  [[nodiscard]] const ir::Buffer& buffer(std::uint32_t b) const { return program_.buffers[b]; }
  [[nodiscard]] const ir::MemorySpace& space_of(std::uint32_t b) const {
    return program_.target.spaces[buffer(b).space.value()];
  }
  [[nodiscard]] bool lives(std::uint32_t b) const { return lives_[b]; }

  /// Ranges that the buffers beside `b` leave, `without` not counted, merged and in order.
  [[nodiscard]] std::vector<Range> free_beside(std::uint32_t b,
                                               const std::set<std::uint32_t>& without) const {
    std::vector<Range> taken;
    for (const std::uint32_t other : beside_[b]) {
      if (!without.contains(other)) {
        const ir::Buffer& o = buffer(other);
        taken.emplace_back(o.address, o.address + o.bytes());
      }
    }
    std::sort(taken.begin(), taken.end());
    std::vector<Range> out;
    std::uint64_t at = 0;
    for (const auto& [begin, end] : taken) {
      if (begin > at) out.emplace_back(at, begin);
      at = std::max(at, end);
    }
    if (at < space_of(b).bytes) out.emplace_back(at, space_of(b).bytes);
    for (Range& range : out) range.second = std::min(range.second, space_of(b).bytes);
    return out;
  }

  [[nodiscard]] std::uint64_t aligned(std::uint32_t b, std::uint64_t address) const {
    const std::uint64_t a = std::max<std::uint64_t>(1, space_of(b).alignment);
    return (address + a - 1) / a * a;
  }

  /// The lowest address at which `b` fits.
  [[nodiscard]] std::optional<std::uint64_t> fit(std::uint32_t b,
                                                 const std::set<std::uint32_t>& without) const {
    for (const auto& [begin, end] : free_beside(b, without)) {
      const std::uint64_t at = aligned(b, begin);
      if (at <= end && end - at >= buffer(b).bytes()) return at;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool right(std::uint32_t b, const std::set<std::uint32_t>& without) const {
    const ir::Buffer& own = buffer(b);
    if (own.address != aligned(b, own.address)) return false;
    const auto free = free_beside(b, without);
    return std::any_of(free.begin(), free.end(), [&](const Range& range) {
      return range.first <= own.address && own.address < range.second &&
             range.second - own.address >= own.bytes();
    });
  }

  [[nodiscard]] std::string no_room(std::uint32_t b, const std::set<std::uint32_t>& without) const {
    std::uint64_t most = 0, all = 0;
    for (const auto& [begin, end] : free_beside(b, without)) {
      const std::uint64_t at = aligned(b, begin);
      if (at < end) most = std::max(most, end - at);
      all += end - begin;
    }
    return fmt::format(
        "{} needs {} bytes of {} at {}, where {} are free while it lives, at most {} of them in "
        "one "
        "range aligned to {}",
        buffer(b).name, buffer(b).bytes(), space_of(b).name, site_text(program_, buffer(b).site),
        all, most, space_of(b).alignment);
  }

  [[nodiscard]] std::set<std::uint32_t> wrong() const {
    std::set<std::uint32_t> out;
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
      if (lives_[b] && !right(b, {})) out.insert(b);
    }
    return out;
  }

 private:
  const ir::Program& program_;
  std::vector<std::set<std::uint32_t>> beside_;
  std::vector<bool> lives_;
};

/// Moves `first`, and then whatever is still not right, each to the lowest place that is free.
/// What need not move stays.
std::optional<Edits> moved(ir::Program program, std::optional<std::uint32_t> first,
                           std::vector<std::string>& obstacles) {
  std::set<std::uint32_t> changed;
  const auto place = [&](std::uint32_t b, const Layout& layout,
                         const std::set<std::uint32_t>& without) {
    const auto at = layout.fit(b, without);
    if (at) {
      program.buffers[b].address = *at;
      changed.insert(b);
    } else {
      obstacles.push_back(layout.no_room(b, without));
    }
    return at.has_value();
  };
  const Layout layout(program);  // looks at the program as it is at the moment
  if (first && !place(*first, layout, {})) return std::nullopt;
  // Large ones first: they find room less easily.
  std::set<std::uint32_t> open = layout.wrong();
  while (!open.empty()) {
    // A buffer that is right without the others that are not may stay; then the others move.
    std::vector<std::uint32_t> order(open.begin(), open.end());
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return layout.buffer(a).bytes() > layout.buffer(b).bytes();
    });
    const std::uint32_t b = order.front();
    std::set<std::uint32_t> others = open;
    others.erase(b);
    if (!layout.right(b, others) && !place(b, layout, others)) return std::nullopt;
    open.erase(b);
  }
  Edits edits;
  for (const std::uint32_t b : changed)
    edits.push_back(MoveBuffer{ir::BufferId(b), program.buffers[b].address});
  return edits;
}

}  // namespace

void add_addresses(const Case& what, const std::vector<ir::BufferId>& buffers, Proposals& out) {
  out.tried.emplace_back("buffers at other addresses");
  std::vector<std::optional<std::uint32_t>> firsts;
  for (const ir::BufferId b : buffers) firsts.emplace_back(b.value());
  std::reverse(firsts.begin(), firsts.end());  // what came later makes room for what was there
  firsts.emplace_back(std::nullopt);
  std::vector<std::pair<std::size_t, Edits>> found;
  for (const auto& first : firsts) {
    if (auto edits = moved(what.program, first, out.obstacles); edits && !edits->empty())
      found.emplace_back(edits->size(), *std::move(edits));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [count, edits] : found)
    out.add(std::move(edits),
            count == 1 ? "a buffer at another address" : "buffers at other addresses");
  std::sort(out.obstacles.begin(), out.obstacles.end());
  out.obstacles.erase(std::unique(out.obstacles.begin(), out.obstacles.end()), out.obstacles.end());
}

void propose_addresses(const Case& what, Proposals& out) {
  if (!what.counterexample.buffers.empty()) add_addresses(what, what.counterexample.buffers, out);
}

bool place_buffers(const ir::Program& program, Edits& grown, Proposals& out) {
  ir::Program larger = program;
  for (const Edit& edit : grown) {
    if (const auto* deeper = std::get_if<ChangeDepth>(&edit))
      larger.buffers[deeper->fifo.value()].pages = deeper->pages;
  }
  auto moves = moved(std::move(larger), std::nullopt, out.obstacles);
  if (!moves) return false;
  grown.insert(grown.end(), moves->begin(), moves->end());
  return true;
}

}  // namespace spatialcert::certify::repair
