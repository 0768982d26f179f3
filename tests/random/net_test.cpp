// The net against all interleavings (DESIGN 13.1): its places are orders that always hold, exact
// tests keep the program in the class, and a starved test never holds.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "ir/search/justify.hpp"
#include "tests/counts.hpp"
#include "tests/oracle/findings.hpp"
#include "tests/oracle/generator.hpp"

namespace spatialcert::tests {
namespace {

/// Iterations in which a test that the net calls starved must fail at least once.
constexpr std::uint32_t kStarvedWraps = 5;

/// SPATIALCERT_LONG: 50,000 programs, or as many as it says beyond that.
std::uint64_t samples() {
  const char* const wanted = std::getenv("SPATIALCERT_LONG");
  return wanted == nullptr ? 2'000
                           : std::max<std::uint64_t>(50'000, std::strtoull(wanted, nullptr, 10));
}

bool persistent(const ir::Program& program) {
  return program.execution == ir::Execution::persistent;
}

ir::Unrolled unrolled_times(const ir::Program& program, std::uint32_t iterations) {
  return std::get<ir::Unrolled>(ir::unroll(program, persistent(program) ? iterations : 1));
}

std::string op_name(const ir::Program& program, const ir::Unrolled& unrolled, ir::TransitionId t) {
  const ir::Op& op = unrolled.op_of(program, t);
  const auto at = instance(unrolled, t.value(), 0);
  return fmt::format("program {} step {} ({})", at.program, at.step, to_string(op.code));
}

/// What is wrong with the net of `program`; empty if nothing, or if there are too many states.
struct NetCheck {
  std::string wrong;
  bool complete = false;
  bool in_class = false;
  bool live = false;
  bool exact = false;
  std::uint64_t states = 0;
  std::uint64_t places = 0;
  std::uint64_t by_order = 0;
  std::string issue;  ///< kind of the first one
};

void check_places(const ir::Program& program, const ir::Net& net, const ir::Unrolled& one,
                  const ir::Unrolled& many, const Exploration& explored, bool declared,
                  NetCheck& out) {
  for (const ir::Place& place : ir::expand_places(net, one, many)) {
    if (place.credit && !declared) continue;
    if (!explored.separates(place.to.value(), place.from.value())) continue;
    out.wrong =
        fmt::format("place {} -> {} does not hold{}", op_name(program, many, place.from),
                    op_name(program, many, place.to), declared ? "" : " at a greater depth");
  }
}

void check_starved(const ir::Program& program, const ir::Net& net, const ir::Unrolled& one,
                   NetCheck& out) {
  const auto many = unrolled_times(program, kStarvedWraps);
  const Exploration explored(ir::TokenGame(program, many), 300'000);
  if (!explored.complete) return;
  for (const ir::TestIssue& issue : net.issues) {
    if (issue.kind != ir::TestIssue::Kind::starved || !issue.transition.valid()) continue;
    const std::uint32_t p = one.program[issue.transition.value()];
    const std::uint32_t step = issue.transition.value() - one.begin[p];
    bool always = true;
    for (std::uint32_t i = 0; i < many.iterations; ++i) {
      always &= explored.ever_enabled(many.begin[p] + i * one.length(ir::ProgramId(p)) + step);
    }
    if (always) out.wrong = op_name(program, one, issue.transition) + " is not starved";
  }
}

NetCheck check_net(const ir::Program& program) {
  NetCheck out;
  const auto one = unrolled_times(program, 1);
  const auto many = unrolled_times(program, kWraps);
  const ir::Net net = ir::build_net(program, one);
  out.exact = net.exact();
  out.places = net.places.size();
  out.by_order = net.by_order;
  out.in_class = out.live = true;
  for (const auto& game : games_to_explore(program, many)) {
    const bool declared = out.states == 0;
    const Exploration explored(game, 200'000);
    out.states += explored.states.size();
    if (!explored.complete) return out;
    check_places(program, net, one, many, explored, declared, out);
    out.in_class &= explored.inexact_tests().empty();
    out.live &= explored.stuck.empty() && explored.overflows.empty() && explored.misuses.empty();
  }
  out.complete = true;
  if (!net.issues.empty()) {
    constexpr const char* kKinds[] = {"starved", "inexact", "unbalanced", "later iteration",
                                      "limit"};
    out.issue = kKinds[static_cast<std::size_t>(net.issues.front().kind)];
    check_starved(program, net, one, out);
  }
  if (out.exact && !out.in_class) out.wrong = "exact, but not in the class";
  return out;
}

/// Checks the net of many programs; shows the first few that are wrong, made small.
void check_nets(Sample (*make)(std::uint64_t), std::uint64_t programs) {
  std::uint64_t states = 0;
  std::uint64_t places = 0;
  std::uint64_t by_order = 0;
  std::map<std::string, std::uint64_t> counts;
  int failures = 0;
  const bool show = std::getenv("SPATIALCERT_SHOW") != nullptr;
  for (std::uint64_t seed = 1; seed <= programs && failures < 3; ++seed) {
    const Sample sample = make(seed);
    const NetCheck check = check_net(sample.program);
    states += check.states;
    places += check.places;
    by_order += check.by_order;
    ++counts[!check.complete ? "too large" : check.exact ? "exact" : "not exact: " + check.issue];
    // A persistent program that gains or loses in every wrap can be live for a few wraps.
    const auto missed = [](const NetCheck& c) {
      return c.complete && c.in_class && c.live && !c.exact && c.issue != "unbalanced";
    };
    if (missed(check)) {
      ++counts["in class and live, yet not exact: " + check.issue];
      if (show) {
        const auto small =
            shrink(sample.sketch, [&](const ir::Program& p) { return missed(check_net(p)); });
        MESSAGE("in class, not exact: seed " << seed << "\n" << listing(assemble(small)));
      }
    }
    if (check.wrong.empty()) continue;
    ++failures;
    const auto small = assemble(
        shrink(sample.sketch, [](const ir::Program& p) { return !check_net(p).wrong.empty(); }));
    FAIL_CHECK("seed " << seed << ": " << check.wrong << "\n"
                       << listing(small) << check_net(small).wrong);
  }
  std::string text = fmt::format("{} states, {} places, {} by order", states, places, by_order);
  for (const auto& [what, count] : counts) text += fmt::format(", {} {}", count, what);
  MESSAGE(text);
  count("nets compared with all interleavings", programs);
  count("states explored", states);
}

TEST_CASE("net: places, exactness and starvation hold in all interleavings") {
  check_nets(generate, samples());
}

TEST_CASE("net: the same for tangled programs") { check_nets(generate_wild, 5 * samples()); }

}  // namespace
}  // namespace spatialcert::tests
