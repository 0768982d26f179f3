#include "proofs/recheck/recheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/program_file.hpp"
#include "ir/require.hpp"
#include "proofs/folding/check.hpp"
#include "proofs/folding/labels.hpp"
#include "proofs/issues.hpp"

namespace spatialcert::proofs {
namespace {

/// The witness of one rule in the certificate, as something that can be checked.
template <typename Witness>
std::optional<Check> checked(const Subject& subject, const std::optional<Witness>& witness,
                             Check (*check)(const Subject&, const Witness&)) {
  if (!witness) return std::nullopt;
  return check(subject, *witness);
}

/// Nothing if the certificate has no witness of the rule.
std::optional<Check> check_rule(Rule rule, const Subject& s, const Certificate& c) {
  switch (rule) {
    case Rule::liveness:
      return checked(s, c.liveness, &liveness::check);
    case Rule::bounds:
      return checked(s, c.bounds, &bounds::check);
    case Rule::quiescence:
      return checked(s, c.quiescence, &quiescence::check);
    case Rule::ordering:
      return checked(s, c.ordering, &ordering::check);
    case Rule::flow:
      return checked(s, c.flow, &flow::check);
    case Rule::memory:
      return checked(s, c.memory, &memory::check);
    case Rule::reduction:
      return checked(s, c.reduction, &reduction::check);
    case Rule::coverage:
      return checked(s, c.coverage, &coverage::check);
    case Rule::boundary:
      return checked(s, c.boundary, &boundary::check);
    case Rule::isolation:
      return checked(s, c.isolation, &isolation::check);
    case Rule::shard:
      return checked(s, c.shard, &shard::check);
    case Rule::slices:
      return checked(s, c.slices, &slices::check);
  }
  return std::nullopt;
}

RuleOutcome judge(Rule rule, const Subject& subject, const Certificate& certificate,
                  bool required) {
  RuleOutcome out{rule, applies(rule, *subject.program), {}, 0, {}};
  const auto deny = [&](Denial denial, std::string detail) {
    out.denial = denial;
    out.detail = std::move(detail);
    return out;
  };
  if (!out.applicable && required)
    return deny(Denial::not_applicable, fmt::format("it is required, but {}", absence(rule)));
  const auto answer = check_rule(rule, subject, certificate);
  if (!out.applicable) {
    return answer ? deny(Denial::not_applicable, "it has a witness, but does not apply") : out;
  }
  if (!answer) return deny(Denial::missing, "the certificate has no witness of it");
  if (const auto* rejected = std::get_if<Rejected>(&*answer)) {
    return deny(Denial::rejected,
                fmt::format("{} ({})", to_string(rejected->reason), rejected->where));
  }
  out.obligations = std::get<Accepted>(*answer).obligations;
  return out;
}

/// A place that is given and not justified denies everything: all rules would rest on it.
const ir::TestIssue* unjustified(const Subject& subject) {
  const auto& issues = subject.net.issues;
  const auto at = std::find_if(issues.begin(), issues.end(), [](const ir::TestIssue& issue) {
    return issue.kind == ir::TestIssue::Kind::unjustified;
  });
  return at == issues.end() ? nullptr : &*at;
}

}  // namespace

std::string_view to_string(Denial denial) {
  constexpr std::array<std::string_view, 8> kNames{
      "another program",   "another target",     "too large to be checked", "wrong folding",
      "unjustified place", "missing obligation", "not applicable",          "witness rejected"};
  const auto index = static_cast<std::size_t>(denial);
  SPATIALCERT_REQUIRE(index < kNames.size(), "enumerator out of range");
  return kNames[index];
}

Outcome recheck(const ir::Program& program, const Certificate& certificate,
                const std::vector<Rule>& required) {
  Outcome out;
  out.digest = ir::to_hex(ir::digest(program));
  const auto deny = [&](Denial denial, std::string detail) {
    out.denial = denial;
    out.detail = std::move(detail);
    return std::move(out);
  };
  const ir::Digest target = ir::target_digest(program);
  if (certificate.target != target) {
    return deny(Denial::foreign_target,
                fmt::format("the certificate is about target {}, the program is for {}",
                            ir::to_hex(certificate.target), ir::to_hex(target)));
  }
  if (ir::to_hex(certificate.program) != out.digest) {
    return deny(Denial::foreign_program,
                fmt::format("the certificate is about program {}, this is {}",
                            ir::to_hex(certificate.program), out.digest));
  }
  std::optional<ir::Folded> folded;
  if (!certificate.folding.empty()) {
    auto made = ir::fold(program, certificate.folding);
    if (const auto* why = std::get_if<ir::Unfoldable>(&made))
      return deny(Denial::unfoldable, fmt::format("group {}: {}", why->group, why->why));
    folded = std::move(std::get<ir::Folded>(made));
  }
  auto translated = make_subject(folded ? folded->program : program, certificate.justified);
  if (const auto* why = std::get_if<Untranslatable>(&translated)) {
    return deny(Denial::too_large,
                fmt::format("op {} of engine program {} unrolls to more than {} ops", why->limit.op,
                            why->limit.program.value(), why->limit.limit));
  }
  auto& subject = std::get<Subject>(translated);
  subject.text = &program;
  if (const ir::TestIssue* issue = unjustified(subject))
    return deny(Denial::unjustified, issue_text(subject, *issue));
  if (folded) {
    const auto objections = folding::check(certificate.folding, *folded, subject);
    if (!objections.empty()) {
      return deny(Denial::unfoldable,
                  fmt::format("group {}: {}", objections.front().group, objections.front().why));
    }
  }
  if (folded && certificate.shard) {
    if (const auto why =
            folding::labels_change(certificate.folding, *folded, subject, *certificate.shard))
      return deny(Denial::unfoldable, *why);
  }
  if (folded && certificate.reduction && certificate.reduction->typing) {
    if (const auto why = folding::types_change(certificate.folding, *folded, subject,
                                               *certificate.reduction->typing))
      return deny(Denial::unfoldable, *why);
  }
  for (const Rule rule : all_rules()) {
    const bool asked = std::find(required.begin(), required.end(), rule) != required.end();
    out.rules.push_back(judge(rule, subject, certificate, asked));
    const RuleOutcome& last = out.rules.back();
    if (!last.denial || out.denial) continue;
    out.denial = last.denial;
    out.detail = fmt::format("{}: {}", to_string(rule), last.detail);
  }
  return out;
}

}  // namespace spatialcert::proofs
