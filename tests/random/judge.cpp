#include "tests/random/judge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proofs/counterexample.hpp"
#include "tests/counts.hpp"
#include "tests/oracle/memory_model.hpp"
#include "tests/oracle/shares.hpp"
#include "tests/oracle/sources.hpp"

namespace spatialcert::tests {
namespace {

using certify::Verdict;
using proofs::Kind;
using proofs::Rule;

AccessInstance instance_of(const ir::Program& program, const proofs::Counterexample& c,
                           std::size_t which) {
  const auto unrolled = std::get<ir::Unrolled>(ir::unroll(program, c.iterations));
  return instance(unrolled, c.accesses.at(which).transition.value(), c.accesses.at(which).access);
}

/// Does the oracle's own record of the counterexample's schedule show the wrong producer? Where
/// races leave it open which write a read sees, that schedule is all there is to go by.
bool shown_by_its_schedule(const ir::Program& program, const proofs::Counterexample& c) {
  const auto unrolled = std::get<ir::Unrolled>(ir::unroll(program, c.iterations));
  ir::Schedule schedule = c.schedules.at(0);
  ir::append_step(schedule, ir::ProgramId(unrolled.program[c.accesses.at(0).transition.value()]));
  const MemoryModel model(program, unrolled);
  return read_sources(program, unrolled, model, schedule)
      .wrong_producers.contains(instance_of(program, c, 0));
}

/// Are phases kept apart by what `boundary` shows, or is there nothing to keep apart?
bool boundaries_hold(const certify::ProgramReport& report) {
  return std::none_of(report.rules.begin(), report.rules.end(), [](const auto& rule) {
    return rule.rule == Rule::boundary && rule.verdict != Verdict::certified &&
           rule.verdict != Verdict::not_applicable;
  });
}

/// Pages of a FIFO are in order with one another by its own ops; that other buffers' bytes, in
/// other phases, are not touched at the same time is what `memory` and `boundary` show together.
bool of_two_buffers(const ir::Program& program, const Race& pair) {
  const ir::Region& a = program.accesses[pair.first.access].region;
  const ir::Region& b = program.accesses[pair.second.access].region;
  const bool page = a.kind == ir::RegionKind::page || b.kind == ir::RegionKind::page;
  return page && a.object != b.object;
}

/// What a rule is to see if nothing else holds.
Findings seen_by(const ir::Program& program, const certify::ProgramReport& report, Rule rule,
                 const Findings& all) {
  if (rule != Rule::ordering || boundaries_hold(report)) return all;
  Findings out = all;
  const auto other = [&](const Race& pair) { return of_two_buffers(program, pair); };
  std::erase_if(out.races, other);
  std::erase_if(out.wrong_orders, other);
  return out;
}

void judge_rule(const ir::Program& program, const certify::RuleReport& rule, Judgement& out) {
  if (rule.verdict == Verdict::certified &&
      contradicts(rule.rule, seen_by(program, out.report, rule.rule, out.findings))) {
    out.disagreement = fmt::format("{} is certified", proofs::to_string(rule.rule));
  }
  if (rule.rule == Rule::shard && rule.verdict == Verdict::certified && !out.findings.layout &&
      shares(program, kWraps, 1).first) {
    out.disagreement = "shard is certified";
  }
  if (rule.verdict != Verdict::refuted) return;
  if (!rule.counterexample) {
    out.disagreement =
        fmt::format("{} is refuted without a counterexample", proofs::to_string(rule.rule));
    return;
  }
  const proofs::Counterexample& c = *rule.counterexample;
  const auto replayed = proofs::replay(program, c);
  ++out.replays;
  if (const auto* no = std::get_if<proofs::NotReproduced>(&replayed)) {
    out.disagreement = fmt::format("{} does not replay: {}", proofs::to_string(c.kind), no->why);
  } else if (!confirmed(program, c, out.findings)) {
    // A failure that takes more wraps than the oracle usually plays.
    const bool longer = c.iterations > kWraps && c.iterations <= 2 * kWraps;
    const Findings more = longer ? examine(program, c.iterations) : Findings{};
    if (longer && (!more.complete || confirmed(program, c, more))) return;
    if (c.iterations > 2 * kWraps) return;  // beyond exhaustive search: the replay is all there is
    out.disagreement = fmt::format("{} by {}, which the oracle does not find",
                                   proofs::to_string(rule.rule), proofs::to_string(c.kind));
  }
}

}  // namespace

bool confirmed(const ir::Program& program, const proofs::Counterexample& c, const Findings& f) {
  switch (c.kind) {
    case Kind::cycle:
    case Kind::starved:
      // The oracle follows the others until they overflow, and no further: who of the rest would
      // have waited for ever it does not say.
      return f.stuck || f.unbalanced ||
             (f.overflow && program.execution == ir::Execution::persistent);
    case Kind::leftover:
      return f.leftover || f.unbalanced;
    case Kind::overflow:
      return f.overflow;
    case Kind::misuse:
      return f.misuse;
    case Kind::race: {
      const auto a = instance_of(program, c, 0);
      const auto b = instance_of(program, c, 1);
      return f.races.contains({std::min(a, b), std::max(a, b)});
    }
    case Kind::undefined_read:
      return f.undefined_reads.contains(instance_of(program, c, 0));
    case Kind::wrong_producer:
      return f.wrong_producers.contains(instance_of(program, c, 0)) ||
             (!f.races.empty() && shown_by_its_schedule(program, c));
    case Kind::overlap:
    case Kind::out_of_memory:
    case Kind::misaligned:
      return f.layout;
    case Kind::wrong_result:
      return f.wrong_results.contains(c.index);
    case Kind::leak:
    case Kind::missing_chip:
    case Kind::double_contribution: {
      const ShareFindings s = shares(program, std::max(c.iterations, kWraps), 1);
      return c.schedules.empty() ? s.misplaced : s.kinds.contains(c.kind);
    }
    case Kind::wrong_order:
      return f.wrong_orders.contains({instance_of(program, c, 0), instance_of(program, c, 1)});
    case Kind::slip_through:
      return f.slips.contains(c.index);
    case Kind::interference:
      return f.interference;
    case Kind::nonlinear:
    case Kind::mismatch:
    case Kind::gap:  // these programs have no slices
    case Kind::uncovered:
      return false;
  }
  return false;
}

bool contradicts(Rule rule, const Findings& f) {
  switch (rule) {
    case Rule::liveness:
      return f.stuck;
    case Rule::bounds:
      return f.overflow || f.misuse;
    case Rule::quiescence:
      return f.leftover || f.unbalanced;
    case Rule::ordering:
      return !f.layout && (!f.races.empty() || !f.wrong_orders.empty());
    case Rule::boundary:
      return !f.slips.empty();
    case Rule::isolation:
      return f.interference;
    case Rule::flow:
      return !f.layout && (!f.undefined_reads.empty() || !f.wrong_producers.empty());
    case Rule::memory:
      return f.layout;
    case Rule::reduction:
      return !f.layout && (f.unknown_result || !f.wrong_results.empty());
    case Rule::shard:   // see judge_rule
    case Rule::slices:  // these programs have none
    case Rule::coverage:
      return false;
  }
  return false;
}

Judgement judge(const ir::Program& program, const certify::Options& options,
                std::uint64_t state_limit) {
  Judgement out;
  out.findings = examine(program, kWraps, state_limit);
  out.report = certify::certify(program, options);
  if (!out.findings.complete) return out;
  for (const certify::RuleReport& rule : out.report.rules) judge_rule(program, rule, out);
  if (out.report.verdict != Verdict::certified) return out;
  if (out.findings.fails()) out.disagreement = "certified, but some schedule fails";
  if (!out.findings.in_class) out.disagreement = "certified, but not in the marked-graph class";
  return out;
}

std::string verdicts(const Judgement& j) {
  std::string text = fmt::format("pipeline: {} {}\n", to_string(j.report.verdict), j.report.reason);
  for (const certify::RuleReport& rule : j.report.rules) {
    text += fmt::format("  {} {} {}", proofs::to_string(rule.rule), to_string(rule.verdict),
                        rule.detail);
    if (rule.counterexample) {
      const auto& c = *rule.counterexample;
      text += fmt::format(" ({} iterations", c.iterations);
      for (const auto& a : c.accesses)
        text += fmt::format(", transition {} access {}", a.transition.value(), a.access);
      text += ")";
    }
    text += "\n";
  }
  return text + "oracle: " + j.findings.text();
}

bool Judgement::undecided_in_class() const {
  return report.verdict == Verdict::undecided && findings.complete && findings.in_class &&
         !findings.unknown_result;
}

void Tally::add(const Judgement& j, const std::string& fault) {
  ++programs;
  states += j.findings.states;
  replays += j.replays;
  ++faults[fault];
  if (!j.findings.complete) ++too_large;
  for (const certify::RuleReport& rule : j.report.rules) {
    queries += rule.queries;
    if (rule.verdict == Verdict::certified) ++witnesses;
    if (rule.verdict != Verdict::refuted) continue;
    ++refuted_by[std::string(proofs::to_string(rule.rule))];
    ++refuted_as[std::string(proofs::to_string(rule.counterexample->kind))];
  }
  switch (j.report.verdict) {
    case Verdict::certified:
      ++certified;
      break;
    case Verdict::refuted:
      ++refuted;
      break;
    default:
      ++undecided;
      if (j.undecided_in_class()) {
        ++undecided_in_class;
        ++why_undecided[fmt::format("in class, {}: {}", j.findings.fails() ? "failing" : "right",
                                    j.report.reason)];
      } else {
        ++why_undecided[j.findings.complete ? "outside the class" : "too large to say"];
      }
  }
}

std::string counts_text(const char* what, const std::map<std::string, std::uint64_t>& counts) {
  std::string out = fmt::format("\n{}:", what);
  for (const auto& [name, count] : counts) out += fmt::format(" {} {},", count, name);
  return out;
}

std::string Tally::text() const {
  return fmt::format(
             "{} programs: {} certified, {} refuted, {} undecided ({} of them in the class), {} "
             "too large; {} states, {} queries, {} witnesses accepted, {} counterexamples replayed",
             programs, certified, refuted, undecided, undecided_in_class, too_large, states,
             queries, witnesses, replays) +
         counts_text("refuted by", refuted_by) + counts_text("refuted as", refuted_as) +
         counts_text("undecided", why_undecided) + counts_text("faults", faults);
}

void Tally::report(const std::string& what) const {
  count(what, programs);
  count("states explored", states);
  count("queries", queries);
  count("witnesses accepted", witnesses);
  count("counterexamples replayed", replays);
}

}  // namespace spatialcert::tests
