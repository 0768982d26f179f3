#include "proofs/reduction/typing.hpp"

#include "proofs/issues.hpp"
#include "proofs/reduction/type_run.hpp"
#include "proofs/shard/rounds.hpp"
#include "proofs/shard/rule.hpp"

namespace spatialcert::proofs::reduction {
namespace {

Rejected::Reason reason_of(const TypeFault& fault) {
  if (fault.kind == TypeFault::Kind::no_room) return Rejected::Reason::no_room;
  if (fault.kind == TypeFault::Kind::unclear) return Rejected::Reason::unclear_type;
  switch (fault.violation.kind) {
    case Kind::double_contribution:
      return Rejected::Reason::double_contribution;
    case Kind::missing_chip:
      return Rejected::Reason::missing_chip;
    case Kind::leak:
      return Rejected::Reason::leak;
    case Kind::mismatch:
      return Rejected::Reason::mismatch;
    default:
      return Rejected::Reason::nonlinear;
  }
}

}  // namespace

bool has_types(const ir::Program& program) { return !program.sliced.empty(); }

Check check_types(const Subject& subject, const Typing& witness) {
  if (!subject.net.exact()) {
    return Rejected{Rejected::Reason::inexact_test,
                    issue_text(subject, subject.net.issues.front())};
  }
  if (witness.first >= witness.rounds || witness.rounds > shard::kMostRounds)
    return Rejected{Rejected::Reason::wrong_size, "the rounds of the witness"};
  const auto made = shard::round_of(subject);
  if (const auto* why = std::get_if<std::string>(&made))
    return Rejected{Rejected::Reason::missing_obligation, *why};
  const shard::Round& round = std::get<shard::Round>(made);
  TypeRun run(*subject.program, *subject.text, round.unrolled(), round.accesses());
  std::vector<TypeId> recurring;
  for (std::uint32_t r = 0; r < witness.rounds; ++r) {
    if (r == witness.first) recurring = run.contents();
    for (const std::uint32_t t : round.order()) {
      if (const auto fault = run.perform(t)) {
        return Rejected{reason_of(*fault),
                        transition_text(*subject.program, round.unrolled(), fault->transition) +
                            ": " + fault->violation.what};
      }
    }
    if (auto why = run.restart(round.kept()))
      return Rejected{Rejected::Reason::not_inductive, std::move(*why)};
  }
  if (recurring != run.contents())
    return Rejected{Rejected::Reason::not_inductive, "types of the first and the last round"};
  return Accepted{run.obligations()};
}

}  // namespace spatialcert::proofs::reduction
