#include "compose/composition/phases.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "ir/require.hpp"

namespace spatialcert::compose {
namespace {

/// The first phase at or after another one that is not held. Union-find: a held phase points to a
/// later one that may be free, and paths are compressed.
class FreePhases {
 public:
  [[nodiscard]] std::uint32_t find(std::uint32_t phase) {
    std::uint32_t root = phase;
    while (root < next_.size() && next_[root] != root) root = next_[root];
    while (phase != root) phase = std::exchange(next_[phase], root);
    return root;
  }
  void hold(std::uint32_t phase) { join(phase, phase + 1); }
  /// All phases from `phase` to before `later` are held.
  void join(std::uint32_t phase, std::uint32_t later) {
    for (auto p = static_cast<std::uint32_t>(next_.size()); p <= phase; ++p) next_.push_back(p);
    next_[phase] = later;
  }

 private:
  std::vector<std::uint32_t> next_;  // beyond the end: free
};

/// The same for a set of chips, of which any holds a phase. Only the phases that a search has
/// jumped from are kept, so memory is bounded by the work.
class SparseFreePhases {
 public:
  [[nodiscard]] std::uint32_t find(std::uint32_t phase) {
    std::uint32_t root = phase;
    for (auto it = next_.find(root); it != next_.end(); it = next_.find(root)) root = it->second;
    while (phase != root) phase = std::exchange(next_[phase], root);
    return root;
  }
  void join(std::uint32_t phase, std::uint32_t later) { next_[phase] = later; }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> next_;
};

/// One past the last phase that a name was written or read in; 0 = never.
struct LastUse {
  std::uint32_t written = 0;
  std::uint32_t read = 0;
};

class Scheduler {
 public:
  explicit Scheduler(const std::vector<Touches>& touches) {
    std::uint32_t names = 0, chips = 0;
    for (const Touches& t : touches) {
      for (const std::uint32_t name : t.reads) names = std::max(names, name + 1);
      for (const std::uint32_t name : t.writes) names = std::max(names, name + 1);
      for (const std::uint32_t chip : t.chips) chips = std::max(chips, chip + 1);
    }
    uses_.resize(names);
    chips_.resize(chips);
  }

  [[nodiscard]] std::uint32_t place(const Touches& t) {
    const std::uint32_t phase = free_for_all(t.chips, after_dependencies(t));
    for (const std::uint32_t chip : t.chips) {
      if (chips_[chip].find(phase) == phase) chips_[chip].hold(phase);
    }
    for (const std::uint32_t name : t.reads)
      uses_[name].read = std::max(uses_[name].read, phase + 1);
    for (const std::uint32_t name : t.writes)
      uses_[name].written = std::max(uses_[name].written, phase + 1);
    return phase;
  }

 private:
  [[nodiscard]] std::uint32_t after_dependencies(const Touches& t) const {
    std::uint32_t phase = 0;
    for (const std::uint32_t name : t.reads) phase = std::max(phase, uses_[name].written);
    for (const std::uint32_t name : t.writes)
      phase = std::max({phase, uses_[name].written, uses_[name].read});
    return phase;
  }

  /// Chips that are free in different phases make a search long; it is not made twice by sections
  /// with the same chips.
  [[nodiscard]] std::uint32_t free_for_all(const std::vector<std::uint32_t>& chips,
                                           std::uint32_t phase) {
    if (chips.empty()) return phase;
    if (chips.size() == 1) return chips_[chips[0]].find(phase);
    key_ = chips;
    std::sort(key_.begin(), key_.end());
    key_.erase(std::unique(key_.begin(), key_.end()), key_.end());
    SparseFreePhases& together = sets_[key_];
    for (;;) {
      phase = together.find(phase);
      std::uint32_t later = phase;
      for (const std::uint32_t chip : key_) later = std::max(later, chips_[chip].find(later));
      if (later == phase) return phase;
      together.join(phase, later);
    }
  }

  std::vector<LastUse> uses_;
  std::vector<FreePhases> chips_;
  std::map<std::vector<std::uint32_t>, SparseFreePhases> sets_;
  std::vector<std::uint32_t> key_;
};

constexpr std::uint8_t kRead = 1;
constexpr std::uint8_t kWritten = 2;

/// How the ops of a section touch its objects, by id.
struct TouchedObjects {
  explicit TouchedObjects(const ir::Program& section)
      : tensors(section.tensors.size(), 0),
        buffers(section.buffers.size(), 0),
        semaphores(section.semaphores.size(), 0) {}

  void add(const ir::Program& section, const ir::Op& op) {
    switch (op.code) {
      case ir::OpCode::wait:
      case ir::OpCode::await:
      case ir::OpCode::post:
        semaphores[op.object] = kWritten;
        break;
      case ir::OpCode::reserve:
      case ir::OpCode::push:
      case ir::OpCode::front:
      case ir::OpCode::pop:
        buffers[op.object] |= kWritten;
        break;
      case ir::OpCode::run:
        for (std::uint32_t a = 0; a < op.accesses; ++a) {
          const ir::Access& access = section.accesses[op.first_access + a];
          auto& objects = access.region.kind == ir::RegionKind::tensor ? tensors : buffers;
          objects[access.region.object] |= access.write ? kWritten : kRead;
        }
        break;
      case ir::OpCode::repeat:
        break;
    }
  }

  std::vector<std::uint8_t> tensors, buffers, semaphores;
};

template <typename Object>
const Object& root_of(const std::vector<Object>& objects, std::size_t number) {
  while (objects[number].view) number = objects[number].view->base.value();
  return objects[number];
}

void add(std::uint8_t how, std::uint32_t name, Touches& touches) {
  if ((how & kRead) != 0) touches.reads.push_back(name);
  if ((how & kWritten) != 0) touches.writes.push_back(name);
}

void sort_unique(std::vector<std::uint32_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

std::uint32_t TouchNames::number(Kind kind, std::string_view name) {
  std::string key(1, static_cast<char>(kind));
  key += name;
  return numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(numbers_.size()))
      .first->second;
}

Touches touches_of(const ir::Program& section, TouchNames& names) {
  Touches touches;
  TouchedObjects touched(section);
  for (const ir::EngineProgram& program : section.programs) {
    if (!program.ops.empty()) touches.chips.push_back(program.site.chip);
    for (const ir::Op& op : program.ops) touched.add(section, op);
  }
  for (std::size_t t = 0; t < section.tensors.size(); ++t) {
    if (touched.tensors[t] == 0) continue;
    const ir::Tensor& tensor = root_of(section.tensors, t);
    add(touched.tensors[t], names.number(TouchNames::Kind::tensor, tensor.name), touches);
  }
  for (std::size_t b = 0; b < section.buffers.size(); ++b) {
    if (touched.buffers[b] == 0) continue;
    const ir::Buffer& buffer = root_of(section.buffers, b);
    add(touched.buffers[b], names.number(TouchNames::Kind::buffer, buffer.name), touches);
    touches.chips.push_back(buffer.site.chip);
  }
  for (std::size_t s = 0; s < section.semaphores.size(); ++s) {
    if (touched.semaphores[s] == 0) continue;
    const ir::Semaphore& semaphore = section.semaphores[s];
    add(touched.semaphores[s], names.number(TouchNames::Kind::semaphore, semaphore.name), touches);
    touches.chips.push_back(semaphore.site.chip);
  }
  for (auto* list : {&touches.reads, &touches.writes, &touches.chips}) sort_unique(*list);
  return touches;
}

PhaseOrder phase_order(const std::vector<Touches>& touches) {
  SPATIALCERT_REQUIRE(touches.size() < 0xffffffffU, "phases are numbered in 32 bits");
  Scheduler scheduler(touches);
  std::vector<std::uint32_t> phase;
  phase.reserve(touches.size());
  std::uint32_t phases = 0;
  for (const Touches& t : touches) {
    phase.push_back(scheduler.place(t));
    phases = std::max(phases, phase.back() + 1);
  }
  // Counting sort, which keeps the order within a phase.
  std::vector<std::uint32_t> begin(phases + 1, 0);
  for (const std::uint32_t p : phase) ++begin[p + 1];
  for (std::uint32_t p = 0; p < phases; ++p) begin[p + 1] += begin[p];
  PhaseOrder result{std::vector<std::uint32_t>(touches.size()),
                    std::vector<bool>(touches.size(), false)};
  for (std::uint32_t p = 1; p < phases; ++p) result.barrier_after[begin[p] - 1] = true;
  for (std::uint32_t s = 0; s < phase.size(); ++s) result.order[begin[phase[s]]++] = s;
  return result;
}

}  // namespace spatialcert::compose
