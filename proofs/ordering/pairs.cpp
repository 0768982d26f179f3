#include "proofs/ordering/pairs.hpp"

#include <algorithm>

#include "ir/require.hpp"
#include "ir/sections.hpp"

namespace spatialcert::proofs::ordering {
namespace {

/// Accesses of every transition: [begin[t], begin[t + 1]) of AccessMap::accesses, which is by
/// transition.
std::vector<std::uint32_t> accesses_by_transition(const Subject& subject) {
  std::vector<std::uint32_t> begin(subject.stretch.transitions() + 1, 0);
  for (const ir::ResolvedAccess& a : subject.accesses.accesses) ++begin[a.transition.value() + 1];
  for (std::size_t t = 1; t < begin.size(); ++t) begin[t] += begin[t - 1];
  return begin;
}

/// What a segment has seen so far: its last write and the reads since, in a pool of linked entries.
class History {
 public:
  explicit History(std::size_t segments)
      : writer_(segments, kNoAccess), readers_(segments, kNoAccess) {}

  [[nodiscard]] std::uint32_t writer(std::uint32_t segment) const { return writer_[segment]; }

  void read(std::uint32_t segment, std::uint32_t access) {
    pool_.push_back({access, readers_[segment]});
    readers_[segment] = static_cast<std::uint32_t>(pool_.size() - 1);
  }

  /// Calls `each` for the reads since the last write, or for that write if there were none.
  template <typename Each>
  void write(std::uint32_t segment, std::uint32_t access, const Each& each) {
    if (readers_[segment] == kNoAccess && writer_[segment] != kNoAccess) each(writer_[segment]);
    for (std::uint32_t r = readers_[segment]; r != kNoAccess; r = pool_[r].next)
      each(pool_[r].access);
    readers_[segment] = kNoAccess;
    writer_[segment] = access;
  }
  [[nodiscard]] std::vector<std::uint32_t>& writers() { return writer_; }

 private:
  struct Entry {
    std::uint32_t access;
    std::uint32_t next;
  };
  std::vector<std::uint32_t> writer_, readers_;
  std::vector<Entry> pool_;
};

class PairCollector final : public NeighbourVisitor {
 public:
  explicit PairCollector(const Subject& subject) : subject_(subject) {}

  void on_read(std::uint32_t read, std::uint32_t segment, std::uint32_t writer) override {
    if (writer != kNoAccess) add(writer, read, segment);
  }
  void on_write(std::uint32_t earlier, std::uint32_t later, std::uint32_t segment) override {
    add(earlier, later, segment);
  }

  std::vector<Pair> take() {
    const auto key = [&](const Pair& p) {
      return std::pair(transition(p.earlier), transition(p.later));
    };
    std::stable_sort(pairs_.begin(), pairs_.end(),
                     [&](const Pair& a, const Pair& b) { return key(a) < key(b); });
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end(),
                             [&](const Pair& a, const Pair& b) { return key(a) == key(b); }),
                 pairs_.end());
    return std::move(pairs_);
  }

 private:
  [[nodiscard]] std::uint32_t transition(std::uint32_t access) const {
    return subject_.accesses.accesses[access].transition.value();
  }
  void add(std::uint32_t earlier, std::uint32_t later, std::uint32_t segment) {
    const auto& program = subject_.stretch.program;
    if (program[transition(earlier)] == program[transition(later)]) return;
    if (!pairs_.empty() && pairs_.back().earlier == earlier && pairs_.back().later == later) return;
    pairs_.push_back({earlier, later, segment});
  }
  const Subject& subject_;
  std::vector<Pair> pairs_;
};

/// If neighbours come in the order of their sections, all conflicting accesses do.
class SectionOrder final : public NeighbourVisitor {
 public:
  explicit SectionOrder(const Subject& subject) : subject_(subject) {}

  void on_read(std::uint32_t read, std::uint32_t segment, std::uint32_t writer) override {
    if (writer != kNoAccess) compare(writer, read, segment);
  }
  void on_write(std::uint32_t earlier, std::uint32_t later, std::uint32_t segment) override {
    compare(earlier, later, segment);
  }

  std::optional<Pair> found;

 private:
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> rank(std::uint32_t access) const {
    const ir::TransitionId t = subject_.accesses.accesses[access].transition;
    const ir::SectionId section = ir::section_of_run(*subject_.program, subject_.stretch, t);
    return {subject_.stretch.iteration(t),
            subject_.program->sections[section.value()].source_index};
  }
  void compare(std::uint32_t earlier, std::uint32_t later, std::uint32_t segment) {
    if (found || !(rank(later) < rank(earlier))) return;
    const auto base = [&](std::uint32_t access) {
      return base_buffer(*subject_.program, subject_.accesses.accesses[access].access);
    };
    if (base(earlier) == base(later)) found = Pair{earlier, later, segment};
  }
  const Subject& subject_;
};

}  // namespace

std::optional<std::uint32_t> base_buffer(const ir::Program& program, std::uint32_t access) {
  const ir::Region& region = program.accesses[access].region;
  if (region.kind == ir::RegionKind::tensor) return std::nullopt;
  std::uint32_t buffer = region.object;
  while (program.buffers[buffer].view) buffer = program.buffers[buffer].view->base.value();
  return buffer;
}

void visit_neighbours(const Subject& subject, const std::vector<std::uint32_t>& position,
                      NeighbourVisitor& visitor, std::vector<std::uint32_t>* last_writer) {
  const auto& accesses = subject.accesses.accesses;
  SPATIALCERT_REQUIRE(position.size() == subject.stretch.transitions(),
                      "a position per transition");
  std::vector<std::uint32_t> sequence(position.size());
  for (std::uint32_t t = 0; t < position.size(); ++t) sequence[position[t]] = t;
  const auto begin = accesses_by_transition(subject);
  History history(subject.accesses.segments.size());
  for (const std::uint32_t t : sequence) {
    if (subject.stretch.iteration(ir::TransitionId(t)) >= subject.judged) continue;
    for (const bool writes : {false, true}) {
      for (std::uint32_t a = begin[t]; a < begin[t + 1]; ++a) {
        if (accesses[a].write != writes) continue;
        for (std::uint32_t s = accesses[a].first_segment; s < accesses[a].last_segment; ++s) {
          if (!writes) {
            visitor.on_read(a, s, history.writer(s));
            history.read(s, a);
          } else {
            history.write(s, a, [&](std::uint32_t earlier) { visitor.on_write(earlier, a, s); });
          }
        }
      }
    }
  }
  if (last_writer != nullptr) *last_writer = std::move(history.writers());
}

std::vector<Pair> conflicting_pairs(const Subject& subject,
                                    const std::vector<std::uint32_t>& position) {
  PairCollector collector(subject);
  visit_neighbours(subject, position, collector);
  return collector.take();
}

std::optional<Pair> against_sections(const Subject& subject,
                                     const std::vector<std::uint32_t>& position) {
  if (subject.program->sections.size() <= 1) return std::nullopt;
  SectionOrder order(subject);
  visit_neighbours(subject, position, order);
  return order.found;
}

}  // namespace spatialcert::proofs::ordering
