// Is a certificate true of a program? Trusted; without Z3, and without what searched for witnesses.
//
// Everything is recomputed from the program: digests, the places that counting justifies, the
// obligations of every rule. Loops are folded as the certificate says, and that the folded program
// stands for the whole one is checked (proofs/folding/check.hpp). If it proves classes of sections,
// that they stand for the whole is checked (proofs/composition/check.hpp). Of the certificate only
// what could not be recomputed is used: the places that known order is to justify and the
// witnesses, and each of them is checked. Which rules apply is decided by the program, never by the
// certificate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.hpp"
#include "proofs/certificate/certificate.hpp"
#include "proofs/rules.hpp"

namespace spatialcert::proofs {

/// Why a certificate is not true of a program, or not enough.
enum class Denial : std::uint8_t {
  foreign_program,  ///< it is about another program, or another version of this one
  foreign_target,   ///< it is about another target
  too_large,        ///< the program unrolls to more ops than the analysis takes
  unfoldable,       ///< the loops that it folds cannot be folded so
  undivided,        ///< its classes of sections do not stand for the program
  unjustified,      ///< a place of the net that it gives is not justified
  missing,          ///< an applicable or required rule has no witness
  not_applicable,   ///< a witness, or a requirement, of a rule that does not apply
  rejected          ///< a witness does not show what its rule asks
};
[[nodiscard]] std::string_view to_string(Denial denial);

/// What became of one rule.
struct RuleOutcome {
  Rule rule = Rule::liveness;
  bool applicable = true;
  std::optional<Denial> denial;   ///< nothing: accepted, or not applicable
  std::uint64_t obligations = 0;  ///< accepted: things shown
  std::string detail;             ///< denied: the reason and where
};

struct Outcome {
  std::string digest;            ///< of the program, in hex
  std::optional<Denial> denial;  ///< of the whole; nothing: the certificate is valid
  std::string detail;            ///< denied: which rule or digest, and why
  std::vector<RuleOutcome>
      rules;  ///< in the order of all_rules(); empty if it did not come to them
};

/// `program` is validated. `required`: rules that must apply and be shown, whatever the program
/// says; all applicable ones are required anyway. Linear in the program, its loops unrolled but for
/// those that the certificate folds; of sections that are alike, only one is unrolled.
[[nodiscard]] Outcome recheck(const ir::Program& program, const Certificate& certificate,
                              const std::vector<Rule>& required = {});

}  // namespace spatialcert::proofs
