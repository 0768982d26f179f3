#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "proofs/issues.hpp"
#include "proofs/shard/labels.hpp"
#include "proofs/shard/misplaced.hpp"
#include "proofs/shard/rounds.hpp"
#include "proofs/shard/rule.hpp"

namespace spatialcert::proofs::shard {
namespace {

Rejected::Reason reason_of(Kind kind) {
  if (kind == Kind::double_contribution) return Rejected::Reason::double_contribution;
  return kind == Kind::missing_chip ? Rejected::Reason::missing_chip : Rejected::Reason::leak;
}

}  // namespace

bool applies(const ir::Program& program) {
  std::set<std::uint32_t> filled;
  for (const ir::Buffer& buffer : program.buffers) {
    if (buffer.init == ir::Init::external) filled.insert(buffer.site.chip);
  }
  for (const ir::Tensor& tensor : program.tensors) {
    if (tensor.owner) return true;
  }
  if (filled.size() < 2) return false;
  for (const ir::Access& access : program.accesses) {
    if (access.write && access.region.kind == ir::RegionKind::tensor) return true;
  }
  return false;
}

Check check(const Subject& subject, const Witness& witness) {
  const ir::Program& program = *subject.program;
  if (const auto bad = misplaced(program)) {
    return Rejected{Rejected::Reason::misplaced_access,
                    fmt::format("op {} of engine program {}", bad->access.op, bad->access.program)};
  }
  if (!subject.net.exact()) {
    return Rejected{Rejected::Reason::inexact_test,
                    issue_text(subject, subject.net.issues.front())};
  }
  if (witness.first >= witness.rounds || witness.rounds > kMostRounds) {
    return Rejected{Rejected::Reason::wrong_size, "the rounds of the witness"};
  }
  const auto made = round_of(subject);
  if (const auto* why = std::get_if<std::string>(&made))
    return Rejected{Rejected::Reason::missing_obligation, *why};
  const Round& round = std::get<Round>(made);
  LabelRun run(program, round.unrolled(), round.accesses());
  std::vector<LabelId> recurring;
  for (std::uint32_t r = 0; r < witness.rounds; ++r) {
    if (r == witness.first) recurring = run.contents();
    for (const std::uint32_t t : round.order()) {
      if (const auto leak = run.perform(t)) {
        return Rejected{reason_of(kind_of(program, run.labels(), leak->label)),
                        transition_text(program, round.unrolled(), leak->transition)};
      }
    }
    run.restart(round.kept());
  }
  const auto alike = [&](LabelId a, LabelId b) { return run.labels().alike(a, b); };
  if (!std::equal(recurring.begin(), recurring.end(), run.contents().begin(), alike)) {
    return Rejected{Rejected::Reason::not_inductive, "labels of the first and the last round"};
  }
  return Accepted{run.stores()};
}

}  // namespace spatialcert::proofs::shard
