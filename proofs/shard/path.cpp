#include "proofs/shard/path.hpp"

#include <algorithm>

#include "proofs/schedules.hpp"
#include "proofs/shard/labels.hpp"

namespace spatialcert::proofs::shard {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;

/// A run through which a chip's data went: where it read them, and the run that wrote them there.
struct Event {
  std::uint32_t round = 0;
  std::uint32_t transition = 0;
  std::uint32_t read = 0;        ///< into Program::accesses
  std::uint32_t before = kNone;  ///< event; none: initial contents
  std::uint32_t written = 0;     ///< with which of its accesses the event before wrote them
};

class Tracer {
 public:
  Tracer(const Subject& subject, const Round& round)
      : subject_(subject),
        round_(round),
        run_(*subject.program, round.unrolled(), round.accesses()) {}

  /// Performs rounds until a store is wrong. `chip` (its number in the labels): its data are
  /// traced.
  std::optional<Leak> go(std::uint32_t rounds, std::optional<std::size_t> chip) {
    event_.assign(run_.contents().size(), kNone);
    access_.assign(run_.contents().size(), 0);
    for (at_ = 0; at_ < rounds; ++at_) {
      for (const std::uint32_t t : round_.order()) {
        const std::uint32_t event = chip ? trace(t, *chip) : kNone;
        const auto leak = run_.perform(t);
        if (chip) note_writes(t, event);
        if (leak) return leak;
      }
      run_.restart(round_.kept());
      for (std::size_t s = 0; s < event_.size(); ++s) {
        if (round_.kept()[s] == 0) event_[s] = kNone;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::uint32_t round() const { return at_; }
  [[nodiscard]] const Labels& labels() const { return run_.labels(); }

  /// From the initial contents to the leak.
  [[nodiscard]] std::vector<AccessRef> path(const Leak& leak) const {
    std::vector<AccessRef> out;
    std::uint32_t written = access_[leak.segment];
    for (std::uint32_t e = event_[leak.segment]; e != kNone; e = events_[e].before) {
      const Event& event = events_[e];
      const ir::TransitionId t = in_round(subject_, round_, event.transition, event.round, at_);
      out.push_back({t, written});
      out.push_back({t, event.read});
      written = event.written;
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  /// All that is performed up to the leak.
  [[nodiscard]] ir::Schedule schedule(const Leak& leak) const {
    return schedule_to(subject_, round_, leak.transition.value(), at_);
  }

 private:
  std::uint32_t trace(std::uint32_t t, std::size_t chip) {
    const Dataflow& flow = run_.dataflow();
    for (std::uint32_t a = flow.begin(t); a < flow.begin(t + 1); ++a) {
      const ir::ResolvedAccess& access = round_.accesses().accesses[a];
      if (access.write) continue;
      for (std::uint32_t s = access.first_segment; s < access.last_segment; ++s) {
        if (!run_.labels().has(run_.contents()[s], chip)) continue;
        events_.push_back({at_, t, access.access, event_[s], access_[s]});
        return static_cast<std::uint32_t>(events_.size() - 1);
      }
    }
    return kNone;
  }

  void note_writes(std::uint32_t t, std::uint32_t event) {
    const Dataflow& flow = run_.dataflow();
    for (std::uint32_t a = flow.begin(t); a < flow.begin(t + 1); ++a) {
      const ir::ResolvedAccess& access = round_.accesses().accesses[a];
      for (std::uint32_t s = access.first_segment; access.write && s < access.last_segment; ++s) {
        event_[s] = event;
        access_[s] = access.access;
      }
    }
  }

  const Subject& subject_;
  const Round& round_;
  LabelRun run_;
  std::uint32_t at_ = 0;
  std::vector<Event> events_;
  std::vector<std::uint32_t> event_;   // per segment: what wrote it
  std::vector<std::uint32_t> access_;  // with which access
};

/// The chip whose data the path is to show.
std::size_t chip_to_trace(const Labels& labels, LabelId label) {
  std::optional<std::size_t> any;
  for (std::size_t n = 0; n < labels.chips().size(); ++n) {
    if (labels.has_twice(label, n)) return n;
    if (!any && labels.has(label, n)) any = n;
  }
  return any.value_or(0);
}

/// The first instance of an op.
ir::TransitionId instance_of(const ir::Unrolled& one, const AccessText& at) {
  for (std::uint32_t t = one.begin[at.program]; t < one.begin[at.program + 1]; ++t) {
    if (one.op[t] == at.op) return ir::TransitionId(t);
  }
  return {};
}

}  // namespace

ir::TransitionId in_round(const Subject& subject, const Round& round, std::uint32_t t,
                          std::uint32_t at, std::uint32_t at_most) {
  if (!subject.persistent()) return ir::TransitionId(t);
  const ir::Unrolled& one = round.unrolled();
  const std::uint32_t p = one.program[t];
  return ir::TransitionId(one.begin[p] * (at_most + 1) + at * one.length(ir::ProgramId(p)) +
                          (t - one.begin[p]));
}

ir::Schedule schedule_to(const Subject& subject, const Round& round, std::uint32_t t,
                         std::uint32_t at) {
  if (!subject.persistent()) {
    std::vector<std::uint32_t> position(round.order().size());
    for (std::uint32_t i = 0; i < position.size(); ++i) position[round.order()[i]] = i;
    return schedule_of(subject, position, causal_past(subject, {t}, true));
  }
  ir::Schedule out;
  for (std::uint32_t r = 0; r <= at; ++r) {
    for (const std::uint32_t next : round.order()) {
      ir::append_step(out, ir::ProgramId(round.unrolled().program[next]));
      if (r == at && next == t) break;
    }
  }
  return out;
}

std::optional<Found> first_leak(const Subject& subject, const Round& round, std::uint32_t rounds) {
  Tracer first(subject, round);
  const auto leak = first.go(rounds, std::nullopt);
  if (!leak) return std::nullopt;
  Tracer again(subject, round);
  static_cast<void>(again.go(rounds, chip_to_trace(first.labels(), leak->label)));
  Found found;
  found.round = again.round();
  Counterexample& c = found.counterexample;
  c.kind = kind_of(*subject.program, again.labels(), leak->label);
  if (subject.persistent()) c.iterations = again.round() + 1;
  c.accesses = again.path(*leak);
  const ir::Segment& segment = round.accesses().segments[leak->segment];
  c.range = LocationRange{round.accesses().storages[segment.storage], segment.low, segment.high};
  c.terms = contributions(*subject.program, again.labels(), leak->label);
  c.schedules.push_back(again.schedule(*leak));
  return found;
}

Counterexample counterexample_of(const Subject& subject, const Misplaced& misplaced) {
  Counterexample c;
  c.kind = Kind::leak;
  c.accesses.push_back({instance_of(subject.one, misplaced.access), misplaced.access.access});
  if (misplaced.other)
    c.accesses.push_back({instance_of(subject.one, *misplaced.other), misplaced.other->access});
  return c;
}

}  // namespace spatialcert::proofs::shard
