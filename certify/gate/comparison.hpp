// The gate: what is known of a compiler's programs before and after a change, compared.
//
// Pure: it is given what became of every program and decides what got worse, what a policy excuses
// and how the run ends. It ends in 0 only if every program of the candidate is certified or each of
// its faults is excused by an exception that names it, none of the baseline's is lost without one,
// and every exception and budget was needed and kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "certify/gate/costs.hpp"
#include "certify/gate/policy.hpp"
#include "certify/pipeline.hpp"
#include "ir/result.hpp"
#include "proofs/recheck/recheck.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::certify::gate {

// ---- what is known ------------------------------------------------------------------------------

/// `fault`: of our own; nothing is known of the program.
enum class Standing : std::uint8_t { certified, refuted, undecided, refused, fault };
[[nodiscard]] std::string_view to_string(Standing standing);

/// Where a verdict comes from.
enum class Evidence : std::uint8_t {
  none,              ///< refused, or a fault
  certificate,       ///< its own certificate, after a full recheck
  twin_certificate,  ///< that of the same program in the other folder, likewise
  judged_anew
};
[[nodiscard]] std::string_view to_string(Evidence evidence);

struct RuleState {
  proofs::Rule rule = proofs::Rule::liveness;
  Verdict verdict = Verdict::undecided;
  std::string detail;  ///< not certified: why
  std::string text;    ///< refuted: the counterexample in words
};

/// A program in one folder.
struct Side {
  std::string file;
  std::string digest;  ///< hexadecimal; empty if it was refused
  Standing standing = Standing::fault;
  std::string detail;  ///< not certified: why, in one line
  Evidence evidence = Evidence::none;
  std::vector<RuleState> rules;  ///< every rule; empty if nothing was judged
  std::optional<Costs> costs;
  std::vector<std::string> discarded;  ///< certificates that were there and do not count: why
};

/// Takes what `report` says, whose counterexamples are of `program`. A program without ops is never
/// certified.
[[nodiscard]] Side side_of(const ir::Program& program, const ProgramReport& report);
/// The same from a recheck of a certificate that was found valid.
[[nodiscard]] Side side_of(const ir::Program& program, const proofs::Outcome& outcome);

/// A program of either folder, or both.
struct Pair {
  std::string name;
  std::optional<Side> baseline, candidate;
};

// ---- what is made of it -------------------------------------------------------------------------

/// In the order in which they are reported: what got worse first.
enum class Change : std::uint8_t {
  fault,  ///< of our own, on either side
  newly_refuted,
  lost,  ///< in the baseline only
  newly_refused,
  newly_undecided,
  lacking,  ///< nothing that a required rule speaks of
  still_refuted,
  still_refused,
  still_undecided,
  fixed,  ///< certified, and was not
  added,  ///< certified, and was not there
  held    ///< certified, and was
};
/// e.g. `newly refuted`.
[[nodiscard]] std::string_view to_string(Change change);
inline constexpr std::size_t kChanges = 12;

/// A rule that does not hold of the candidate.
struct OpenRule {
  std::size_t state = 0;  ///< index into Side::rules
  bool newly = false;  ///< it held of the baseline, or was otherwise open, or there is no baseline
  std::optional<std::size_t> exception;  ///< of the policy, that excuses it
};

struct Entry {
  std::size_t pair = 0;  ///< index
  Change change = Change::held;
  std::vector<OpenRule> open;
  std::optional<std::size_t> exception;  ///< that excuses its being lost
  bool excused = false;                  ///< everything that is wrong with it
};

/// The policy, broken otherwise than by a verdict.
struct Violation {
  enum class Kind : std::uint8_t { expired, unused, over_budget };
  Kind kind = Kind::unused;
  std::string program;  ///< empty if it is about none
  std::string text;     ///< one sentence
};
[[nodiscard]] std::string_view to_string(Violation::Kind kind);

struct Totals {
  std::size_t baseline = 0, candidate = 0;  ///< programs
  std::size_t of[kChanges] = {};            ///< by change, excused ones included
  std::size_t excused = 0;
};

struct Comparison {
  std::vector<Pair> pairs;     ///< by name
  std::vector<Entry> entries;  ///< one per pair, by change and then by name
  std::vector<Violation> violations;
  std::vector<ir::Refusal> refusals;  ///< folders that could not be read whole
  std::vector<std::string> faults;    ///< of our own, of no program
  Policy policy;
  Totals totals;
  int exit_status = 70;  ///< 70, 1, 3, 2, 0; 64 if there are no programs in either folder
};

/// `pairs` is sorted by name. `today` as in is_date().
[[nodiscard]] Comparison compare(std::vector<Pair> pairs, Policy policy, const std::string& today,
                                 std::vector<ir::Refusal> refusals = {});
/// `exit_status` once more, after faults were added.
void conclude(Comparison& comparison);

}  // namespace spatialcert::certify::gate
