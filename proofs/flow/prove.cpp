#include <algorithm>

#include "proofs/flow/rule.hpp"
#include "proofs/issues.hpp"
#include "proofs/reversal.hpp"
#include "proofs/schedules.hpp"

namespace spatialcert::proofs::flow {
namespace {

Counterexample bad_read(const Subject& subject, const std::vector<std::uint32_t>& position,
                        const BadRead& bad) {
  const ir::ResolvedAccess& read = subject.accesses.accesses[bad.read];
  const ir::Segment& segment = subject.accesses.segments[bad.segment];
  Counterexample c;
  c.kind =
      bad.reason == Rejected::Reason::undefined_read ? Kind::undefined_read : Kind::wrong_producer;
  c.iterations = subject.stretch.iterations;
  c.accesses = {{read.transition, read.access}};
  if (bad.writer != ordering::kNoAccess) {
    const ir::ResolvedAccess& write = subject.accesses.accesses[bad.writer];
    c.accesses.push_back({write.transition, write.access});
  }
  c.range = LocationRange{subject.accesses.storages[segment.storage], segment.low, segment.high};
  auto past = causal_past(subject, {read.transition.value()}, true);
  past[read.transition.value()] = 0;
  c.schedules.push_back(schedule_of(subject, position, past));
  return c;
}

}  // namespace

Found prove(const Subject& subject, const std::vector<std::uint32_t>& position,
            const std::vector<ordering::ExaminedPair>& ordered, smt::Session& session) {
  return prove(subject, position, ordered, session, Cuts{});
}

Found prove(const Subject& subject, const std::vector<std::uint32_t>& position,
            const std::vector<ordering::ExaminedPair>& ordered, smt::Session& session,
            const Cuts& cuts) {
  const Sources found = sources(subject, position);
  Found out;
  out.undeclared = found.undeclared;
  if (found.bad) {
    Counterexample c = bad_read(subject, position, *found.bad);
    if (std::holds_alternative<Reproduced>(replay(*subject.program, c))) {
      out.search = Refuted{std::move(c)};
    } else {
      out.search = Unknown{"a read without a right source did not replay"};
    }
    return out;
  }
  if (!subject.net.exact()) {
    out.search = Unknown{issue_text(subject, subject.net.issues.front())};
    return out;
  }
  std::vector<OrderedPair> pairs;
  for (const auto& [writer, reader] : found.needed) {
    const auto at = std::lower_bound(ordered.begin(), ordered.end(), std::pair(writer, reader),
                                     [](const ordering::ExaminedPair& p, const auto& key) {
                                       return std::pair(p.first, p.last) < key;
                                     });
    const bool examined = at != ordered.end() && at->first == writer && at->last == reader;
    if (examined && at->shown) continue;
    pairs.push_back({writer, reader, examined ? at->reach : ordering::Reach::anywhere});
  }
  if (auto reason = refute_reversals(subject, position, session, cuts, pairs)) {
    out.search = Unknown{std::move(*reason)};
  } else {
    out.search = Proved<Witness>{};
  }
  return out;
}

}  // namespace spatialcert::proofs::flow
