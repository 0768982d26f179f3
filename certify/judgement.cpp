#include "certify/judgement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <variant>

#include "ir/require.hpp"
#include "proofs/boundary/rule.hpp"
#include "proofs/bounds/rule.hpp"
#include "proofs/coverage/rule.hpp"
#include "proofs/cuts.hpp"
#include "proofs/flow/rule.hpp"
#include "proofs/isolation/rule.hpp"
#include "proofs/liveness/rule.hpp"
#include "proofs/memory/rule.hpp"
#include "proofs/ordering/rule.hpp"
#include "proofs/quiescence/rule.hpp"
#include "proofs/reduction/rule.hpp"
#include "proofs/shard/rule.hpp"
#include "proofs/slices/rule.hpp"
#include "smt/query.hpp"

namespace spatialcert::certify {
namespace {

using proofs::Certificate;
using proofs::Rule;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Applies the rules to one program.
class Application {
 public:
  Application(const ir::Program& program, const proofs::Subject& subject, const Options& options,
              ProgramReport& report)
      : program_(program),
        subject_(subject),
        options_(options),
        report_(report),
        position_(proofs::linear_extension(subject)) {
    verdict_.fill(Verdict::not_evaluated);
    // What is handed out is handed out in order.
    if (options.on_query) return;
    for (smt::Session& session : sessions_) session.performer = options.performer;
  }

  void run() {
    std::array<std::optional<RuleReport>, proofs::kRules> results;
    for (const Step& step : steps()) {
      sessions_[0].perform(step.size(), [&](std::size_t lane) {
        for (const Rule rule : step[lane]) {
          RuleReport result = apply(rule, sessions_[lane]);
          verdict_[static_cast<std::size_t>(rule)] = result.verdict;
          results[static_cast<std::size_t>(rule)] = std::move(result);
        }
      });
    }
    for (const Rule rule : proofs::all_rules()) {
      auto& result = results[static_cast<std::size_t>(rule)];
      SPATIALCERT_REQUIRE(result, "every rule is in some step");
      if (wanted(rule)) report_.rules.push_back(*std::move(result));
    }
  }

 private:
  /// Rules in an order in which what one presupposes comes before it. The two lanes of a step know
  /// nothing of each other, not even what was asked, so they may be applied at the same time.
  using Step = std::array<std::vector<Rule>, 2>;
  static const std::vector<Step>& steps() {
    static const std::vector<Step> kSteps{
        {{{Rule::liveness}, {}}},
        {{{Rule::boundary, Rule::bounds},
          {Rule::isolation, Rule::memory, Rule::slices, Rule::coverage}}},
        {{{Rule::ordering, Rule::flow}, {Rule::quiescence}}},
        {{{Rule::shard}, {Rule::reduction}}}};
    return kSteps;
  }

  [[nodiscard]] bool wanted(Rule rule) const {
    return options_.rules.empty() ||
           std::find(options_.rules.begin(), options_.rules.end(), rule) != options_.rules.end();
  }
  [[nodiscard]] Verdict verdict(Rule rule) const {
    return verdict_[static_cast<std::size_t>(rule)];
  }

  /// Rules that a requested rule presupposes are applied too.
  [[nodiscard]] bool needed(Rule rule) const {
    if (wanted(rule)) return true;
    const bool values = wanted(Rule::shard) || wanted(Rule::reduction);
    const bool later = wanted(Rule::flow) || values;
    switch (rule) {
      case Rule::liveness:
        return true;
      case Rule::boundary:  // where the program may be cut
        return later || wanted(Rule::bounds) || wanted(Rule::quiescence) || wanted(Rule::ordering);
      case Rule::bounds:
        return later || wanted(Rule::quiescence) || wanted(Rule::ordering);
      case Rule::ordering:
        return later;
      case Rule::flow:
      case Rule::memory:
        return values;
      default:
        return false;
    }
  }

  RuleReport apply(Rule rule, smt::Session& session) {
    RuleReport result;
    result.rule = rule;
    if (!needed(rule)) {
      result.verdict = Verdict::not_evaluated;
      return result;
    }
    if (options_.on_progress && wanted(rule)) {
      const std::lock_guard lock(progress_);
      options_.on_progress(proofs::to_string(rule));
    }
    session.limits.resource = options_.rlimit;
    session.queries = session.resource = session.repeated = 0;
    session.classes = !options_.monolithic;
    session.on_query = nullptr;
    if (options_.on_query && wanted(rule)) {
      session.on_query = [&](const std::string& smt2) {
        options_.on_query(proofs::to_string(rule), session.queries, smt2);
      };
    }
    const auto start = Clock::now();
    if (!proofs::applies(rule, program_)) {
      result.verdict = Verdict::not_applicable;
      result.detail = proofs::absence(rule);
    } else if (auto reason = blocked(rule)) {
      result.verdict = Verdict::not_evaluated;
      result.detail = std::move(*reason);
    } else {
      evaluate(rule, session, result);
    }
    result.seconds = seconds_since(start);
    result.queries = session.queries;
    result.resource = session.resource;
    return result;
  }

  /// Why an earlier verdict makes the rule's question meaningless.
  [[nodiscard]] std::optional<std::string> blocked(Rule rule) const {
    if (rule == Rule::slices) return std::nullopt;
    if (rule != Rule::liveness && verdict(Rule::liveness) == Verdict::refuted)
      return "the program is not live";
    if (rule == Rule::memory || rule == Rule::isolation || rule == Rule::coverage ||
        rule == Rule::liveness || rule == Rule::bounds)
      return std::nullopt;
    if (verdict(Rule::bounds) == Verdict::refuted) return "a play stops at an op out of bounds";
    if (rule == Rule::flow || rule == Rule::shard || rule == Rule::reduction) {
      if (verdict(Rule::ordering) == Verdict::refuted)
        return "what is read depends on the schedule (ordering)";
    }
    if (rule == Rule::shard || rule == Rule::reduction) {
      if (verdict(Rule::memory) == Verdict::refuted)
        return "what an op writes may lie in another buffer too (memory)";
    }
    return std::nullopt;
  }

  void evaluate(Rule rule, smt::Session& session, RuleReport& result) {
    static const std::vector<std::uint32_t> kNoOrder;
    const auto& position = position_ ? *position_ : kNoOrder;
    const bool order_needed = rule == Rule::boundary || rule == Rule::ordering ||
                              rule == Rule::flow || rule == Rule::reduction;
    if (order_needed && !position_) return undecided(result, "the net has a token-free cycle");
    switch (rule) {
      case Rule::liveness: {
        auto found = proofs::liveness::prove(subject_, session);
        settle(std::move(found.search), &proofs::liveness::check, &Certificate::liveness, result);
        if (result.verdict == Verdict::certified) result.detail = found.strategy;
        return;
      }
      case Rule::bounds:
        return settle(proofs::bounds::prove(subject_, position, session, cuts_),
                      &proofs::bounds::check, &Certificate::bounds, result);
      case Rule::quiescence:
        return settle(proofs::quiescence::prove(subject_, session), &proofs::quiescence::check,
                      &Certificate::quiescence, result);
      case Rule::ordering:
        return ordering(position, session, result);
      case Rule::flow:
        return flow(position, session, result);
      case Rule::boundary:
        return boundary(position, session, result);
      case Rule::isolation:
        return settle(proofs::isolation::prove(subject_, session), &proofs::isolation::check,
                      &Certificate::isolation, result);
      case Rule::memory:
        return settle(proofs::memory::prove(subject_, session), &proofs::memory::check,
                      &Certificate::memory, result);
      case Rule::slices:
        return settle(proofs::slices::prove(subject_, session), &proofs::slices::check,
                      &Certificate::slices, result);
      case Rule::shard:
        return shard(session, result);
      case Rule::reduction:
        return reduction(position, session, result);
      case Rule::coverage:
        return settle(proofs::coverage::prove(subject_, session), &proofs::coverage::check,
                      &Certificate::coverage, result);
    }
  }

  void boundary(const std::vector<std::uint32_t>& position, smt::Session& session,
                RuleReport& result) {
    using Witness = proofs::boundary::Witness;
    auto search = proofs::boundary::prove(subject_, position, session);
    std::vector<std::uint32_t> centres;
    if (const auto* proved = std::get_if<proofs::Proved<Witness>>(&search))
      centres = proved->witness.centre;
    settle(std::move(search), &proofs::boundary::check, &Certificate::boundary, result);
    if (result.verdict == Verdict::certified && !options_.monolithic)
      cuts_ = proofs::cuts_of(subject_, position, centres);
  }

  void ordering(const std::vector<std::uint32_t>& position, smt::Session& session,
                RuleReport& result) {
    auto found = proofs::ordering::prove(subject_, position, session, cuts_);
    examined_ = std::move(found.ordered);
    report_.pairs = examined_.size();
    settle(std::move(found.search), &proofs::ordering::check, &Certificate::ordering, result);
    if (result.verdict == Verdict::certified) result.detail = std::move(found.strategy);
  }

  void flow(const std::vector<std::uint32_t>& position, smt::Session& session, RuleReport& result) {
    // Only an ordered program has one answer; without it a refutation by replay is all there can
    // be.
    const bool determinate = verdict(Rule::liveness) == Verdict::certified &&
                             verdict(Rule::ordering) == Verdict::certified;
    auto found = proofs::flow::prove(subject_, position, examined_, session, cuts_);
    if (!determinate &&
        std::holds_alternative<proofs::Proved<proofs::flow::Witness>>(found.search)) {
      return undecided(result, "liveness or ordering is undecided");
    }
    settle(std::move(found.search), &proofs::flow::check, &Certificate::flow, result);
    if (result.verdict != Verdict::certified) return;
    result.undeclared = found.undeclared;
    result.detail = undeclared_text(found.undeclared);
  }

  void reduction(const std::vector<std::uint32_t>& position, smt::Session& session,
                 RuleReport& result) {
    auto search = proofs::reduction::prove(subject_, position, session);
    if (rests(search, result))
      settle(std::move(search), &proofs::reduction::check, &Certificate::reduction, result);
  }

  void shard(smt::Session& session, RuleReport& result) {
    auto search = proofs::shard::prove(subject_, session);
    if (rests(search, result))
      settle(std::move(search), &proofs::shard::check, &Certificate::shard, result);
  }

  /// Does what was found stand? A proof rests on other rules, a refutation by replay on none. Says
  /// why if it does not.
  template <typename Witness>
  bool rests(const proofs::Search<Witness>& search, RuleReport& result) const {
    for (const Rule premise : {Rule::liveness, Rule::bounds, Rule::ordering, Rule::flow}) {
      if (verdict(premise) == Verdict::certified || std::holds_alternative<proofs::Refuted>(search))
        continue;
      if (verdict(premise) == Verdict::refuted) {
        result.verdict = Verdict::not_evaluated;
        result.detail = "an op reads what it must not (flow)";
        return false;
      }
      undecided(result, fmt::format("{} is undecided", proofs::to_string(premise)));
      return false;
    }
    return true;
  }

  static void undecided(RuleReport& result, std::string why) {
    result.verdict = Verdict::undecided;
    result.detail = std::move(why);
  }

  /// A proof counts once its witness is accepted, a counterexample once it is replayed.
  template <typename Witness>
  void settle(proofs::Search<Witness> search,
              proofs::Check (*check)(const proofs::Subject&, const Witness&),
              std::optional<Witness> proofs::Proof::*slot, RuleReport& result) {
    if (auto* unknown = std::get_if<proofs::Unknown>(&search))
      return undecided(result, std::move(unknown->reason));
    if (auto* refuted = std::get_if<proofs::Refuted>(&search))
      return replayed(std::move(refuted->counterexample), result);
    Witness& witness = std::get<proofs::Proved<Witness>>(search).witness;
    const proofs::Check checked = check(subject_, witness);
    if (const auto* rejected = std::get_if<proofs::Rejected>(&checked)) {
      return undecided(result, fmt::format("the witness was rejected: {} ({})",
                                           proofs::to_string(rejected->reason), rejected->where));
    }
    result.verdict = Verdict::certified;
    result.obligations = std::get<proofs::Accepted>(checked).obligations;
    if (report_.certificate) (*report_.certificate).*slot = std::move(witness);
  }

  void replayed(proofs::Counterexample counterexample, RuleReport& result) const {
    const proofs::ReplayResult played = proofs::replay(program_, counterexample);
    if (const auto* no = std::get_if<proofs::NotReproduced>(&played)) {
      return undecided(
          result, fmt::format("a counterexample was found, but it does not replay: {}", no->why));
    }
    result.verdict = Verdict::refuted;
    result.detail = proofs::to_string(counterexample.kind);
    result.counterexample = std::move(counterexample);
  }

  const ir::Program& program_;
  const proofs::Subject& subject_;
  const Options& options_;
  ProgramReport& report_;
  std::optional<std::vector<std::uint32_t>> position_;
  std::vector<proofs::ordering::ExaminedPair> examined_;
  proofs::Cuts cuts_;  // none until the boundaries are proved
  std::array<Verdict, proofs::kRules> verdict_;
  std::array<smt::Session, 2> sessions_;  // per lane
  std::mutex progress_;
};

}  // namespace

void conclude(ProgramReport& report) {
  report.verdict = Verdict::certified;
  for (const RuleReport& rule : report.rules) {
    if (rule.verdict == Verdict::refuted) report.verdict = Verdict::refuted;
  }
  if (report.verdict == Verdict::refuted) return;
  for (const RuleReport& rule : report.rules) {
    if (rule.verdict == Verdict::certified || rule.verdict == Verdict::not_applicable) continue;
    report.verdict = Verdict::undecided;
    report.reason = fmt::format("{}: {}", proofs::to_string(rule.rule), rule.detail);
    return;
  }
  if (report.rules.empty()) {
    report.verdict = Verdict::undecided;
    report.reason = "no rule was applied";
  } else if (report.partial) {
    std::string names;
    for (const RuleReport& rule : report.rules)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", proofs::to_string(rule.rule));
    report.verdict = Verdict::undecided;
    report.reason = fmt::format("holds for {}; the other rules were not asked for", names);
  }
}

std::string undeclared_text(std::uint64_t reads) {
  if (reads == 0) return {};
  return fmt::format("{} reads without a declared producer: checked for definedness only", reads);
}

bool holds(const ProgramReport& report) {
  return !report.rules.empty() &&
         std::all_of(report.rules.begin(), report.rules.end(), [](const RuleReport& rule) {
           return rule.verdict == Verdict::certified || rule.verdict == Verdict::not_applicable;
         });
}

std::string first_open(const ProgramReport& report) {
  for (const RuleReport& rule : report.rules) {
    if (rule.verdict != report.verdict) continue;
    return fmt::format("{} ({})", proofs::to_string(rule.rule), rule.detail);
  }
  return report.reason;
}

ProgramReport judge(const proofs::Subject& subject, const Certificate& certificate,
                    const Options& options, ProgramReport report) {
  report.places = subject.net.places.size();
  if (options.keep_witnesses) report.certificate = certificate;
  Application(*subject.program, subject, options, report).run();
  conclude(report);
  if (!holds(report)) report.certificate.reset();
  return report;
}

}  // namespace spatialcert::certify
