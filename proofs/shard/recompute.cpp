#include "proofs/shard/recompute.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proofs/shard/labels.hpp"
#include "proofs/shard/misplaced.hpp"

namespace spatialcert::proofs::shard {
namespace {

NotReproduced no(std::string why) { return {std::move(why)}; }

class Player {
 public:
  Player(const ir::TokenGame& game, const Counterexample& c)
      : game_(game), program_(game.program()), unrolled_(game.unrolled()), c_(c) {}

  ReplayResult run() {
    if (!std::all_of(c_.accesses.begin(), c_.accesses.end(),
                     [&](const AccessRef& ref) { return belongs(ref); }))
      return no("an access is none of its op");
    if (c_.schedules.empty()) return place();
    if (c_.schedules.size() != 1) return no("one schedule is needed");
    if (c_.accesses.size() < 2 || c_.accesses.size() % 2 != 0)
      return no("a path is a read and a write per op");
    accesses_ = ir::resolve_accesses(program_, unrolled_);
    if (accesses_.limit || !accesses_.faults.empty()) return no("the accesses cannot be resolved");
    return play();
  }

 private:
  [[nodiscard]] bool belongs(const AccessRef& ref) const {
    if (!ref.transition.valid() || ref.transition.value() >= unrolled_.transitions()) return false;
    const ir::Op& op = unrolled_.op_of(program_, ref.transition);
    return ref.access >= op.first_access && ref.access - op.first_access < op.accesses;
  }

  [[nodiscard]] AccessText text_of(const AccessRef& ref) const {
    return {unrolled_.program[ref.transition.value()], unrolled_.op[ref.transition.value()],
            ref.access};
  }

  ReplayResult place() const {
    if (c_.kind != Kind::leak) return no("a schedule is needed");
    if (c_.accesses.empty() || c_.accesses.size() > 2) return no("one or two accesses are needed");
    Misplaced claimed{text_of(c_.accesses[0]), std::nullopt};
    if (c_.accesses.size() == 2) claimed.other = text_of(c_.accesses[1]);
    if (!is_misplaced(program_, claimed)) return no("the accesses stand where they may");
    return Reproduced{};
  }

  ReplayResult play() {
    LabelRun labels(program_, unrolled_, accesses_);
    writer_.assign(accesses_.segments.size(), ir::TransitionId());
    ir::PlayState state = game_.start();
    std::optional<std::uint32_t> last;
    for (const ir::ScheduleRun& run : c_.schedules[0]) {
      if (run.program.value() >= program_.programs.size()) return no("no such engine program");
      for (std::uint32_t i = 0; i < run.steps; ++i) {
        if (!game_.can_step(state, run.program)) return no("the schedule cannot be played");
        last = state.next[run.program.value()];
        if (game_.step(state, run.program)) return no("the schedule meets a fault");
        if (auto bad = follow(*last, labels)) return *bad;
        static_cast<void>(labels.perform(*last));
        note_writes(*last, labels);
      }
    }
    if (last != c_.accesses.back().transition.value())
      return no("the schedule does not end with the store");
    if (hop_ * 2 != c_.accesses.size()) return no("the schedule does not perform the whole path");
    return judge(labels);
  }

  /// If the op that is about to be performed is the next of the path: does it read what it should?
  std::optional<NotReproduced> follow(std::uint32_t t, LabelRun& labels) {
    if (hop_ * 2 == c_.accesses.size() || c_.accesses[hop_ * 2].transition.value() != t)
      return std::nullopt;
    const AccessRef& read = c_.accesses[hop_ * 2];
    const AccessRef& write = c_.accesses[hop_ * 2 + 1];
    if (write.transition != read.transition || program_.accesses[read.access].write ||
        !program_.accesses[write.access].write)
      return no("a path is a read and a write per op");
    const ir::TransitionId source =
        hop_ == 0 ? ir::TransitionId() : c_.accesses[hop_ * 2 - 1].transition;
    for (const std::uint32_t s : segments(labels, read)) {
      if (labels.contents()[s] == kReplicated || writer_[s] != source) continue;
      if (hop_ > 0 && !contains(segments(labels, c_.accesses[hop_ * 2 - 1]), s)) continue;
      ++hop_;
      return std::nullopt;
    }
    return no("an op of the path does not read what the one before it wrote");
  }

  void note_writes(std::uint32_t t, LabelRun& labels) {
    Dataflow& flow = labels.dataflow();
    for (std::uint32_t a = flow.begin(t); a < flow.begin(t + 1); ++a) {
      const ir::ResolvedAccess& access = accesses_.accesses[a];
      for (std::uint32_t s = access.first_segment; access.write && s < access.last_segment; ++s)
        writer_[s] = ir::TransitionId(t);
    }
  }

  /// Segments of one access.
  [[nodiscard]] std::vector<std::uint32_t> segments(LabelRun& labels, const AccessRef& ref) const {
    std::vector<std::uint32_t> out;
    const Dataflow& flow = labels.dataflow();
    for (std::uint32_t a = flow.begin(ref.transition.value());
         a < flow.begin(ref.transition.value() + 1); ++a) {
      const ir::ResolvedAccess& access = accesses_.accesses[a];
      if (access.access != ref.access) continue;
      for (std::uint32_t s = access.first_segment; s < access.last_segment; ++s) out.push_back(s);
    }
    return out;
  }
  [[nodiscard]] static bool contains(const std::vector<std::uint32_t>& list, std::uint32_t item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  }

  /// The store has been performed: is its range what is claimed?
  ReplayResult judge(LabelRun& labels) const {
    for (const std::uint32_t s : segments(labels, c_.accesses.back())) {
      const LabelId label = labels.contents()[s];
      if (label == kReplicated || !labels.dataflow().spine(s) || !is_range(s)) continue;
      if (kind_of(program_, labels.labels(), label) != c_.kind)
        return no("the store is wrong in another way");
      if (!same(contributions(program_, labels.labels(), label)))
        return no("other chips are missing, or are there twice");
      return Reproduced{};
    }
    return no("what is stored to the range is replicated, or not on the spine");
  }

  [[nodiscard]] bool is_range(std::uint32_t s) const {
    const ir::Segment& segment = accesses_.segments[s];
    const ir::Storage& storage = accesses_.storages[segment.storage];
    return c_.range && c_.range->storage.kind == ir::Storage::Kind::tensor &&
           c_.range->storage.object == storage.object && c_.range->low == segment.low &&
           c_.range->high == segment.high;
  }
  [[nodiscard]] bool same(const std::vector<TermDifference>& terms) const {
    return std::equal(terms.begin(), terms.end(), c_.terms.begin(), c_.terms.end(),
                      [](const TermDifference& a, const TermDifference& b) {
                        return a.source == b.source && a.found == b.found &&
                               a.expected == b.expected;
                      });
  }

  const ir::TokenGame& game_;
  const ir::Program& program_;
  const ir::Unrolled& unrolled_;
  const Counterexample& c_;
  ir::AccessMap accesses_;
  std::vector<ir::TransitionId> writer_;  // of every segment; invalid: nobody yet
  std::size_t hop_ = 0;                   // of the path: how many have been performed
};

}  // namespace

ReplayResult recompute(const ir::TokenGame& game, const Counterexample& counterexample) {
  return Player(game, counterexample).run();
}

}  // namespace spatialcert::proofs::shard
