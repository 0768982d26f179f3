#include "proofs/rules.hpp"

#include <array>

#include "ir/require.hpp"

namespace spatialcert::proofs {
namespace {

constexpr std::array<std::string_view, 9> kRules{"liveness",  "bounds",   "quiescence",
                                                 "ordering",  "flow",     "memory",
                                                 "reduction", "coverage", "shard"};
constexpr std::array<std::string_view, 17> kKinds{
    "cycle",          "starved", "leftover",      "overflow",
    "misuse",         "race",    "wrong-order",   "undefined-read",
    "wrong-producer", "overlap", "out-of-memory", "misaligned",
    "wrong-result",   "leak",    "missing-chip",  "double-contribution",
    "uncovered"};
constexpr std::array<std::string_view, 22> kReasons{
    "wrong size",          "potential does not increase",
    "inexact test",        "missing obligation",
    "broken path",         "wrong ends",
    "not sorted",          "overlapping",
    "out of range",        "misaligned",
    "unbalanced",          "misuse",
    "undefined read",      "wrong producer",
    "wrong result",        "opaque value",
    "misplaced access",    "leak",
    "missing chip",        "double contribution",
    "labels do not recur", "uncovered"};

template <typename Enum, std::size_t N>
std::string_view name_of(Enum value, const std::array<std::string_view, N>& names) {
  const auto index = static_cast<std::size_t>(value);
  SPATIALCERT_REQUIRE(index < N, "enumerator out of range");
  return names[index];
}

constexpr std::array<std::uint32_t, kRules.size()> kVersions{1, 1, 1, 1, 1, 1, 1, 1, 1};

}  // namespace

std::string_view to_string(Rule rule) { return name_of(rule, kRules); }
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
  static const std::vector<Rule> rules{Rule::liveness, Rule::bounds,    Rule::quiescence,
                                       Rule::ordering, Rule::flow,      Rule::memory,
                                       Rule::shard,    Rule::reduction, Rule::coverage};
  return rules;
}

}  // namespace spatialcert::proofs
