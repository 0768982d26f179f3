// The proof rules, their names and what one application of a rule may answer.
//
// One folder per rule: `rule.hpp` (statement, why it is sound, witness), `prove.cpp` (untrusted:
// builds the query, asks Z3, finds a witness or a counterexample), `check.cpp` (trusted: accepts a
// witness against the subject, without Z3). A new rule adds its folder and one entry in
// `all_rules()`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "proofs/counterexample.hpp"
#include "proofs/subject.hpp"

namespace spatialcert::proofs {

/// Certificates carry these numbers (docs/certificate.md): a new rule gets the next one.
enum class Rule : std::uint8_t {
  liveness,
  bounds,
  quiescence,
  ordering,
  flow,
  memory,
  reduction,
  coverage,
  boundary,
  isolation,
  shard,
  slices
};
[[nodiscard]] std::string_view to_string(Rule rule);
[[nodiscard]] std::optional<Rule> parse_rule(std::string_view name);
/// Grows when a witness of the rule gets another meaning, so that older ones are not misread.
[[nodiscard]] std::uint32_t rule_version(Rule rule);
[[nodiscard]] const std::vector<Rule>& all_rules();  ///< in the order of reports
inline constexpr std::size_t kRules = 12;            ///< how many there are
/// Has the program anything that the rule speaks of? `boundary` speaks of closed boundaries,
/// `isolation` of several sections, `reduction` of postconditions and slices, `shard` of what
/// belongs to one chip (shard::applies), `slices` of slices.
[[nodiscard]] bool applies(Rule rule, const ir::Program& program);
/// Why it does not.
[[nodiscard]] std::string_view absence(Rule rule);

// ---- search (untrusted) -------------------------------------------------------------------------

template <typename Witness>
struct Proved {
  Witness witness;
};
struct Refuted {
  Counterexample counterexample;
};
struct Unknown {
  std::string reason;  ///< names the construct, the obligation or the limit
};
template <typename Witness>
using Search = std::variant<Proved<Witness>, Refuted, Unknown>;

// ---- check (trusted) ----------------------------------------------------------------------------

struct Accepted {
  std::uint64_t obligations = 0;
};
struct Rejected {
  enum class Reason : std::uint8_t {
    wrong_size,          ///< the witness is not about this program
    not_increasing,      ///< liveness: a token-free place whose potential does not grow
    inexact_test,        ///< the net is not the token game
    missing_obligation,  ///< something that had to be shown is not in the witness
    broken_path,         ///< ordering: consecutive steps are not joined by program order or a place
    wrong_ends,          ///< ordering: a path that does not join the pair
    not_sorted,          ///< memory: order of buffers
    overlapping,         ///< memory: neighbours share bytes
    out_of_range,        ///< memory: beyond the space; bounds: a sum above the maximum
    misaligned,          ///< memory
    unbalanced,          ///< quiescence
    misuse,              ///< bounds: outside a window or an object
    undefined_read,      ///< flow
    wrong_producer,      ///< flow
    wrong_result,        ///< reduction
    opaque_value,        ///< reduction: a value that is no linear combination
    uncovered,           ///< coverage
    wrong_order,         ///< ordering: against the order of the sections
    slip_through,        ///< boundary: an engine program is not held up, or holds up nobody
    interference,        ///< isolation: sections of one phase share what one of them writes
    misplaced_access,    ///< shard: a tensor touched from another chip
    leak,                ///< shard
    missing_chip,        ///< shard
    double_contribution,  ///< shard
    not_inductive,        ///< shard, reduction: labels, types do not recur as the witness says
    nonlinear,            ///< reduction: a partial sum under an op that is not linear
    mismatch,             ///< reduction: parts that do not belong together; slices: likewise
    unclear_type,         ///< reduction: an all-reduce or the spine takes what has no type
    no_room,              ///< reduction: a sum that its type may not hold
    gap                   ///< slices: an index that too few parts have
  };
  Reason reason = Reason::missing_obligation;
  std::string where;
};
[[nodiscard]] std::string_view to_string(Rejected::Reason reason);
using Check = std::variant<Accepted, Rejected>;

}  // namespace spatialcert::proofs
