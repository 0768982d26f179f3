// The policy of a gate: what has to hold of a compiler's programs, and the exceptions that somebody
// answers for (docs/gate.md, docs/policy.schema.json).
//
// A JSON object, format `spatialcert-policy`, version 1, read as strictly as program files. An
// exception names one program, one rule and one verdict exactly, and has a reason and a last day.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "certify/gate/costs.hpp"
#include "ir/result.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::certify::gate {

/// What a program may be in spite of the policy. `lost`: in the baseline and not in the candidate.
/// `not_applicable`: without anything that a required rule speaks of.
enum class Leave : std::uint8_t { undecided, refuted, not_applicable, lost };
/// Name with hyphens, e.g. `not-applicable`.
[[nodiscard]] std::string_view to_string(Leave leave);

struct Exception {
  std::string program;               ///< its name: path below the folder, without extension
  std::optional<proofs::Rule> rule;  ///< none if it may be lost
  Leave may = Leave::undecided;
  std::string reason;
  std::string until;  ///< last day on which it holds, YYYY-MM-DD, UTC
};

/// At most so much growth of one cost of any program that is in both folders.
struct Budget {
  Cost cost = Cost::memory;
  std::string space;          ///< of `memory`: which; empty = each
  std::uint64_t percent = 0;  ///< of what it was
};

struct Policy {
  /// Rules that must apply to every program, and hold. Those that apply are required anyway.
  std::vector<proofs::Rule> required;
  std::vector<Exception> exceptions;
  std::vector<Budget> budgets;
};

/// Is it a day of the calendar, spelled YYYY-MM-DD? Such texts compare as the days do.
[[nodiscard]] bool is_date(std::string_view text);

/// `file` only labels refusals. Refused beside what is not of the form: days that do not exist, an
/// exception without a reason, two for one program and rule, a rule for what may be lost, two
/// budgets for the same.
[[nodiscard]] ir::Result<Policy> parse_policy(std::string_view json, const std::string& file);
[[nodiscard]] ir::Result<Policy> read_policy(const std::string& path);

}  // namespace spatialcert::certify::gate
