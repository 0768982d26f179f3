// What is known of a program, out of a report or a recheck; and the names of everything.
#include <fmt/format.h>

#include <array>

#include "certify/gate/comparison.hpp"
#include "certify/report.hpp"
#include "ir/require.hpp"

namespace spatialcert::certify::gate {
namespace {

template <std::size_t N, typename E>
std::string_view name_of(const std::array<std::string_view, N>& names, E value) {
  const auto index = static_cast<std::size_t>(value);
  SPATIALCERT_REQUIRE(index < N, "enumerator out of range");
  return names[index];
}

void never_without_ops(Side& side) {
  if (side.costs->ops != 0 || side.standing != Standing::certified) return;
  side.standing = Standing::undecided;
  side.detail = "the program has no ops";
}

}  // namespace

std::string_view to_string(Standing standing) {
  static constexpr std::array<std::string_view, 5> kNames{"certified", "refuted", "undecided",
                                                          "refused", "fault"};
  return name_of(kNames, standing);
}

std::string_view to_string(Evidence evidence) {
  static constexpr std::array<std::string_view, 4> kNames{
      "none", "certificate", "certificate of the other folder", "judged anew"};
  return name_of(kNames, evidence);
}

std::string_view to_string(Change change) {
  static constexpr std::array<std::string_view, kChanges> kNames{
      "fault",           "newly refuted", "lost",          "newly refused",
      "newly undecided", "lacking",       "still refuted", "still refused",
      "still undecided", "fixed",         "new",           "held"};
  return name_of(kNames, change);
}

std::string_view to_string(Violation::Kind kind) {
  static constexpr std::array<std::string_view, 3> kNames{"expired", "unused", "over budget"};
  return name_of(kNames, kind);
}

Side side_of(const ir::Program& program, const ProgramReport& report) {
  Side side;
  side.digest = report.digest;
  side.evidence = Evidence::judged_anew;
  side.costs = costs_of(program);
  switch (report.verdict) {
    case Verdict::certified:
      side.standing = Standing::certified;
      break;
    case Verdict::refuted:
      side.standing = Standing::refuted;
      break;
    case Verdict::undecided:
    case Verdict::not_evaluated:
    case Verdict::not_applicable:
      side.standing = Standing::undecided;
      side.detail = report.reason;
      break;
  }
  std::string refuting;
  for (const RuleReport& rule : report.rules) {
    RuleState state{rule.rule, rule.verdict, {}, {}};
    if (rule.verdict != Verdict::certified) state.detail = rule.detail;
    if (rule.counterexample) state.text = counterexample_text(program, *rule.counterexample);
    if (rule.verdict == Verdict::refuted)
      refuting +=
          fmt::format("{}{}", refuting.empty() ? "by " : ", ", proofs::to_string(rule.rule));
    side.rules.push_back(std::move(state));
  }
  if (side.standing == Standing::refuted) side.detail = refuting;
  never_without_ops(side);
  return side;
}

Side side_of(const ir::Program& program, const proofs::Outcome& outcome) {
  SPATIALCERT_REQUIRE(!outcome.denial && !outcome.rules.empty(), "a certificate that is not valid");
  Side side;
  side.digest = outcome.digest;
  side.standing = Standing::certified;
  side.evidence = Evidence::certificate;
  side.costs = costs_of(program);
  for (const proofs::RuleOutcome& rule : outcome.rules) {
    side.rules.push_back({rule.rule,
                          rule.applicable ? Verdict::certified : Verdict::not_applicable,
                          rule.applicable ? "" : std::string(proofs::absence(rule.rule)),
                          {}});
  }
  never_without_ops(side);
  return side;
}

}  // namespace spatialcert::certify::gate
