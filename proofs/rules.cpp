#include "proofs/rules.hpp"

#include <algorithm>
#include <array>

#include "ir/require.hpp"
#include "proofs/reduction/rule.hpp"
#include "proofs/shard/rule.hpp"

namespace spatialcert::proofs {
namespace {

constexpr std::array<std::string_view, kRules> kRuleNames{
    "liveness",  "bounds",   "quiescence", "ordering",  "flow",  "memory",
    "reduction", "coverage", "boundary",   "isolation", "shard", "slices"};
constexpr std::array<std::string_view, 22> kKinds{"cycle",
                                                  "starved",
                                                  "leftover",
                                                  "overflow",
                                                  "misuse",
                                                  "race",
                                                  "wrong-order",
                                                  "undefined-read",
                                                  "wrong-producer",
                                                  "overlap",
                                                  "out-of-memory",
                                                  "misaligned",
                                                  "wrong-result",
                                                  "uncovered",
                                                  "slip-through",
                                                  "interference",
                                                  "leak",
                                                  "missing-chip",
                                                  "double-contribution",
                                                  "nonlinear",
                                                  "mismatch",
                                                  "gap"};
constexpr std::array<std::string_view, 30> kReasons{"wrong size",
                                                    "potential does not increase",
                                                    "inexact test",
                                                    "missing obligation",
                                                    "broken path",
                                                    "wrong ends",
                                                    "not sorted",
                                                    "overlapping",
                                                    "out of range",
                                                    "misaligned",
                                                    "unbalanced",
                                                    "misuse",
                                                    "undefined read",
                                                    "wrong producer",
                                                    "wrong result",
                                                    "opaque value",
                                                    "uncovered",
                                                    "against the order of the sections",
                                                    "slip-through",
                                                    "interference",
                                                    "misplaced access",
                                                    "leak",
                                                    "missing chip",
                                                    "double contribution",
                                                    "labels do not recur",
                                                    "not linear",
                                                    "parts that do not belong together",
                                                    "nothing known",
                                                    "no room for the sum",
                                                    "gap"};

template <typename Enum, std::size_t N>
std::string_view name_of(Enum value, const std::array<std::string_view, N>& names) {
  const auto index = static_cast<std::size_t>(value);
  SPATIALCERT_REQUIRE(index < N, "enumerator out of range");
  return names[index];
}

constexpr std::array<std::uint32_t, kRules> kVersions{1, 1, 1, 1, 1, 1, 2, 1, 2, 1, 2, 1};

}  // namespace

std::string_view to_string(Rule rule) { return name_of(rule, kRuleNames); }
std::string_view to_string(Kind kind) { return name_of(kind, kKinds); }
std::string_view to_string(Rejected::Reason reason) { return name_of(reason, kReasons); }

std::uint32_t rule_version(Rule rule) {
  const auto index = static_cast<std::size_t>(rule);
  SPATIALCERT_REQUIRE(index < kVersions.size(), "enumerator out of range");
  return kVersions[index];
}

std::optional<Rule> parse_rule(std::string_view name) {
  for (const Rule rule : all_rules()) {
    if (to_string(rule) == name) return rule;
  }
  return std::nullopt;
}

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> rules{Rule::liveness,   Rule::boundary,  Rule::bounds,
                                       Rule::quiescence, Rule::isolation, Rule::ordering,
                                       Rule::flow,       Rule::memory,    Rule::shard,
                                       Rule::slices,     Rule::reduction, Rule::coverage};
  return rules;
}

bool applies(Rule rule, const ir::Program& program) {
  switch (rule) {
    case Rule::reduction:
      return reduction::applies(program);
    case Rule::slices:
      return !program.sliced.empty();
    case Rule::boundary:
      return std::any_of(program.boundaries.begin(), program.boundaries.end(),
                         [](const ir::Boundary& boundary) { return boundary.closed; });
    case Rule::isolation:
      return program.sections.size() > 1;
    case Rule::shard:
      return shard::applies(program);
    default:
      return true;
  }
}

std::string_view absence(Rule rule) {
  switch (rule) {
    case Rule::reduction:
      return "no postcondition is declared, and no slices";
    case Rule::slices:
      return "no full tensor is declared";
    case Rule::boundary:
      return "no boundary is closed";
    case Rule::isolation:
      return "there is one section";
    case Rule::shard:
      return "nothing belongs to one chip";
    default:
      return "";
  }
}

}  // namespace spatialcert::proofs
