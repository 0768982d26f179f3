#include "compose/composition/phase_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include "compose/composition/initial_contents.hpp"
#include "compose/composition/text.hpp"
#include "ir/sections.hpp"

namespace spatialcert::compose {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;
constexpr std::uint64_t kTooMuch = std::numeric_limits<std::uint64_t>::max();

std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kTooMuch : sum;
}

std::uint64_t align_up(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t raised = plus(bytes, alignment - 1);
  return raised == kTooMuch ? kTooMuch : raised & ~(alignment - 1);
}

/// First and last section that touches a storage; none if `first` is.
struct Touched {
  std::uint32_t first = kNone;
  std::uint32_t last = 0;

  void add(std::uint32_t section) {
    first = first == kNone ? section : std::min(first, section);
    last = std::max(last, section);
  }
};

std::vector<Touched> touched_by(const ir::Program& program) {
  std::vector<Touched> touched(program.buffers.size());
  const auto touch = [&](std::uint32_t buffer, std::uint32_t section) {
    touched[root_of(program.buffers, buffer)].add(section);
  };
  for (const ir::EngineProgram& one : program.programs) {
    for (const ir::Span& span : one.spans) {
      if (!span.section.valid()) continue;
      for (std::uint32_t i = span.begin; i < span.end; ++i) {
        const ir::Op& op = one.ops[i];
        const bool fifo = op.code == ir::OpCode::reserve || op.code == ir::OpCode::push ||
                          op.code == ir::OpCode::front || op.code == ir::OpCode::pop;
        if (fifo) touch(op.object, span.section.value());
        if (op.code != ir::OpCode::run) continue;
        for (std::uint32_t a = 0; a < op.accesses; ++a) {
          const ir::Region& region = program.accesses[op.first_access + a].region;
          if (region.kind != ir::RegionKind::tensor) touch(region.object, span.section.value());
        }
      }
    }
  }
  return touched;
}

/// The memory of one space of one site.
struct Memory {
  /// A buffer that moves with its section.
  struct Movable {
    std::uint32_t phase = 0;
    std::uint32_t section = 0;
    std::uint32_t buffer = 0;
  };
  /// A buffer that stays, alive in phases `first` to `last`.
  struct Fixed {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t buffer = 0;
  };
  std::vector<Movable> movable;
  std::vector<Fixed> fixed;
};
using Place = std::pair<ir::Site, std::uint32_t>;

/// Bytes that buffers which stay have in the phase at hand.
class FixedBytes {
 public:
  FixedBytes(const ir::Program& program, std::vector<Memory::Fixed> fixed)
      : program_(program), fixed_(std::move(fixed)) {
    std::sort(fixed_.begin(), fixed_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
  }

  /// Phases only go up.
  void advance(std::uint32_t phase) {
    for (; next_ < fixed_.size() && fixed_[next_].first <= phase; ++next_) {
      const ir::Buffer& buffer = program_.buffers[fixed_[next_].buffer];
      const auto it = bytes_.emplace(buffer.address, plus(buffer.address, buffer.bytes()));
      ends_.emplace(fixed_[next_].last, it);
    }
    while (!ends_.empty() && ends_.top().first < phase) {
      bytes_.erase(ends_.top().second);
      ends_.pop();
    }
  }

  /// The end of what collides with bytes [low, high); 0 if nothing does. Buffers that stay and
  /// collide with one another, which no layout repairs, may be seen as the later one only.
  [[nodiscard]] std::uint64_t end_of_collision(std::uint64_t low, std::uint64_t high) const {
    const auto it = bytes_.lower_bound(high);
    if (it == bytes_.begin()) return 0;
    const std::uint64_t end = std::prev(it)->second;
    return end > low ? end : 0;
  }

 private:
  using Bytes = std::multimap<std::uint64_t, std::uint64_t>;
  using End = std::pair<std::uint32_t, Bytes::iterator>;
  struct Later {
    bool operator()(const End& a, const End& b) const { return a.first > b.first; }
  };
  const ir::Program& program_;
  std::vector<Memory::Fixed> fixed_;
  std::size_t next_ = 0;
  Bytes bytes_;
  std::priority_queue<End, std::vector<End>, Later> ends_;
};

class Layout {
 public:
  explicit Layout(const ir::Program& program)
      : program_(program), phases_(ir::phases_of(program)), touched_(touched_by(program)) {
    for (const ir::Buffer& buffer : program.buffers) address_.push_back(buffer.address);
    contents_.assign(program.buffers.size(), 0);
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
      if (program.buffers[b].init != ir::Init::undefined)
        contents_[root_of(program.buffers, b)] = 1;
    }
  }

  void run() {
    std::map<Place, Memory> memories;
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
      const ir::Buffer& buffer = program_.buffers[b];
      if (buffer.view || buffer.depth == ir::Depth::guaranteed) continue;
      classify(b, memories[{buffer.site, buffer.space.value()}]);
    }
    for (auto& [place, memory] : memories) lay_out(place, memory);
  }

  [[nodiscard]] const std::vector<std::uint64_t>& address() const { return address_; }

 private:
  void classify(std::uint32_t b, Memory& memory) const {
    const ir::Buffer& buffer = program_.buffers[b];
    const Touched& touched = touched_[b];
    const bool resident = buffer.lifetime == ir::Lifetime::resident;
    const bool bounded = !resident || buffer.resident_from.valid();
    const std::uint32_t last_phase = phases_.count - 1;
    if (contents_[b] != 0 && bounded && (resident || touched.first != kNone)) {
      // There from the start.
      add_fixed(b, 0, resident ? buffer.resident_to.value() : touched.last, memory);
    } else if (buffer.kind == ir::BufferKind::fifo && touched.first != kNone && around(touched)) {
      memory.fixed.push_back({0, last_phase, b});  // may hold pages at any time
    } else if (!resident && touched.first != kNone && touched.first == touched.last) {
      memory.movable.push_back({phases_.of[touched.first], touched.first, b});
    } else if (!resident && touched.first != kNone) {
      add_fixed(b, touched.first, touched.last, memory);
    } else if (resident && buffer.resident_from.valid()) {
      add_fixed(b, buffer.resident_from.value(), buffer.resident_to.value(), memory);
    } else {
      memory.fixed.push_back({0, last_phase, b});
    }
  }

  /// In a persistent program: used in several phases.
  [[nodiscard]] bool around(const Touched& touched) const {
    return program_.execution == ir::Execution::persistent &&
           phases_.in_order[touched.first] != phases_.in_order[touched.last];
  }

  // From one section to another. Where the last phase is the first one, a range that ends in it
  // goes on to the end and is alive at the beginning.
  void add_fixed(std::uint32_t b, std::uint32_t from, std::uint32_t to, Memory& memory) const {
    const std::uint32_t first = phases_.of[from];
    const std::uint32_t last = phases_.of[to];
    if (first == last && phases_.in_order[from] != phases_.in_order[to]) {
      memory.fixed.push_back({0, phases_.count - 1, b});  // from the first one to the last one
      return;
    }
    if (first <= last) {
      memory.fixed.push_back({first, last, b});
      return;
    }
    memory.fixed.push_back({first, phases_.count - 1, b});
    memory.fixed.push_back({0, last, b});
  }

  void lay_out(const Place& place, Memory& memory) {
    const ir::MemorySpace& space = program_.target.spaces[place.second];
    for (const Memory::Fixed& fixed : memory.fixed) {
      const ir::Buffer& buffer = program_.buffers[fixed.buffer];
      check_fits(place, plus(buffer.address, buffer.bytes()),
                 fmt::format("buffer \"{}\"", buffer.name));
    }
    FixedBytes fixed(program_, std::move(memory.fixed));
    auto& movable = memory.movable;
    std::sort(movable.begin(), movable.end(), [](const auto& a, const auto& b) {
      return std::tie(a.phase, a.section, a.buffer) < std::tie(b.phase, b.section, b.buffer);
    });
    std::uint64_t in_phase = 0;  // end of what earlier sections of the phase use
    for (std::size_t begin = 0, end = 0; begin < movable.size(); begin = end) {
      while (end < movable.size() && movable[end].section == movable[begin].section) ++end;
      if (begin == 0 || movable[begin - 1].phase != movable[begin].phase) {
        in_phase = 0;
        fixed.advance(movable[begin].phase);
      }
      const std::uint64_t distance =
          distance_of(&movable[begin], &movable[begin] + (end - begin), in_phase, fixed, space);
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t b = movable[i].buffer;
        const std::uint64_t last = plus(plus(address_[b], distance), program_.buffers[b].bytes());
        in_phase = std::max(in_phase, last);
        address_[b] = plus(address_[b], distance);
      }
      check_fits(place, in_phase,
                 fmt::format("section \"{}\"", program_.sections[movable[begin].section].name));
    }
  }

  /// How far the buffers of a section move.
  [[nodiscard]] std::uint64_t distance_of(const Memory::Movable* begin, const Memory::Movable* end,
                                          std::uint64_t in_phase, const FixedBytes& fixed,
                                          const ir::MemorySpace& space) const {
    std::uint64_t low = kTooMuch;
    for (const auto* m = begin; m != end; ++m) low = std::min(low, address_[m->buffer]);
    std::uint64_t distance = low >= in_phase ? 0 : align_up(in_phase - low, space.alignment);
    for (bool collides = true; collides;) {
      collides = false;
      for (const auto* m = begin; m != end; ++m) {
        const std::uint64_t at = plus(address_[m->buffer], distance);
        const std::uint64_t after = plus(at, program_.buffers[m->buffer].bytes());
        if (after == kTooMuch || after > space.bytes) return distance;  // too far already
        const std::uint64_t clear = fixed.end_of_collision(at, after);
        if (clear == 0) continue;
        distance = align_up(clear - address_[m->buffer], space.alignment);
        collides = true;
      }
    }
    return distance;
  }

  void check_fits(const Place& place, std::uint64_t need, const std::string& what) const {
    const ir::MemorySpace& space = program_.target.spaces[place.second];
    if (need <= space.bytes && need != kTooMuch) return;
    throw Refused{RefusalReason::memory_exhausted,
                  fmt::format("{} of {} must reach to byte {} for {}, and it has {} bytes",
                              space.name, text_of(place.first), need, what, space.bytes),
                  "close a boundary between sections that share the site, or make them smaller"};
  }

  const ir::Program& program_;
  ir::Phases phases_;
  std::vector<Touched> touched_;
  std::vector<std::uint64_t> address_;
  std::vector<char> contents_;  ///< of the storage or a view of it, when the program starts
};

}  // namespace

std::vector<MemoryUse> memory_use(const ir::Program& program) {
  std::map<Place, std::uint64_t> highest;
  for (const ir::Buffer& buffer : program.buffers) {
    if (buffer.depth == ir::Depth::guaranteed) continue;
    std::uint64_t& bytes = highest[{buffer.site, buffer.space.value()}];
    bytes = std::max(bytes, buffer.address + buffer.bytes());
  }
  std::vector<MemoryUse> uses;
  for (const auto& [place, bytes] : highest)
    uses.push_back({place.first, ir::SpaceId(place.second), bytes});
  return uses;
}

Outcome<std::vector<MemoryUse>> separate_phase_memory(ir::Program& program) {
  try {
    Layout layout(program);
    layout.run();
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
      ir::Buffer& buffer = program.buffers[b];
      if (buffer.depth == ir::Depth::guaranteed) continue;
      std::uint64_t offset = 0;
      for (std::uint32_t at = b; program.buffers[at].view;
           at = program.buffers[at].view->base.value()) {
        offset += program.buffers[at].view->offset;
      }
      buffer.address = layout.address()[root_of(program.buffers, b)] + offset;
    }
    return memory_use(program);
  } catch (Refused& refused) {
    return std::move(refused);
  }
}

}  // namespace spatialcert::compose
