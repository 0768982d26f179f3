#include "ir/accesses.hpp"
#include "proofs/issues.hpp"
#include "proofs/reduction/rule.hpp"
#include "proofs/reduction/typing.hpp"

namespace spatialcert::proofs::reduction {

bool meets(const Combination& combination, const Obligation& obligation) {
  return combination.opaque == 0xffffffffU && !combination.overflow && !combination.undefined &&
         combination.terms == obligation.expected;
}

namespace {

Check check_results(const Subject& subject) {
  const auto position = linear_extension(subject);
  if (!position || subject.accesses.limit || !subject.accesses.faults.empty() ||
      subject.persistent()) {
    return Rejected{Rejected::Reason::missing_obligation, "the program has no single finite run"};
  }
  if (!subject.net.exact()) {
    return Rejected{Rejected::Reason::inexact_test,
                    issue_text(subject, subject.net.issues.front())};
  }
  if (unfounded_postcondition(subject)) {
    return Rejected{Rejected::Reason::missing_obligation,
                    "a postcondition speaks of contents that are not given"};
  }
  const SymbolicRun run(subject, *position);
  const auto all = obligations(subject, run);
  for (const Obligation& o : all) {
    const Combination found = run.combination(o.value, o.type);
    const auto where = [&] {
      return ir::describe(*subject.program, subject.accesses.storages[o.storage], o.low, o.high);
    };
    if (found.opaque != 0xffffffffU) return Rejected{Rejected::Reason::opaque_value, where()};
    if (!meets(found, o)) return Rejected{Rejected::Reason::wrong_result, where()};
  }
  return Accepted{all.size()};
}

}  // namespace

bool applies(const ir::Program& program) {
  return !program.postconditions.empty() || has_types(program);
}

Check check(const Subject& subject, const Witness& witness) {
  const bool types = has_types(*subject.program);
  if (witness.typing.has_value() != types)
    return Rejected{Rejected::Reason::missing_obligation, "types of contents"};
  std::uint64_t obligations = 0;
  if (types) {
    const Check checked = check_types(subject, *witness.typing);
    if (std::holds_alternative<Rejected>(checked)) return checked;
    obligations = std::get<Accepted>(checked).obligations;
  }
  if (types && subject.program->postconditions.empty()) return Accepted{obligations};
  const Check checked = check_results(subject);
  if (std::holds_alternative<Rejected>(checked)) return checked;
  return Accepted{obligations + std::get<Accepted>(checked).obligations};
}

}  // namespace spatialcert::proofs::reduction
