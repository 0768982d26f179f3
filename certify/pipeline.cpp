#include "certify/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <variant>

#include "certify/division.hpp"
#include "certify/judgement.hpp"
#include "certify/pool.hpp"
#include "certify/report.hpp"
#include "ir/folding.hpp"
#include "ir/program_file.hpp"
#include "ir/require.hpp"
#include "proofs/find_subject.hpp"
#include "proofs/folding/find.hpp"
#include "proofs/folding/labels.hpp"
#include "smt/query.hpp"

namespace spatialcert::certify {
namespace {

using proofs::Certificate;
using proofs::Rule;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A certificate still without witnesses.
Certificate certificate_of(const ir::Program& program, const ir::Digest& digest,
                           const ir::Net& net) {
  Certificate certificate = certificate_head(program, digest);
  // Those that counting justifies come first.
  certificate.justified.assign(net.places.end() - static_cast<std::ptrdiff_t>(net.by_order),
                               net.places.end());
  return certificate;
}

/// The program with its loops folded, if that shows that every rule holds. Otherwise nothing is
/// said of the program: a counterexample of the folded one is none of its own. `why`, then.
std::optional<ProgramReport> judge_folded(const ir::Program& program, const Options& options,
                                          const ProgramReport& head, std::string& why) {
  if (!options.fold_from || head.transitions < *options.fold_from) return std::nullopt;
  if (options.on_progress) options.on_progress("folding");
  auto found = proofs::folding::find(program);
  if (auto* none = std::get_if<proofs::folding::NoFold>(&found)) {
    why = std::move(none->why);
    return std::nullopt;
  }
  auto& fold = std::get<proofs::folding::Fold>(found);
  fold.subject.text = &program;
  const std::uint64_t left = fold.subject.one.transitions();
  ProgramReport report = head;
  report.folded = FoldedLoops{0, left};
  for (const ir::FoldedGroup& group : fold.folding) report.folded->loops += group.loops.size();
  const ir::Digest digest = ir::digest(program);
  report.digest = ir::to_hex(digest);
  Certificate certificate = certificate_of(program, digest, fold.subject.net);
  certificate.folding = std::move(fold.folding);
  Options trial = options;
  trial.keep_witnesses = true;
  trial.on_query = nullptr;  // nobody wants the questions of what comes to nothing
  ProgramReport judged = judge(fold.subject, certificate, trial, report);
  if (!holds(judged)) {
    why = fmt::format("with its loops folded to {} ops it is {} by {}", left,
                      to_string(judged.verdict), first_open(judged));
    return std::nullopt;
  }
  if (const auto& shard = judged.certificate->shard) {
    const auto changing =
        proofs::folding::labels_change(certificate.folding, *fold.folded, fold.subject, *shard);
    if (changing) {
      why = "shard does not carry over: " + *changing;
      return std::nullopt;
    }
  }
  if (const auto& reduction = judged.certificate->reduction; reduction && reduction->typing) {
    const auto changing = proofs::folding::types_change(certificate.folding, *fold.folded,
                                                        fold.subject, *reduction->typing);
    if (changing) {
      why = "reduction does not carry over: " + *changing;
      return std::nullopt;
    }
  }
  // What is reported is what was judged above: this is for the questions alone.
  if (options.on_query)
    static_cast<void>(judge(fold.subject, certificate, options, std::move(report)));
  if (!options.keep_witnesses) judged.certificate.reset();
  return judged;
}

struct Translation {
  ir::Digest digest{};
  std::optional<std::variant<proofs::Subject, proofs::Untranslatable>> found;
};
Translation translate(const ir::Program& program, const Options& options) {
  Translation out;
  const auto part = [&](std::size_t i) {
    if (i == 0) {
      out.found = proofs::find_subject(program);
    } else {
      out.digest = ir::digest(program);
    }
  };
  if (options.performer) {
    options.performer(2, part);
  } else {
    for (const std::size_t i : {0U, 1U}) part(i);
  }
  return out;
}

ProgramReport judge_unrolled(const ir::Program& program, const Options& options,
                             ProgramReport report, const std::string& not_folded) {
  if (options.on_progress) options.on_progress("translation");
  const Translation translation = translate(program, options);
  report.digest = ir::to_hex(translation.digest);
  if (const auto* large = std::get_if<proofs::Untranslatable>(&*translation.found)) {
    RuleReport coverage;
    coverage.rule = Rule::coverage;
    coverage.detail = fmt::format("op {} of engine program {} unrolls to more than {} ops{}{}",
                                  large->limit.op, large->limit.program.value(), large->limit.limit,
                                  not_folded.empty() ? "" : "; not folded: ", not_folded);
    report.rules.push_back(std::move(coverage));
    conclude(report);
    return report;
  }
  const auto& subject = std::get<proofs::Subject>(*translation.found);
  return judge(subject, certificate_of(program, translation.digest, subject.net), options,
               std::move(report));
}

/// What is known before anything is judged.
ProgramReport head_of(const ir::Program& program) {
  ProgramReport report;
  report.name = program.name;
  report.ops = ir::op_count(program);
  report.transitions = ir::op_instances(program);
  return report;
}

ProgramReport judge_folded_or_not(const ir::Program& program, const Options& options,
                                  const ProgramReport& head) {
  std::string not_folded;
  auto folded = judge_folded(program, options, head, not_folded);
  if (folded) return *std::move(folded);
  return judge_unrolled(program, options, head, not_folded);
}

}  // namespace

Certificate certificate_head(const ir::Program& program, const ir::Digest& digest) {
  Certificate certificate;
  certificate.producer =
      fmt::format("spatialcert {}, z3 {}", tool_version(), smt::solver_version());
  certificate.program = digest;
  certificate.target = ir::target_digest(program);
  return certificate;
}

std::string_view to_string(Verdict verdict) {
  constexpr std::array<std::string_view, 5> kNames{"certified", "refuted", "undecided",
                                                   "not evaluated", "not applicable"};
  const auto index = static_cast<std::size_t>(verdict);
  SPATIALCERT_REQUIRE(index < kNames.size(), "enumerator out of range");
  return kNames[index];
}

ProgramReport certify(const ir::Program& program, const Options& options) {
  if (!options.performer && options.jobs > 1) {
    Pool helpers(options.jobs - 1);
    Options with_helpers = options;
    with_helpers.performer = [&](std::size_t count, const std::function<void(std::size_t)>& part) {
      helpers.each(count, part);
    };
    return certify(program, with_helpers);
  }
  const auto start = Clock::now();
  ProgramReport report = head_of(program);
  report.partial = !options.rules.empty();
  if (program.postconditions.empty()) {
    report.notes.emplace_back(
        program.result_unspecified
            ? "the result of this program is not specified, so it was not judged"
            : "no postcondition is declared, so the result was not judged");
  }
  const auto judge_section = [&](const ir::Program& section, const Options& how) {
    return judge_folded_or_not(section, how, head_of(section));
  };
  if (auto divided = judge_divided(program, options, report, judge_section)) {
    report = *std::move(divided);
  } else {
    report = judge_folded_or_not(program, options, report);
  }
  report.seconds = seconds_since(start);
  return report;
}

}  // namespace spatialcert::certify
