#include "proofs/recheck/recheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/program_file.hpp"
#include "ir/require.hpp"
#include "proofs/composition/check.hpp"
#include "proofs/composition/labels.hpp"
#include "proofs/composition/types.hpp"
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
std::optional<Check> check_rule(Rule rule, const Subject& s, const Proof& c) {
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

RuleOutcome judge(Rule rule, const Subject& subject, const Proof& proof, bool required) {
  RuleOutcome out{rule, applies(rule, *subject.program), {}, 0, {}};
  const auto deny = [&](Denial denial, std::string detail) {
    out.denial = denial;
    out.detail = std::move(detail);
    return out;
  };
  if (!out.applicable && required)
    return deny(Denial::not_applicable, fmt::format("it is required, but {}", absence(rule)));
  const auto answer = check_rule(rule, subject, proof);
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

/// What the proof shows of a program, which is whole or stands for a class.
Outcome examine(const ir::Program& program, const Proof& proof, const std::vector<Rule>& required) {
  Outcome out;
  const auto deny = [&](Denial denial, std::string detail) {
    out.denial = denial;
    out.detail = std::move(detail);
    return std::move(out);
  };
  std::optional<ir::Folded> folded;
  if (!proof.folding.empty()) {
    auto made = ir::fold(program, proof.folding);
    if (const auto* why = std::get_if<ir::Unfoldable>(&made))
      return deny(Denial::unfoldable, fmt::format("group {}: {}", why->group, why->why));
    folded = std::move(std::get<ir::Folded>(made));
  }
  auto translated = make_subject(folded ? folded->program : program, proof.justified);
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
    const auto objections = folding::check(proof.folding, *folded, subject);
    if (!objections.empty()) {
      return deny(Denial::unfoldable,
                  fmt::format("group {}: {}", objections.front().group, objections.front().why));
    }
  }
  if (folded && proof.shard) {
    if (const auto why = folding::labels_change(proof.folding, *folded, subject, *proof.shard))
      return deny(Denial::unfoldable, *why);
  }
  if (folded && proof.reduction && proof.reduction->typing) {
    if (const auto why =
            folding::types_change(proof.folding, *folded, subject, *proof.reduction->typing))
      return deny(Denial::unfoldable, *why);
  }
  for (const Rule rule : all_rules()) {
    const bool asked = std::find(required.begin(), required.end(), rule) != required.end();
    out.rules.push_back(judge(rule, subject, proof, asked));
    const RuleOutcome& last = out.rules.back();
    if (!last.denial || out.denial) continue;
    out.denial = last.denial;
    out.detail = fmt::format("{}: {}", to_string(rule), last.detail);
  }
  return out;
}

/// Sections are of the classes that the certificate says, in the order of the program.
class Stated final : public composition::Guess {
 public:
  explicit Stated(const Certificate& certificate) : certificate_(certificate) {}
  void candidates(const composition::Excerpt& /*excerpt*/,
                  std::vector<std::uint32_t>& out) override {
    fresh_ = false;
    if (at_ == certificate_.class_of.size()) return;
    const std::uint32_t number = certificate_.class_of[at_++];
    fresh_ = number == founded_;
    if (!fresh_) out.push_back(number);
  }
  bool may_found() override {
    if (fresh_) ++founded_;
    return fresh_;
  }

 private:
  const Certificate& certificate_;
  std::size_t at_ = 0;
  std::uint32_t founded_ = 0;
  bool fresh_ = false;
};

/// Rules that look at the whole program, at what its classes leave to one another or at what it
/// declares.
class OfWhole {
 public:
  OfWhole(const ir::Program& program, const composition::Division& division,
          const Certificate& certificate)
      : program_(program), division_(division), certificate_(certificate) {}

  static bool looks_at(Rule rule) {
    return rule == Rule::shard || rule == Rule::reduction || rule == Rule::slices;
  }

  void judge(RuleOutcome& out) {
    const bool given = out.rule == Rule::shard       ? certificate_.shard.has_value()
                       : out.rule == Rule::reduction ? certificate_.reduction.has_value()
                                                     : certificate_.slices.has_value();
    const auto deny = [&](Denial denial, std::string detail) {
      out.denial = denial;
      out.detail = std::move(detail);
    };
    if (!out.applicable && given)
      return deny(Denial::not_applicable, "it has a witness, but does not apply");
    if (!out.applicable) return;
    if (!given) return deny(Denial::missing, "the certificate has no witness of it");
    auto checked = check(out.rule);
    if (auto* why = std::get_if<std::string>(&checked))
      return deny(Denial::rejected, std::move(*why));
    out.obligations = std::get<std::uint64_t>(checked);
  }

 private:
  std::variant<std::uint64_t, std::string> check(Rule rule) {
    if (rule == Rule::slices) {
      Subject declared;  // the rule looks at nothing but the program
      declared.program = declared.text = &program_;
      const Check answer = slices::check(declared, *certificate_.slices);
      if (const auto* rejected = std::get_if<Rejected>(&answer))
        return fmt::format("{} ({})", to_string(rejected->reason), rejected->where);
      return std::get<Accepted>(answer).obligations;
    }
    if (auto why = translate()) return *std::move(why);
    if (rule == Rule::shard)
      return composition::check_labels(program_, division_, subjects_, *certificate_.shard);
    if (!certificate_.reduction->typing) return std::string("the witness has no types");
    return composition::check_types(program_, division_, subjects_,
                                    *certificate_.reduction->typing);
  }

  /// What is left passes through all trips of the classes' loops.
  std::optional<std::string> translate() {
    if (!subjects_.empty()) return std::nullopt;
    programs_.reserve(division_.classes.size());  // subjects refer to them
    for (std::size_t c = 0; c < division_.classes.size(); ++c) {
      if (!certificate_.classes[c].folding.empty())
        return fmt::format("the loops of class {} are folded", c);
    }
    for (std::size_t c = 0; c < division_.classes.size(); ++c) {
      programs_.push_back(composition::program_of(program_, division_.classes[c]));
      auto made = make_subject(programs_.back(), certificate_.classes[c].justified);
      SPATIALCERT_REQUIRE(std::holds_alternative<Subject>(made), "it was translated before");
      subjects_.push_back(std::move(std::get<Subject>(made)));
    }
    return std::nullopt;
  }

  const ir::Program& program_;
  const composition::Division& division_;
  const Certificate& certificate_;
  std::vector<ir::Program> programs_;  // of the classes
  std::vector<Subject> subjects_;
};

/// What the proofs of classes show of the whole program.
Outcome examine_classes(const ir::Program& program, const Certificate& certificate,
                        const std::vector<Rule>& required) {
  Outcome out;
  const auto deny = [&](Denial denial, std::string detail) {
    if (!out.denial) {
      out.denial = denial;
      out.detail = std::move(detail);
    }
    return out;
  };
  Stated guess(certificate);
  const auto found = composition::divide(program, guess);
  if (const auto* objection = std::get_if<composition::Objection>(&found))
    return deny(Denial::undivided, objection->why);
  const auto& division = std::get<composition::Division>(found);
  if (division.class_of != certificate.class_of ||
      division.classes.size() != certificate.classes.size())
    return deny(Denial::undivided, "the program has other sections");
  std::vector<std::vector<std::uint64_t>> counts(kRules);
  for (std::size_t c = 0; c < division.classes.size(); ++c) {
    const ir::Program one = composition::program_of(program, division.classes[c]);
    const Outcome outcome = examine(one, certificate.classes[c], {});
    if (outcome.denial)
      return deny(*outcome.denial,
                  fmt::format("class {}, of section {}: {}", c, one.name, outcome.detail));
    for (const RuleOutcome& rule : outcome.rules)
      counts[static_cast<std::size_t>(rule.rule)].push_back(rule.obligations);
  }
  OfWhole of_whole(program, division, certificate);
  for (const Rule rule : all_rules()) {
    RuleOutcome& last = out.rules.emplace_back();
    last.rule = rule;
    last.applicable = applies(rule, program);
    if (OfWhole::looks_at(rule)) of_whole.judge(last);
    if (last.denial) {
    } else if (last.applicable && !OfWhole::looks_at(rule)) {
      last.obligations = composition::shown(rule, division, counts[static_cast<std::size_t>(rule)]);
    } else if (std::find(required.begin(), required.end(), rule) != required.end()) {
      last.denial = Denial::not_applicable;
      last.detail = fmt::format("it is required, but {}", absence(rule));
    }
    if (last.denial) deny(*last.denial, fmt::format("{}: {}", to_string(rule), last.detail));
  }
  return out;
}

}  // namespace

std::string_view to_string(Denial denial) {
  constexpr std::array<std::string_view, 9> kNames{
      "another program",    "another target", "too large to be checked",
      "wrong folding",      "wrong classes",  "unjustified place",
      "missing obligation", "not applicable", "witness rejected"};
  const auto index = static_cast<std::size_t>(denial);
  SPATIALCERT_REQUIRE(index < kNames.size(), "enumerator out of range");
  return kNames[index];
}

Outcome recheck(const ir::Program& program, const Certificate& certificate,
                const std::vector<Rule>& required) {
  const std::string digest = ir::to_hex(ir::digest(program));
  const auto deny = [&](Denial denial, std::string detail) {
    return Outcome{digest, denial, std::move(detail), {}};
  };
  const ir::Digest target = ir::target_digest(program);
  if (certificate.target != target) {
    return deny(Denial::foreign_target,
                fmt::format("the certificate is about target {}, the program is for {}",
                            ir::to_hex(certificate.target), ir::to_hex(target)));
  }
  if (ir::to_hex(certificate.program) != digest) {
    return deny(Denial::foreign_program,
                fmt::format("the certificate is about program {}, this is {}",
                            ir::to_hex(certificate.program), digest));
  }
  Outcome out = certificate.classes.empty() ? examine(program, certificate, required)
                                            : examine_classes(program, certificate, required);
  out.digest = digest;
  return out;
}

}  // namespace spatialcert::proofs
