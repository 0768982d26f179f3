// Rendezvous of many sizes through the whole pipeline: the number of ops and places, certified; and
// with any one op broken, refuted in words that lead to it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "certify/names.hpp"
#include "certify/report.hpp"
#include "ir/sections.hpp"
#include "ir/validate.hpp"
#include "proofs/find_subject.hpp"
#include "tests/composed/ragged.hpp"
#include "tests/composition/edits.hpp"
#include "tests/counts.hpp"
#include "tests/oracle/sketch.hpp"
#include "tests/random/judge.hpp"

namespace spatialcert::tests {
namespace {

using certify::Verdict;
using ir::OpCode;

bool thorough() { return std::getenv("SPATIALCERT_LONG") != nullptr; }

compose::Composed ragged(std::uint32_t programs, std::uint32_t sites, std::uint64_t seed,
                         std::uint32_t sections = 2) {
  Random random(seed);
  const auto places = ragged_places(random, programs, sites);
  return composed(compose::compose(ragged_chain(random, places, sections)));
}

/// Marks of the transitions of one iteration that are a boundary's.
std::vector<char> boundary_transitions(const ir::Program& program, const ir::Unrolled& one) {
  std::vector<char> out(one.transitions(), 0);
  for (const ir::Piece& piece : ir::pieces_of(program, one)) {
    if (piece.boundary.valid()) std::fill(out.begin() + piece.begin, out.begin() + piece.end, 1);
  }
  return out;
}

void check_counts(const compose::Composed& result, std::uint32_t programs, std::uint32_t sites) {
  const auto translated = proofs::find_subject(result.program);
  const auto& subject = std::get<proofs::Subject>(translated);
  const auto inside = boundary_transitions(result.program, subject.one);
  CHECK(std::count(inside.begin(), inside.end(), 1) == 2 * programs + sites + 1);
  // One place per arrival and one per release; those of the root's own are program order already.
  const auto places = std::count_if(
      subject.net.places.begin(), subject.net.places.end(), [&](const ir::Place& place) {
        return inside[place.from.value()] != 0 && inside[place.to.value()] != 0;
      });
  CHECK(places + 2 == 2 * programs);
}

TEST_CASE("a rendezvous of P programs on S sites: 2 P + S + 1 ops, 2 P places, certified") {
  std::uint64_t certified = 0;
  for (std::uint32_t programs = 1; programs <= 64; ++programs) {
    for (std::uint32_t sites = 1; sites <= programs; ++sites) {
      const bool whole = thorough() || programs <= 6 || (programs * 7 + sites) % 61 == 0 ||
                         (programs == 64 && (sites == 1 || sites == 64));
      CAPTURE(programs);
      CAPTURE(sites);
      const auto result = ragged(programs, sites, 100 * programs + sites);
      CHECK(result.rendezvous->ops() == 2 * programs + sites + 1);
      CHECK(result.rendezvous->sites.size() == sites);
      if (!whole) continue;
      check_counts(result, programs, sites);
      const auto report = certify::certify(result.program);
      CHECK_MESSAGE(report.verdict == Verdict::certified, certify::verdict_line(report));
      ++certified;
    }
  }
  count("rendezvous certified", certified);
}

/// Where a mutant was broken.
struct Broken {
  std::uint32_t program = 0;
  std::uint32_t position = 0;  ///< in the program before the break
  std::string how;
  std::uint32_t semaphore = 0;
  std::uint32_t other = 0;  ///< the semaphore it was given instead
};

using Visit = std::function<void(const Broken&, const ir::Program&)>;

class Breaker {
 public:
  explicit Breaker(const ir::Program& whole) : whole_(whole) {}

  /// Ops of rendezvous: engine program and position.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> ops() const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
    for (std::uint32_t p = 0; p < whole_.programs.size(); ++p) {
      for (const ir::Span& span : whole_.programs[p].spans) {
        for (std::uint32_t i = span.begin; span.boundary.valid() && i < span.end; ++i)
          out.emplace_back(p, i);
      }
    }
    return out;
  }

  /// Every break of one op that leaves a valid program.
  void each(std::uint32_t p, std::uint32_t i, const Visit& visit) const {
    const ir::Op op = whole_.programs[p].ops[i];
    const auto with = [&](const std::string& how, auto change, std::uint32_t other) {
      ir::Program broken = whole_;
      change(broken.programs[p]);
      if (!ir::validate(broken)) visit({p, i, how, op.object, other}, broken);
    };
    const auto simple = [&](const std::string& how, auto change) { with(how, change, op.object); };
    simple("removed", [&](ir::EngineProgram& one) { erase_op(one, i); });
    simple("doubled", [&](ir::EngineProgram& one) { insert_op(one, i, op); });
    if (i + 1 < whole_.programs[p].ops.size())
      simple("moved behind the next", [&](ir::EngineProgram& one) { move_behind_next(one, i); });
    if (i > 0)
      simple("moved before the previous",
             [&](ir::EngineProgram& one) { move_before_previous(one, i); });
    simple("with one more", [&](ir::EngineProgram& one) { ++one.ops[i].count; });
    if (op.count > 1) simple("with one less", [&](ir::EngineProgram& one) { --one.ops[i].count; });
    for (std::uint32_t s = 0; s < whole_.semaphores.size(); ++s) {
      if (s == op.object) continue;
      with(
          "on another semaphore", [&](ir::EngineProgram& one) { one.ops[i].object = s; }, s);
    }
  }

 private:
  const ir::Program& whole_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Does the counterexample lead to the broken op: by its semaphore, or by its engine program?
bool names(const ir::Program& program, const proofs::Counterexample& c, const Broken& broken) {
  const auto unrolled = std::get<ir::Unrolled>(ir::unroll(program, c.iterations));
  const auto there = [&](ir::TransitionId t) {
    return t.valid() && unrolled.program[t.value()] == broken.program;
  };
  for (const ir::TransitionId t : c.ops) {
    if (there(t)) return true;
  }
  for (const proofs::WaitLink& link : c.chain) {
    if (there(link.waiter) || there(link.supplier)) return true;
  }
  if (there(c.transition)) return true;
  for (const proofs::AccessRef& a : c.accesses) {
    if (there(a.transition)) return true;
  }
  const std::string text = certify::counterexample_text(program, c);
  const ir::EngineProgram& one = program.programs[broken.program];
  return contains(text, program.semaphores[broken.semaphore].name) ||
         contains(text, program.semaphores[broken.other].name) ||
         contains(text, fmt::format("{} {}", certify::site_text(program, one.site),
                                    program.target.engines[one.engine.value()]));
}

struct Mutants {
  std::uint64_t all = 0, right = 0;
  std::map<std::string, std::uint64_t> ways, rules;

  void refuted(const certify::ProgramReport& report, const ir::Program& program,
               const Broken& broken) {
    bool named = false;
    std::string texts;
    for (const certify::RuleReport& rule : report.rules) {
      if (rule.verdict != Verdict::refuted) continue;
      REQUIRE(rule.counterexample.has_value());
      CHECK(std::holds_alternative<proofs::Reproduced>(
          proofs::replay(program, *rule.counterexample)));
      named |= names(program, *rule.counterexample, broken);
      ++rules[std::string(proofs::to_string(rule.rule))];
      texts += certify::counterexample_text(program, *rule.counterexample);
    }
    CHECK_MESSAGE(named, broken.how << "\n" << texts);
  }

  void add(const Broken& broken) {
    ++all;
    ++ways[broken.how];
  }
  [[nodiscard]] std::string text(const char* what) const {
    return fmt::format("{} {}, of which {} are right all the same", all, what, right) +
           counts_text("broken", ways) + counts_text("refuted by", rules);
  }
};

/// A break that no schedule notices, as far as rendezvous of any size go: release posts in another
/// order; the root's own release taken before it has posted others', or posted before it has waited
/// for the others where it is alone on its site.
bool harmless(const ir::Program& program, const Broken& broken) {
  const ir::EngineProgram& one = program.programs[broken.program];
  const auto is_release = [&](const ir::Op& op) {
    return op.code == OpCode::post && contains(program.semaphores[op.object].name, "release");
  };
  const bool behind = broken.how == "moved behind the next";
  if (!behind && broken.how != "moved before the previous") return false;
  const ir::Op& first = one.ops[behind ? broken.position : broken.position - 1];
  const ir::Op& second = one.ops[behind ? broken.position + 1 : broken.position];
  if (is_release(first) && is_release(second)) return true;
  if (is_release(first))
    return second.code == OpCode::wait && program.semaphores[first.object].site != one.site;
  return first.code == OpCode::wait && is_release(second) && second.count == 1 &&
         program.semaphores[second.object].site == one.site;
}

TEST_CASE("every op of a small rendezvous is needed, as it is and where it is") {
  Mutants mutants;
  const std::uint64_t rounds = thorough() ? 8 : 1;
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    for (std::uint32_t programs = 1; programs <= 5; ++programs) {
      for (std::uint32_t sites = 1; sites <= programs; ++sites) {
        const ir::Program whole =
            ragged(programs, sites, 1000 * seed + 10 * programs + sites).program;
        const Breaker breaker(whole);
        for (const auto& [p, i] : breaker.ops()) {
          breaker.each(p, i, [&](const Broken& broken, const ir::Program& program) {
            const Judgement j = judge(program);
            mutants.add(broken);
            CAPTURE(broken.how);
            CAPTURE(broken.program);
            CAPTURE(broken.position);
            INFO(listing(program));
            INFO(verdicts(j));
            REQUIRE(j.findings.complete);
            CHECK(j.disagreement == "");
            if (j.findings.fails()) {
              CHECK(to_string(j.report.verdict) == to_string(Verdict::refuted));
              mutants.refuted(j.report, program, broken);
            } else {
              CHECK(to_string(j.report.verdict) == to_string(Verdict::certified));
              ++mutants.right;
            }
          });
        }
      }
    }
  }
  CHECK(mutants.right * 5 < mutants.all);
  MESSAGE(mutants.text("broken small rendezvous"));
  count("broken rendezvous judged", mutants.all);
}

TEST_CASE("broken ops of large rendezvous are found out") {
  Mutants mutants;
  Random random(4);
  const int wanted = thorough() ? 5000 : 200;
  while (mutants.all < static_cast<std::uint64_t>(wanted)) {
    const std::uint32_t programs = 6 + random.below(mutants.all % 10 == 0 ? 59 : 20);
    const std::uint32_t sites = 1 + random.below(programs);
    const ir::Program whole = ragged(programs, sites, random.below(1U << 30U)).program;
    const Breaker breaker(whole);
    const auto ops = breaker.ops();
    // The root's ops are few, and the ones that matter most.
    const auto at =
        random.chance(40) ? ops[random.below(sites + 3)] : ops[random.below(ops.size())];
    std::vector<std::pair<Broken, ir::Program>> all;
    breaker.each(at.first, at.second, [&](const Broken& broken, const ir::Program& program) {
      // One semaphore of many will do.
      const bool other = broken.how == "on another semaphore";
      if (!other || all.empty() || all.back().first.how != broken.how) {
        all.emplace_back(broken, program);
      } else if (random.chance(30)) {
        all.back() = {broken, program};
      }
    });
    const auto& [broken, program] = all[random.below(all.size())];
    const auto report = certify::certify(program);
    mutants.add(broken);
    CAPTURE(programs);
    CAPTURE(sites);
    CAPTURE(broken.how);
    CAPTURE(broken.position);
    INFO(certify::verdict_line(report));
    INFO(certify::show_text(program));
    if (harmless(whole, broken)) {
      CHECK(to_string(report.verdict) == to_string(Verdict::certified));
      ++mutants.right;
    } else {
      CHECK(to_string(report.verdict) == to_string(Verdict::refuted));
      mutants.refuted(report, program, broken);
    }
  }
  MESSAGE(mutants.text("broken large rendezvous"));
  count("broken rendezvous judged", mutants.all);
}

TEST_CASE("with one colour a program takes its neighbour's token: refuted with the schedule") {
  const ir::Program whole = ragged(2, 1, 3, 3).program;
  REQUIRE(to_string(certify::certify(whole).verdict) == to_string(Verdict::certified));
  ir::Program program = whole;
  std::vector<std::uint32_t> releases;
  for (std::uint32_t s = 0; s < program.semaphores.size(); ++s) {
    if (contains(program.semaphores[s].name, "release")) releases.push_back(s);
  }
  REQUIRE(releases.size() == 2);
  for (ir::EngineProgram& one : program.programs) {
    for (ir::Op& op : one.ops) {
      const bool semaphore = op.code == OpCode::wait || op.code == OpCode::post;
      if (semaphore && op.object == releases[1]) op.object = releases[0];
    }
  }
  program.semaphores[releases[0]].maximum = 15;  // the fault is not that it is too small
  const Judgement j = judge(program);
  INFO(verdicts(j));
  CHECK(j.disagreement == "");
  CHECK(j.findings.stuck);
  CHECK(to_string(j.report.verdict) == to_string(Verdict::refuted));
  const certify::RuleReport& liveness = j.report.rules.front();
  REQUIRE(liveness.rule == proofs::Rule::liveness);
  REQUIRE(liveness.counterexample.has_value());
  REQUIRE_FALSE(liveness.counterexample->schedules.empty());
  // One program has gone on to the second rendezvous and taken both tokens, the other still stands
  // at its first release.
  const auto unrolled = std::get<ir::Unrolled>(ir::unroll(program));
  const ir::TokenGame game(program, unrolled);
  const auto played = ir::play(game, liveness.counterexample->schedules.front());
  REQUIRE(played.complete);
  CHECK_FALSE(game.all_finished(played.state));
  bool stolen = false;
  for (std::uint32_t p = 0; p < 2; ++p) {
    const auto test = game.blocked(played.state, ir::ProgramId(p));
    stolen |= test && test->counter == game.counters().of(ir::SemaphoreId(releases[0]));
  }
  CHECK(stolen);
}

}  // namespace
}  // namespace spatialcert::tests
