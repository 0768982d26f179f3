#include <fmt/format.h>

#include <algorithm>

#include "ir/sections.hpp"
#include "proofs/counterexample.hpp"
#include "proofs/isolation/recompute.hpp"
#include "proofs/issues.hpp"
#include "proofs/memory/recompute.hpp"
#include "proofs/ordering/pairs.hpp"
#include "proofs/quiescence/rule.hpp"
#include "proofs/reduction/typing.hpp"
#include "proofs/reduction/values.hpp"
#include "proofs/shard/recompute.hpp"
#include "proofs/slices/tiling.hpp"

namespace spatialcert::proofs {
namespace {

NotReproduced no(std::string why) { return {std::move(why)}; }

/// Replays one counterexample. Works from the program, the token game and the resolved accesses;
/// knows no net.
class Replayer {
 public:
  Replayer(const ir::Program& program, const Counterexample& c, ir::Unrolled unrolled)
      : program_(program), c_(c), unrolled_(std::move(unrolled)), game_(program, unrolled_) {}

  ReplayResult run() {
    switch (c_.kind) {
      case Kind::cycle:
      case Kind::starved:
        return stuck();
      case Kind::leftover:
        return leftover();
      case Kind::overflow:
      case Kind::misuse:
        return fault();
      case Kind::race:
        return race();
      case Kind::wrong_order:
        return wrong_order();
      case Kind::slip_through:
        return slip_through();
      case Kind::undefined_read:
      case Kind::wrong_producer:
        return bad_read();
      case Kind::wrong_result:
        return wrong_result();
      case Kind::leak:
      case Kind::missing_chip:
      case Kind::double_contribution:
        return c_.ops.empty() ? shard::recompute(game_, c_) : reduction::recompute_types(game_, c_);
      case Kind::nonlinear:
      case Kind::mismatch:
        return reduction::recompute_types(game_, c_);
      case Kind::gap:
      case Kind::interference:
      case Kind::overlap:
      case Kind::out_of_memory:
      case Kind::misaligned:
      case Kind::uncovered:
        break;
    }
    return no("there is nothing to play for this kind");
  }

 private:
  [[nodiscard]] bool valid(ir::TransitionId t) const {
    return t.valid() && t.value() < unrolled_.transitions();
  }

  std::optional<NotReproduced> schedules(std::size_t wanted) const {
    if (c_.schedules.size() == wanted) return std::nullopt;
    return no(fmt::format("{} schedules are needed, {} are given", wanted, c_.schedules.size()));
  }

  /// Nobody of a circle, or nobody at all, can ever step again.
  ReplayResult stuck() {
    if (auto bad = schedules(1)) return *bad;
    const ir::PlayResult r = ir::play(game_, c_.schedules[0]);
    if (!r.complete) return no(fmt::format("the schedule stops after {} steps", r.steps));
    auto stuck_programs = ir::blocked_for_ever(game_, r.state);
    if (const auto starved = ir::starved_by_balance(game_, r.state))
      stuck_programs[starved->value()] = 1;
    if (std::find(stuck_programs.begin(), stuck_programs.end(), 1) == stuck_programs.end()) {
      return no("every blocked engine program may still be released");
    }
    for (const WaitLink& link : c_.chain) {
      if (!valid(link.waiter)) return no("the chain names an op that does not exist");
      const std::uint32_t p = unrolled_.program[link.waiter.value()];
      if (r.state.next[p] > link.waiter.value()) return no("an op of the chain was performed");
      if (stuck_programs[p] == 0) return no("an engine program of the chain is not stuck");
      if (auto bad = misdescribed(link, r.state)) return *bad;
    }
    return Reproduced{};
  }

  /// A link must name the counter that its op tests, what it needs and what the counter holds.
  std::optional<NotReproduced> misdescribed(const WaitLink& link,
                                            const ir::PlayState& state) const {
    const ir::Op& op = unrolled_.op_of(program_, link.waiter);
    std::optional<ir::CounterId> tested;
    if (op.code == ir::OpCode::wait || op.code == ir::OpCode::await) {
      tested = game_.counters().of(ir::SemaphoreId(op.object));
    }
    if (op.code == ir::OpCode::reserve) tested = game_.counters().free(ir::BufferId(op.object));
    if (op.code == ir::OpCode::front) tested = game_.counters().filled(ir::BufferId(op.object));
    if (!tested || *tested != link.counter)
      return no("an op of the chain does not test that counter");
    if (link.need != op.count) return no("an op of the chain needs another value");
    if (link.have != game_.counter_value(state, link.counter))
      return no("a counter of the chain holds another value");
    return std::nullopt;
  }

  /// Pages that FIFOs have beyond the declared ones; nothing if that is not allowed.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> extra_pages() const {
    std::vector<std::int64_t> extra;
    if (c_.deeper.empty()) return extra;
    extra.assign(program_.buffers.size(), 0);
    for (const auto& [buffer, pages] : c_.deeper) {
      if (!buffer.valid() || buffer.value() >= program_.buffers.size()) return std::nullopt;
      const ir::Buffer& fifo = program_.buffers[buffer.value()];
      constexpr auto kMost = std::int64_t{1} << 61;
      const bool allowed = fifo.kind == ir::BufferKind::fifo &&
                           fifo.depth == ir::Depth::guaranteed && pages >= 0 && pages < kMost &&
                           fifo.pages < static_cast<std::uint64_t>(kMost);
      if (!allowed) return std::nullopt;
      extra[buffer.value()] = pages;
    }
    return extra;
  }

  ReplayResult leftover() {
    if (auto bad = schedules(1)) return *bad;
    const ir::PlayResult r = ir::play(game_, c_.schedules[0]);
    if (!r.complete || !game_.all_finished(r.state))
      return no("the schedule does not play to the end");
    if (!c_.counter.valid() || c_.counter.value() >= game_.counters().size())
      return no("no such counter");
    const std::int64_t value = game_.counter_value(r.state, c_.counter);
    if (!quiescence::must_return(program_, game_.counters()[c_.counter]))
      return no("the counter need not return");
    if (value == game_.counters()[c_.counter].initial)
      return no("the counter is back at its initial value");
    if (value != c_.value)
      return no(fmt::format("the counter ends at {}, not {}", value, c_.value));
    return Reproduced{};
  }

  ReplayResult fault() {
    if (auto bad = schedules(1)) return *bad;
    auto extra = extra_pages();
    if (!extra) return no("only guaranteed FIFOs may be deeper");
    const ir::TokenGame game(program_, unrolled_, std::move(*extra));
    ir::PlayResult r = ir::play(game, c_.schedules[0]);
    if (!r.complete) return no(fmt::format("the schedule stops after {} steps", r.steps));
    if (!valid(c_.transition)) return no("no such op");
    const ir::ProgramId p(unrolled_.program[c_.transition.value()]);
    if (r.state.next[p.value()] != c_.transition.value()) {
      return no("the engine program does not stand at the op");
    }
    if (!c_.accesses.empty()) {
      return c_.kind == Kind::misuse ? region_fault() : no("another kind of fault happens");
    }
    if (!game.can_step(r.state, p)) return no("the op is blocked");
    const auto fault = game.step(r.state, p);
    if (!fault) return no("the op is performed without fault");
    const bool overflow = fault->kind == ir::PlayFault::Kind::overflow;
    if (overflow != (c_.kind == Kind::overflow)) return no("another kind of fault happens");
    if (fault->counter != c_.counter || fault->value != c_.value || fault->limit != c_.limit) {
      return no("the fault is of another counter or value");
    }
    return Reproduced{};
  }

  ReplayResult region_fault() const {
    const ir::AccessMap map = ir::resolve_accesses(program_, unrolled_);
    const bool found =
        std::any_of(map.faults.begin(), map.faults.end(), [&](const ir::AccessFault& f) {
          return f.transition == c_.transition && f.access == c_.accesses[0].access;
        });
    if (!found) return no("the region lies inside its object");
    return Reproduced{};
  }

  /// Order in which a schedule performs the two accesses of a race: true if the first comes first.
  std::variant<bool, NotReproduced> order(const ir::TokenGame& game,
                                          const ir::Schedule& schedule) const {
    ir::PlayState state = game.start();
    std::optional<bool> first_seen;
    const std::uint32_t a = c_.accesses[0].transition.value(),
                        b = c_.accesses[1].transition.value();
    for (const ir::ScheduleRun& run : schedule) {
      if (run.program.value() >= program_.programs.size()) return no("no such engine program");
      for (std::uint32_t i = 0; i < run.steps; ++i) {
        const std::uint32_t t = state.next[run.program.value()];
        if (!game.can_step(state, run.program)) return no("the schedule cannot be played");
        if (game.step(state, run.program)) return no("the schedule meets a fault");
        if (t != a && t != b) continue;
        if (first_seen) return *first_seen;
        first_seen = t == a;
      }
    }
    return no("the schedule does not perform both accesses");
  }

  ReplayResult race() {
    if (auto bad = schedules(2)) return *bad;
    if (c_.accesses.size() != 2 || !valid(c_.accesses[0].transition) ||
        !valid(c_.accesses[1].transition)) {
      return no("two accesses are needed");
    }
    if (same_program()) return no("one engine program performs both accesses");
    if (!conflict()) return no("the two accesses do not conflict");
    auto extra = extra_pages();
    if (!extra) return no("only guaranteed FIFOs may be deeper");
    const ir::TokenGame deep(program_, unrolled_, std::move(*extra));
    const auto one = order(game_, c_.schedules[0]);
    const auto two = order(deep, c_.schedules[1]);
    if (const auto* bad = std::get_if<NotReproduced>(&one)) return *bad;
    if (const auto* bad = std::get_if<NotReproduced>(&two)) return *bad;
    if (std::get<bool>(one) == std::get<bool>(two))
      return no("both schedules perform them in the same order");
    return Reproduced{};
  }

  [[nodiscard]] bool same_program() const {
    return unrolled_.program[c_.accesses[0].transition.value()] ==
           unrolled_.program[c_.accesses[1].transition.value()];
  }

  /// (iteration, place of its section in the source) of an access.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> source_rank(const AccessRef& ref) const {
    const ir::SectionId section = ir::section_of_run(program_, unrolled_, ref.transition);
    return {unrolled_.iteration(ref.transition), program_.sections[section.value()].source_index};
  }

  ReplayResult wrong_order() {
    if (auto bad = schedules(1)) return *bad;
    if (c_.accesses.size() != 2 || !is_run(c_.accesses[0].transition) ||
        !is_run(c_.accesses[1].transition)) {
      return no("two accesses are needed");
    }
    if (!conflict()) return no("the two accesses do not conflict");
    if (program_.sections.size() < 2)
      return no("a program of one section has no order of sections");
    if (ordering::base_buffer(program_, c_.accesses[0].access) !=
        ordering::base_buffer(program_, c_.accesses[1].access))
      return no("the accesses are to different buffers");
    if (source_rank(c_.accesses[0]) <= source_rank(c_.accesses[1]))
      return no("the accesses come in the order of their sections");
    const auto played = order(game_, c_.schedules[0]);
    if (const auto* bad = std::get_if<NotReproduced>(&played)) return *bad;
    return std::get<bool>(played) ? ReplayResult(Reproduced{})
                                  : no("the schedule performs them the other way round");
  }

  /// ops[0] is performed after the boundary, while ops[1], before it, is not.
  ReplayResult slip_through() {
    if (auto bad = schedules(1)) return *bad;
    if (c_.ops.size() != 2 || !valid(c_.ops[0]) || !valid(c_.ops[1]))
      return no("two ops are needed");
    if (c_.index >= program_.boundaries.size() || !program_.boundaries[c_.index].closed)
      return no("no such closed boundary");
    const auto after = place_of(c_.ops[0]), before = place_of(c_.ops[1]);
    if (!after || !before) return no("an op belongs to no section");
    // The iteration of the first such boundary after the earlier op.
    const std::uint32_t seam = program_.boundaries[c_.index].after.value();
    const std::uint32_t round = before->first + (before->second > seam ? 1 : 0);
    if (std::pair(round, seam) >= *after)
      return no("the boundary does not stand between the two ops");
    const ir::PlayResult r = ir::play(game_, c_.schedules[0]);
    if (!r.complete || r.fault) return no("the schedule cannot be played");
    const auto performed = [&](ir::TransitionId t) {
      return r.state.next[unrolled_.program[t.value()]] > t.value();
    };
    if (!performed(c_.ops[0])) return no("the op after the boundary is not performed");
    if (performed(c_.ops[1])) return no("the op before the boundary is performed");
    return Reproduced{};
  }

  /// (iteration, section) of an op; nothing for those of boundaries.
  [[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> place_of(
      ir::TransitionId t) const {
    const std::uint32_t op = unrolled_.op[t.value()];
    for (const ir::Span& span : program_.programs[unrolled_.program[t.value()]].spans) {
      if (op < span.begin || op >= span.end) continue;
      if (!span.section.valid()) return std::nullopt;
      return std::pair(unrolled_.iteration(t), span.section.value());
    }
    return std::nullopt;
  }

  [[nodiscard]] bool is_run(ir::TransitionId t) const {
    return valid(t) && unrolled_.op_of(program_, t).code == ir::OpCode::run;
  }

  [[nodiscard]] bool conflict() const {
    const ir::AccessMap map = ir::resolve_accesses(program_, unrolled_);
    if (map.limit) return false;
    const auto of = [&](const AccessRef& ref) {
      std::vector<const ir::ResolvedAccess*> out;
      for (const ir::ResolvedAccess& a : map.accesses) {
        if (a.transition == ref.transition && a.access == ref.access) out.push_back(&a);
      }
      return out;
    };
    for (const auto* x : of(c_.accesses[0])) {
      for (const auto* y : of(c_.accesses[1])) {
        if ((x->write || y->write) && x->storage == y->storage && x->low < y->high &&
            y->low < x->high)
          return true;
      }
    }
    return false;
  }

  /// Plays to just before the read and looks at who wrote the range last.
  ReplayResult bad_read() {
    if (auto bad = schedules(1)) return *bad;
    if (c_.accesses.empty() || !valid(c_.accesses[0].transition) || !c_.range)
      return no("a read and a range are needed");
    if (c_.range->low >= c_.range->high) return no("the range is empty");
    const ir::AccessMap map = ir::resolve_accesses(program_, unrolled_);
    if (map.limit) return no("the accesses exceed the limit of the analysis");
    const std::uint32_t read = c_.accesses[0].transition.value();
    std::vector<std::vector<const ir::ResolvedAccess*>> writes(unrolled_.transitions());
    bool reads_range = false;
    for (const ir::ResolvedAccess& a : map.accesses) {
      if (!covers(map, a)) continue;
      if (a.write) writes[a.transition.value()].push_back(&a);
      reads_range |= !a.write && a.transition.value() == read &&
                     a.access == c_.accesses[0].access && a.low <= c_.range->low &&
                     c_.range->high <= a.high;
    }
    if (!reads_range) return no("the op does not read the range");
    ir::PlayState state = game_.start();
    std::optional<std::uint32_t> writer;
    for (const ir::ScheduleRun& run : c_.schedules[0]) {
      for (std::uint32_t i = 0; i < run.steps; ++i) {
        if (run.program.value() >= program_.programs.size() ||
            !game_.can_step(state, run.program)) {
          return no("the schedule cannot be played");
        }
        const std::uint32_t t = state.next[run.program.value()];
        if (game_.step(state, run.program)) return no("the schedule meets a fault");
        if (!writes[t].empty()) writer = t;
      }
    }
    if (state.next[unrolled_.program[read]] != read)
      return no("the engine program does not stand at the read");
    if (c_.kind == Kind::wrong_producer) return wrong_producer(read, writer);
    const ir::Region& region = program_.accesses[c_.accesses[0].access].region;
    const ir::TransitionId reader(read);
    if (writer) {
      if (outlives(program_, unrolled_, region, ir::TransitionId(*writer), reader)) {
        return no("the range was written before");
      }
      return Reproduced{};
    }
    if (region.kind == ir::RegionKind::bytes && with_contents(program_)[region.object] == 0)
      return Reproduced{};  // other buffers' contents, if any
    for (const ir::Segment& s : map.segments) {
      if (same_storage(map.storages[s.storage], c_.range->storage) && s.low < c_.range->high &&
          c_.range->low < s.high && s.init != ir::Init::undefined &&
          outlives_start(program_, unrolled_, region, reader)) {
        return no("the range has initial contents");
      }
    }
    return Reproduced{};
  }

  [[nodiscard]] static bool same_storage(const ir::Storage& a, const ir::Storage& b) {
    return a.kind == b.kind && a.object == b.object && a.site == b.site && a.space == b.space;
  }
  [[nodiscard]] bool covers(const ir::AccessMap& map, const ir::ResolvedAccess& a) const {
    return same_storage(map.storages[a.storage], c_.range->storage) && a.low < c_.range->high &&
           c_.range->low < a.high;
  }

  [[nodiscard]] ir::SectionId section_of(std::uint32_t run) const {
    return program_.stages[unrolled_.op_of(program_, ir::TransitionId(run)).object].section;
  }

  /// What flow's check calls wrong: the same exceptions.
  ReplayResult wrong_producer(std::uint32_t read, std::optional<std::uint32_t> writer) const {
    const std::uint32_t consumer = unrolled_.op_of(program_, ir::TransitionId(read)).object;
    const ir::Region& region = program_.accesses[c_.accesses[0].access].region;
    if (region.kind == ir::RegionKind::tensor) return no("edges speak of buffers");
    const std::uint32_t buffer = region.object;
    bool declared = false;
    for (const ir::Edge& e : program_.edges) {
      if (e.consumer.value() != consumer || e.buffer.value() != buffer) continue;
      declared = true;
      if (writer &&
          unrolled_.op_of(program_, ir::TransitionId(*writer)).object == e.producer.value()) {
        return no("the write belongs to a declared producer");
      }
    }
    if (!declared) return no("no producer is declared");
    if (!writer && program_.execution == ir::Execution::persistent &&
        unrolled_.iteration(ir::TransitionId(read)) == 0) {
      return no("the first iteration may read initial contents");
    }
    if (writer && section_of(*writer) != section_of(read))
      return no("the write belongs to another section");
    return Reproduced{};
  }

  /// Runs the values in the order of the schedule and compares the postcondition's region.
  ReplayResult wrong_result() {
    if (auto bad = schedules(1)) return *bad;
    if (c_.index >= program_.postconditions.size()) return no("no such postcondition");
    if (program_.execution == ir::Execution::persistent)
      return no("a persistent program has no end");
    ir::PlayState state = game_.start();
    std::vector<std::uint32_t> position(unrolled_.transitions(), 0);
    std::uint32_t at = 0;
    for (const ir::ScheduleRun& run : c_.schedules[0]) {
      for (std::uint32_t i = 0; i < run.steps; ++i) {
        if (run.program.value() >= program_.programs.size() ||
            !game_.can_step(state, run.program)) {
          return no("the schedule cannot be played");
        }
        position[state.next[run.program.value()]] = at++;
        if (game_.step(state, run.program)) return no("the schedule meets a fault");
      }
    }
    if (!game_.all_finished(state)) return no("the schedule does not play to the end");
    Subject subject;
    subject.program = subject.text = &program_;
    subject.stretch = unrolled_;
    subject.accesses = ir::resolve_accesses(program_, unrolled_);
    if (subject.accesses.limit || !subject.accesses.faults.empty())
      return no("the accesses cannot be resolved");
    if (reduction::unfounded_postcondition(subject)) return no("a term is not given from outside");
    const reduction::SymbolicRun values(subject, position);
    for (const reduction::Obligation& o : reduction::obligations(subject, values)) {
      const auto found = values.combination(o.value, o.type);
      if (o.postcondition != c_.index || found.opaque != 0xffffffffU) continue;
      if (found.undefined || found.overflow || found.terms != o.expected) return Reproduced{};
    }
    return no("every output holds its declared combination");
  }

  const ir::Program& program_;
  const Counterexample& c_;
  ir::Unrolled unrolled_;
  ir::TokenGame game_;
};

}  // namespace

ReplayResult replay(const ir::Program& program, const Counterexample& counterexample) {
  if (!counterexample.slices.empty()) return slices::recompute(program, counterexample);
  switch (counterexample.kind) {
    case Kind::overlap:
    case Kind::out_of_memory:
    case Kind::misaligned:
      return memory::recompute(program, counterexample);
    case Kind::interference:
      return isolation::recompute(program, counterexample);
    case Kind::uncovered:
      return no("this kind cannot be replayed");
    default:
      break;
  }
  if (counterexample.iterations == 0) return no("at least one iteration is needed");
  if (counterexample.iterations != 1 && program.execution == ir::Execution::once)
    return no("the program is run once");
  auto unrolled = ir::unroll(program, counterexample.iterations);
  if (!std::holds_alternative<ir::Unrolled>(unrolled))
    return no("the program unrolls to more ops than the limit");
  return Replayer(program, counterexample, std::move(std::get<ir::Unrolled>(unrolled))).run();
}

}  // namespace spatialcert::proofs
