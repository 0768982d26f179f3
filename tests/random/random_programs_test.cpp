// The whole pipeline against the oracle, on thousands of random programs, both ways: nothing that
// fails in some schedule is certified, nothing is refuted that the oracle does not find, and
// programs of the marked-graph class are decided.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "certify/pipeline.hpp"
#include "proofs/counterexample.hpp"
#include "tests/counts.hpp"
#include "tests/oracle/findings.hpp"
#include "tests/oracle/generator.hpp"
#include "tests/oracle/memory_model.hpp"
#include "tests/oracle/shares.hpp"
#include "tests/oracle/sources.hpp"

namespace spatialcert::tests {
namespace {

using certify::Verdict;
using proofs::Kind;
using proofs::Rule;

/// SPATIALCERT_LONG: 1,000,000 programs, or as many as it says if that is a number above 1.
std::uint64_t samples() {
  const char* const wanted = std::getenv("SPATIALCERT_LONG");
  if (wanted == nullptr) return 10'000;
  const std::uint64_t number = std::strtoull(wanted, nullptr, 10);
  return number > 1 ? number : 1'000'000;
}
/// Beginning with this one.
std::uint64_t first_seed() {
  const char* const wanted = std::getenv("SPATIALCERT_SEED");
  return wanted == nullptr ? 1 : std::strtoull(wanted, nullptr, 10);
}

/// Of the programs with one fault, every so many-th is compared with itself before the fault.
constexpr std::uint64_t kTwinEvery = 20;

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

/// Does the oracle find the failure that the counterexample shows?
bool confirmed(const ir::Program& program, const proofs::Counterexample& c, const Findings& f) {
  switch (c.kind) {
    case Kind::cycle:
    case Kind::starved:
      return f.stuck || f.unbalanced;
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
    case Kind::uncovered:
      return false;
  }
  return false;
}

/// Did `rule` certify what the oracle finds broken? Where buffers overlap, which `memory` refutes,
/// the other rules need not see that two names mean one byte.
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
    case Rule::shard:  // see judge_rule
    case Rule::coverage:
      return false;
  }
  return false;
}

struct Judgement {
  certify::ProgramReport report;
  Findings findings;
  std::string disagreement;  ///< empty: none
  std::uint64_t replays = 0;
};

void judge_rule(const ir::Program& program, const certify::RuleReport& rule, Judgement& out) {
  if (rule.verdict == Verdict::certified && contradicts(rule.rule, out.findings)) {
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

Judgement judge(const ir::Program& program) {
  Judgement out;
  out.findings = examine(program);
  out.report = certify::certify(program);
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

/// What became of the programs.
struct Tally {
  std::uint64_t programs = 0, certified = 0, refuted = 0, undecided = 0, too_large = 0;
  std::uint64_t states = 0, replays = 0, queries = 0, witnesses = 0;
  std::uint64_t undecided_in_class = 0;
  std::uint64_t near_misses = 0, twins = 0, right_twins = 0;  ///< with one fault, see kTwinEvery
  std::map<std::string, std::uint64_t> refuted_by, refuted_as, why_undecided, faults;
  std::array<std::uint64_t, static_cast<std::size_t>(Feature::count)> features{};

  void add(const Sample& sample, const Judgement& j) {
    ++programs;
    states += j.findings.states;
    replays += j.replays;
    for (std::size_t f = 0; f < features.size(); ++f)
      features[f] += sample.has(static_cast<Feature>(f)) ? 1 : 0;
    ++faults[std::string(to_string(sample.fault))];
    if (!j.findings.complete) ++too_large;
    add_near_miss(sample);
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
        if (j.findings.complete && j.findings.in_class && !j.findings.unknown_result) {
          ++undecided_in_class;
          ++why_undecided[fmt::format("in class, {}: {}", j.findings.fails() ? "failing" : "right",
                                      j.report.reason)];
        } else {
          ++why_undecided["outside the class"];
        }
    }
  }

  void add_near_miss(const Sample& sample) {
    if (sample.fault == Fault::none || sample.second_fault) return;
    if (near_misses++ % kTwinEvery != 0) return;
    ++twins;
    if (certify::certify(sample.undamaged).verdict == Verdict::certified) ++right_twins;
  }

  [[nodiscard]] std::string text() const {
    std::string out = fmt::format(
        "{} programs: {} certified, {} refuted, {} undecided ({} of them in the class), {} too "
        "large;"
        " {} states, {} queries, {} witnesses accepted, {} counterexamples replayed; {} with one "
        "fault, and {} of {} of those were certified without it",
        programs, certified, refuted, undecided, undecided_in_class, too_large, states, queries,
        witnesses, replays, near_misses, right_twins, twins);
    const auto list = [&](const char* what, const std::map<std::string, std::uint64_t>& counts) {
      out += fmt::format("\n{}:", what);
      for (const auto& [name, count] : counts) out += fmt::format(" {} {},", count, name);
    };
    list("refuted by", refuted_by);
    list("refuted as", refuted_as);
    list("undecided", why_undecided);
    list("faults", faults);
    out += "\nfeatures:";
    for (std::size_t f = 0; f < features.size(); ++f) {
      out += fmt::format(" {} {},", features[f], to_string(static_cast<Feature>(f)));
    }
    return out;
  }
};

void show(const Sample& sample, const std::function<bool(const Judgement&)>& wanted) {
  const auto small =
      assemble(shrink(sample.sketch, [&](const ir::Program& p) { return wanted(judge(p)); }));
  const Judgement j = judge(small);
  FAIL_CHECK("seed " << sample.seed << ": " << j.disagreement << "\n"
                     << listing(small) << verdicts(j));
}

/// The test means nothing if the generator degenerates.
void check_shape(const Tally& t) {
  CHECK(t.certified * 100 >= t.programs * 40);
  CHECK(t.too_large * 100 <= t.programs);
  CHECK(t.undecided_in_class == 0);
  CHECK(t.near_misses * 100 >= t.programs * 40);
  CHECK(t.right_twins * 100 >= t.twins * 90);
  for (const char* rule :
       {"liveness", "bounds", "quiescence", "ordering", "flow", "memory", "reduction"}) {
    CAPTURE(rule);
    const auto at = t.refuted_by.find(rule);
    CHECK(at != t.refuted_by.end());
    if (at != t.refuted_by.end()) CHECK(at->second * 20 >= t.programs);
  }
  for (const Feature f :
       {Feature::fifo, Feature::semaphore, Feature::gather, Feature::release, Feature::rendezvous,
        Feature::await, Feature::sliding_window, Feature::double_buffer, Feature::guaranteed,
        Feature::loop, Feature::initial_value, Feature::view, Feature::two_chips,
        Feature::persistent}) {
    CAPTURE(to_string(f));
    CHECK(t.features[static_cast<std::size_t>(f)] * 10 >= t.programs);
  }
}

TEST_CASE("pipeline and oracle agree on random programs") {
  Tally tally;
  int shown = 0;
  const std::uint64_t first = first_seed();
  for (std::uint64_t seed = first; seed < first + samples() && shown < 3; ++seed) {
    const Sample sample = generate(seed);
    const Judgement j = judge(sample.program);
    tally.add(sample, j);
    if (std::getenv("SPATIALCERT_SHOW") != nullptr && j.report.verdict == Verdict::undecided &&
        j.findings.complete && j.findings.in_class) {
      // The same reason, but for names and numbers.
      const auto reason = [](const Judgement& x) { return x.report.reason.substr(0, 14); };
      const auto small = assemble(shrink(sample.sketch, [&](const ir::Program& p) {
        const Judgement x = judge(p);
        return x.report.verdict == Verdict::undecided && x.findings.in_class &&
               x.findings.fails() == j.findings.fails() && reason(x) == reason(j);
      }));
      MESSAGE("undecided, seed " << seed << "\n" << listing(small) << verdicts(judge(small)));
    }
    if (j.disagreement.empty()) continue;
    ++shown;
    show(sample, [](const Judgement& other) { return !other.disagreement.empty(); });
  }
  MESSAGE(tally.text());
  count("random programs", tally.programs);
  count("states explored", tally.states);
  count("queries", tally.queries);
  count("witnesses accepted", tally.witnesses);
  count("counterexamples replayed", tally.replays);
  check_shape(tally);
}

}  // namespace
}  // namespace spatialcert::tests
