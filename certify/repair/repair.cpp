#include "certify/repair/repair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "certify/judgement.hpp"
#include "certify/repair/propose.hpp"
#include "certify/report.hpp"
#include "ir/program_file.hpp"

namespace spatialcert::certify::repair {
namespace {

using proofs::Counterexample;

/// Rules that hold, or do not apply.
unsigned holding(const ProgramReport& report) {
  unsigned count = 0;
  for (const RuleReport& rule : report.rules) {
    if (rule.verdict == Verdict::certified || rule.verdict == Verdict::not_applicable) ++count;
  }
  return count;
}

/// What a counterexample is about, by names: equal ones in two programs are taken for the same.
std::string subject_of(const ir::Program& program, const Counterexample& c) {
  const OpNames names(program, c.iterations);
  const auto op = [&](ir::TransitionId t) {
    return names.engine(t) + ' ' + op_text(program, names.op_of(t)) + ';';
  };
  std::string text(proofs::to_string(c.kind));
  for (const auto& link : c.chain)
    text += op(link.waiter) + counter_text(program, names.counters()[link.counter]);
  for (const auto& access : c.accesses)
    text += op(access.transition) + region_text(program, program.accesses[access.access].region);
  for (const auto t : c.ops) text += op(t);
  if (c.transition.valid()) text += op(c.transition);
  if (c.counter.valid()) text += counter_text(program, names.counters()[c.counter]);
  for (const auto b : c.buffers) text += program.buffers[b.value()].name + ';';
  for (const auto& term : c.terms) text += fmt::format("{} {};", term.source, term.found);
  for (const auto& slice : c.slices) text += fmt::format("{} {};", slice.sliced, slice.part);
  // That an overflow comes later does not make it another one.
  if (c.kind == proofs::Kind::overflow) return text;
  return text + fmt::format("{} {} {} {}", c.value, c.limit, c.index, c.note);
}

std::vector<EditReport> reports_of(const ir::Program& program, const Edits& edits) {
  std::vector<EditReport> out;
  for (const Edit& edit : edits) {
    EditReport& report = out.emplace_back();
    report.kind = kind_name(edit);
    report.text = edit_text(program, edits, edit);
    if (const auto one = program_of(edit)) report.engine = engine_text(program, *one);
    if (const auto at = place_of(edit)) {
      report.op = at->op;
      report.source =
          source_text(program, program.programs[at->program.value()].ops[at->op].location);
    }
  }
  return out;
}

/// A candidate that was certified, or is the best of those that were not.
struct Tried {
  ir::Program program;
  ProgramReport report;
  Candidate candidate;
  const Counterexample* against = nullptr;
  proofs::Rule rule = proofs::Rule::liveness;
};

class Search {
 public:
  Search(const Options& options, const Limits& limits) : options_(options), limits_(limits) {
    options_.rules.clear();
    options_.keep_witnesses = false;
    options_.on_query = nullptr;
  }

  Suggestion run(const ir::Program& program, const ProgramReport& report,
                 const Counterexample* first) {
    ir::Program now = program;
    // What is judged by some rules only says nothing of the others.
    ProgramReport known = report.partial ? judge_by(now, options_) : report;
    for (unsigned round = 0; round < limits_.rounds; ++round) {
      auto best = improve(now, known, round == 0 ? first : nullptr);
      if (!best) break;
      Step step;
      step.rule = best->rule;
      step.kind = best->against->kind;
      step.idea = best->candidate.idea;
      step.edits = reports_of(now, best->candidate.edits);
      step.cost = cost_of(now, best->candidate.edits);
      show_smaller(now, best->candidate, step);
      out_.cost += step.cost;
      out_.steps.push_back(std::move(step));
      now = std::move(best->program);
      known = std::move(best->report);
      if (known.verdict == Verdict::certified) {
        out_.outcome = Outcome::certified;
        break;
      }
      out_.outcome = Outcome::partial;
    }
    if (out_.outcome == Outcome::partial) out_.remaining = verdict_line(known);
    if (!out_.steps.empty()) {
      out_.digest = known.digest;
      out_.program = std::move(now);
    }
    return std::move(out_);
  }

 private:
  ProgramReport judge_by(const ir::Program& program, const Options& options) {
    ++out_.certifications;
    ProgramReport report = certify(program, options);
    looked_at_ += report.divided  ? report.divided->transitions
                  : report.folded ? report.folded->transitions
                                  : report.transitions;
    return report;
  }
  bool affordable() {
    const bool yes = out_.certifications < 2 || (out_.certifications < limits_.certifications &&
                                                 looked_at_ < limits_.transitions);
    if (!yes) out_.limited = true;
    return yes;
  }

  /// All candidates for the counterexamples of a report, in the order in which they are tried:
  /// those for `first` before the others; those that change less of what was written, and then the
  /// cheaper ones; and for the rest as they were proposed.
  struct Queued {
    Candidate candidate;
    const Counterexample* against = nullptr;
    std::string subject;
    Nature nature = Nature::storage;
    Cost cost;
    [[nodiscard]] auto rank(const Counterexample* first) const {
      const auto more = [](std::int64_t n) { return std::max<std::int64_t>(0, n); };
      return std::tuple(first != nullptr && against != first, nature, more(cost.bytes),
                        more(cost.semaphores), more(cost.ops), candidate.edits.size());
    }
  };
  std::vector<Queued> queue(const ir::Program& program, const ProgramReport& report,
                            const Counterexample* first) {
    std::vector<const Counterexample*> all;
    if (first != nullptr) all.push_back(first);
    for (const RuleReport& rule : report.rules) {
      if (rule.counterexample && (first == nullptr || rule.rule != rule_of(*first)))
        all.push_back(&*rule.counterexample);
    }
    out_.tried.clear();
    out_.obstacles.clear();
    std::vector<Queued> out;
    for (const Counterexample* against : all) {
      Proposals proposals = propose(Case(program, *against));
      const std::string subject = subject_of(program, *against);
      for (auto& line : proposals.tried) note(out_.tried, std::move(line));
      for (auto& line : proposals.obstacles) note(out_.obstacles, std::move(line));
      if (const std::string_view why = none_known(*against); !why.empty())
        note(out_.obstacles, fmt::format("{}: {}", proofs::to_string(against->kind), why));
      for (Candidate& candidate : proposals.candidates) {
        const Nature nature = nature_of(program, candidate.edits);
        const Cost cost = cost_of(program, candidate.edits);
        out.push_back({std::move(candidate), against, subject, nature, cost});
      }
    }
    std::stable_sort(out.begin(), out.end(), [&](const Queued& a, const Queued& b) {
      return a.rank(first) < b.rank(first);
    });
    return out;
  }

  /// The first candidate that is certified; otherwise the best of those that take their
  /// counterexample away and keep what holds.
  std::optional<Tried> improve(const ir::Program& program, const ProgramReport& report,
                               const Counterexample* first) {
    std::optional<Tried> best;
    std::set<ir::Digest> seen{ir::digest(program)};
    for (Queued& next : queue(program, report, first)) {
      auto changed = edited(program, next.candidate.edits);
      if (!changed || !seen.insert(ir::digest(*changed)).second) continue;
      if (!affordable()) break;
      Tried one{
          *std::move(changed), {}, std::move(next.candidate), next.against, rule_of(*next.against)};
      one.report = judge_by(one.program, options_);
      if (one.report.verdict == Verdict::certified) return one;
      if (holding(one.report) < holding(best ? best->report : report) || best_is_as_good(best, one))
        continue;
      if (!still_there(one, next.subject)) best = std::move(one);
    }
    return best;
  }

  static bool best_is_as_good(const std::optional<Tried>& best, const Tried& one) {
    return best && holding(best->report) >= holding(one.report);
  }
  static bool still_there(const Tried& one, const std::string& subject) {
    for (const RuleReport& rule : one.report.rules) {
      if (rule.rule != one.rule) continue;
      if (rule.verdict == Verdict::not_evaluated || rule.verdict == Verdict::undecided) return true;
      return rule.counterexample && subject_of(one.program, *rule.counterexample) == subject;
    }
    return true;
  }
  static void note(std::vector<std::string>& lines, std::string line) {
    if (std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(std::move(line));
  }

  /// That less than the candidate's depths is not enough.
  void show_smaller(const ir::Program& program, const Candidate& candidate, Step& step) {
    Options liveness = options_;
    liveness.rules = {proofs::Rule::liveness};
    for (std::size_t i = 0; i < candidate.smaller.size(); ++i) {
      if (!affordable()) return;
      const auto& fifo = std::get<ChangeDepth>(candidate.edits[i]);
      const std::string& name = program.buffers[fifo.fifo.value()].name;
      const auto changed = candidate.smaller[i].empty() ? std::optional(program)
                                                        : edited(program, candidate.smaller[i]);
      if (!changed) continue;
      const ProgramReport report = judge_by(*changed, liveness);
      if (report.rules.empty()) continue;
      const Verdict verdict = report.rules.front().verdict;
      step.remarks.push_back(fmt::format(
          "with {} of {}, one less: liveness {}",
          count_text(static_cast<std::int64_t>(fifo.pages) - 1, "page"), name, to_string(verdict)));
    }
  }

  Options options_;
  Limits limits_;
  Suggestion out_;
  std::uint64_t looked_at_ = 0;
};

}  // namespace

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::certified:
      return "certified";
    case Outcome::partial:
      return "partial";
    case Outcome::none:
      return "none";
  }
  return "";
}

std::string_view none_known(const Counterexample& c) {
  using proofs::Kind;
  switch (c.kind) {
    case Kind::wrong_result:
      return "which of the ops that a result went through is wrong cannot be told from the result";
    case Kind::uncovered:
      return "what no rule covers can be neither judged nor repaired";
    case Kind::nonlinear:
      return "the op has to come after the all-reduce, which is another computation";
    case Kind::mismatch:
      return c.slices.empty() ? "operands that do not belong together are another computation" : "";
    case Kind::double_contribution:
      return c.ops.empty() || !c.terms.empty()
                 ? ""
                 : "an all-reduce of what is whole already is another computation";
    default:
      return "";
  }
}

Proposals propose(const Case& what) {
  using proofs::Kind;
  Proposals out;
  // No default: whoever adds a kind says here what is done about it.
  switch (what.counterexample.kind) {
    case Kind::cycle:
    case Kind::starved:
      propose_rendezvous(what, out);
      propose_depths(what, out);
      propose_moves(what, out);
      propose_counts(what, out);
      propose_own_semaphores(what, out);
      break;
    case Kind::leftover:
    case Kind::overflow:
    case Kind::misuse:
      propose_rendezvous(what, out);
      propose_counts(what, out);
      break;
    case Kind::race:
      propose_rendezvous(what, out);
      propose_handoffs(what, out);
      propose_own_semaphores(what, out);
      propose_closing(what, out);
      break;
    case Kind::wrong_order:
      propose_order(what, out);
      break;
    case Kind::slip_through:
      propose_rendezvous(what, out);
      propose_own_semaphores(what, out);
      break;
    case Kind::interference:
      propose_rendezvous(what, out);
      propose_closing(what, out);
      propose_isolation(what, out);
      break;
    case Kind::undefined_read:
      propose_rendezvous(what, out);
      propose_lifetimes(what, out);
      propose_producers(what, out);
      break;
    case Kind::wrong_producer:
      propose_producers(what, out);
      break;
    case Kind::leak:
    case Kind::missing_chip:
    case Kind::double_contribution:
      propose_operands(what, out);
      break;
    case Kind::overlap:
    case Kind::out_of_memory:
    case Kind::misaligned:
    case Kind::gap:
    case Kind::mismatch:
      propose_addresses(what, out);
      propose_slices(what, out);
      break;
    case Kind::wrong_result:
    case Kind::uncovered:
    case Kind::nonlinear:
      break;
  }
  return out;
}

Suggestion suggest(const ir::Program& program, const ProgramReport& report, const Options& options,
                   const Counterexample* first, const Limits& limits) {
  return Search(options, limits).run(program, report, first);
}

}  // namespace spatialcert::certify::repair
