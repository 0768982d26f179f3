// Every check against the token game, on all programs of a few small families. The witnesses are
// found by plain search, so nothing here depends on the prover; what a check says is compared with
// what the oracle finds by playing every schedule.
#include <doctest/doctest.h>

#include "proofs/bounds/rule.hpp"
#include "proofs/coverage/rule.hpp"
#include "proofs/flow/rule.hpp"
#include "proofs/quiescence/rule.hpp"
#include "proofs/reduction/rule.hpp"
#include "tests/oracle/findings.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/small_programs.hpp"

namespace spatialcert::tests {
namespace {

bool accepted(const proofs::Check& check) { return outcome(check) == "accepted"; }

struct Tally {
  std::size_t programs = 0, exact = 0, right = 0, ordered = 0, live = 0;
};

/// What holds whatever else is wrong with the program, and what needs the rules before it.
void compare(const Fixture& f, const Findings& o, Tally& tally) {
  const proofs::Subject& s = f.subject;
  const auto live = potential(s);
  const bool is_live = live.has_value() && accepted(proofs::liveness::check(
                                               s, live.value_or(proofs::liveness::Witness{})));
  const bool bounded = accepted(proofs::bounds::check(s, {}));
  const bool quiet = accepted(proofs::quiescence::check(s, {}));
  CHECK(is_live == (s.net.exact() && !o.stuck));
  tally.live += is_live ? 1 : 0;
  if (!s.net.exact()) {
    CHECK(!bounded);
    CHECK(!quiet);
    return;
  }
  ++tally.exact;
  if (o.stuck) return;
  CHECK(bounded == (!o.overflow && !o.misuse));
  CHECK(accepted(proofs::memory::check(s, by_address(f.program))) == !o.layout);
  if (!bounded) return;
  CHECK(quiet == !(o.leftover || o.unbalanced));
  const bool ordered = accepted(proofs::ordering::check(s, paths(s, f.position)));
  CHECK(ordered == o.races.empty());
  if (!ordered) return;
  ++tally.ordered;
  const bool flows = accepted(proofs::flow::check(s, {}));
  CHECK(flows == (o.undefined_reads.empty() && o.wrong_producers.empty()));
  if (s.persistent()) return;
  const bool reduces = accepted(proofs::reduction::check(s, {}));
  CHECK(reduces == (o.wrong_results.empty() && !o.unknown_result));
  tally.right += reduces && flows && quiet ? 1 : 0;
}

Tally compare_all(const std::vector<Draft>& drafts) {
  Tally tally;
  for (const Draft& draft : drafts) {
    const ir::Program program = draft.program();
    const Findings o = examine(program);
    REQUIRE(o.complete);
    ++tally.programs;
    Tally one;
    const Fixture f(program);
    INFO(draft.json());
    INFO(o.text());
    compare(f, o, one);
    tally.exact += one.exact;
    tally.right += one.right;
    tally.ordered += one.ordered;
    tally.live += one.live;
  }
  MESSAGE(tally.programs << " programs, " << tally.exact << " exact, " << tally.live << " live, "
                         << tally.ordered << " ordered, " << tally.right << " right");
  CHECK(tally.live > 0);
  return tally;
}

TEST_CASE("exhaustive: every way to hand a buffer over and back") { compare_all(hand_offs()); }
TEST_CASE("exhaustive: every way to fill and empty a FIFO") { compare_all(fifo_uses()); }
TEST_CASE("exhaustive: every way to write and read a buffer in halves") {
  compare_all(partial_accesses());
}
TEST_CASE("exhaustive: every short computation of a sum") { compare_all(sums()); }

}  // namespace
}  // namespace spatialcert::tests
