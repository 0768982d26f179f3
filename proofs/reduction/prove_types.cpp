#include "proofs/reduction/prove_types.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proofs/issues.hpp"
#include "proofs/reduction/lemmas.hpp"
#include "proofs/reduction/type_run.hpp"
#include "proofs/shard/path.hpp"
#include "proofs/shard/rule.hpp"

namespace spatialcert::proofs::reduction {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;

class Typer {
 public:
  Typer(const Subject& subject, const shard::Round& round, smt::Session& session)
      : subject_(subject),
        round_(round),
        session_(session),
        run_(*subject.program, *subject.text, round.unrolled(), round.accesses()),
        lemmas_(run_.types()) {
    run_.keep_steps();
    event_.assign(run_.contents().size(), kNone);
  }

  Search<Typing> run() {
    std::vector<std::vector<TypeId>> starts;
    for (std::uint32_t r = 0; r < shard::kMostRounds; ++r) {
      starts.push_back(run_.contents());
      for (const std::uint32_t t : round_.order()) {
        const std::uint32_t event = trace(t);
        if (const auto fault = run_.perform(t)) return stopped(*fault, r, event);
        for (const StepText& step : run_.steps()) lemmas_.add(step);
        note_writes(t, event);
      }
      if (auto why = run_.restart(round_.kept())) return Unknown{std::move(*why)};
      const auto same = std::find(starts.begin(), starts.end(), run_.contents());
      if (same == starts.end()) continue;
      if (auto why = lemmas_.prove(session_)) return Unknown{std::move(*why)};
      return Proved<Typing>{{static_cast<std::uint32_t>(same - starts.begin()), r + 1}};
    }
    return Unknown{fmt::format("the types of contents do not recur within {} {}",
                               shard::kMostRounds,
                               subject_.persistent() ? "iterations" : "tokens")};
  }

 private:
  /// A run through which a partial sum went, or in which it was made.
  struct Event {
    std::uint32_t transition = 0;
    std::uint32_t read = kNone;  ///< into Program::accesses; none: it was made here
    std::uint32_t write = kNone;
    std::uint32_t before = kNone;
  };

  [[nodiscard]] bool is_partial(std::uint32_t segment) const {
    return run_.types()[run_.contents()[segment]].kind == Type::Kind::partial;
  }

  /// Where `t`, which is about to be performed, reads a partial sum.
  std::uint32_t trace(std::uint32_t t) {
    const shard::Dataflow& flow = run_.dataflow();
    Event event{t, kNone, kNone, kNone};
    bool writes = false;
    for (std::uint32_t a = flow.begin(t); a < flow.begin(t + 1); ++a) {
      const ir::ResolvedAccess& access = round_.accesses().accesses[a];
      writes = writes || access.write;
      if (access.write && event.write == kNone) event.write = access.access;
      if (access.write || event.read != kNone) continue;
      for (std::uint32_t s = access.first_segment; s < access.last_segment; ++s) {
        if (!is_partial(s)) continue;
        event.read = access.access;
        event.before = event_[s];
        break;
      }
    }
    if (!writes) return kNone;
    events_.push_back(event);
    return static_cast<std::uint32_t>(events_.size() - 1);
  }

  void note_writes(std::uint32_t t, std::uint32_t event) {
    const shard::Dataflow& flow = run_.dataflow();
    for (std::uint32_t a = flow.begin(t); a < flow.begin(t + 1); ++a) {
      const ir::ResolvedAccess& access = round_.accesses().accesses[a];
      for (std::uint32_t s = access.first_segment; access.write && s < access.last_segment; ++s)
        event_[s] = event;
    }
  }

  Search<Typing> stopped(const TypeFault& fault, std::uint32_t round, std::uint32_t event) const {
    const auto text = [&] {
      return fmt::format("{}: {}",
                         transition_text(*subject_.program, round_.unrolled(), fault.transition),
                         fault.violation.what);
    };
    if (fault.kind != TypeFault::Kind::violation) return Unknown{text()};
    if (!subject_.persistent() && round > 0)
      return Unknown{text() + fmt::format(", {} tokens later, which cannot be played", round)};
    Counterexample c;
    c.kind = fault.violation.kind;
    c.note = fault.violation.what;
    if (subject_.persistent()) c.iterations = round + 1;
    const std::uint32_t t = fault.transition.value();
    c.ops.push_back(shard::in_round(subject_, round_, t, round, round));
    c.accesses = path(event, round);
    const ir::Segment& segment = round_.accesses().segments[fault.segment];
    c.range = LocationRange{round_.accesses().storages[segment.storage], segment.low, segment.high};
    c.schedules.push_back(shard::schedule_to(subject_, round_, t, round));
    if (std::holds_alternative<Reproduced>(replay(*subject_.program, c)))
      return Refuted{std::move(c)};
    return Unknown{text() + ", which does not replay"};
  }

  /// From the op that made the partial sum to the one that meets it. Of the first round only: later
  /// ones would need to know which round an event is of.
  [[nodiscard]] std::vector<AccessRef> path(std::uint32_t event, std::uint32_t round) const {
    std::vector<AccessRef> out;
    if (round > 0 || event == kNone) return out;
    bool last = true;
    for (std::uint32_t e = event; e != kNone; e = events_[e].before) {
      const Event& at = events_[e];
      const ir::TransitionId t = shard::in_round(subject_, round_, at.transition, 0, 0);
      if (!last && at.write != kNone) out.push_back({t, at.write});
      if (at.read != kNone) out.push_back({t, at.read});
      last = false;
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  const Subject& subject_;
  const shard::Round& round_;
  smt::Session& session_;
  TypeRun run_;
  Lemmas lemmas_;
  std::vector<Event> events_;
  std::vector<std::uint32_t> event_;  // per segment: what wrote it
};

}  // namespace

Search<Typing> prove_types(const Subject& subject, smt::Session& session) {
  const auto made = shard::round_of(subject);
  if (const auto* why = std::get_if<std::string>(&made)) return Unknown{*why};
  if (!subject.net.exact()) return Unknown{issue_text(subject, subject.net.issues.front())};
  return Typer(subject, std::get<shard::Round>(made), session).run();
}

}  // namespace spatialcert::proofs::reduction
