#include <doctest/doctest.h>

#include "proofs/bounds/blocks.hpp"
#include "proofs/bounds/rule.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/samples.hpp"
#include "tests/proofs/small_programs.hpp"

namespace spatialcert::proofs::bounds {
namespace {

using tests::Draft;
using tests::Fixture;
using tests::Ops;
using tests::outcome;
using tests::rejected;
using Reason = Rejected::Reason;

std::string checked(const Fixture& f) { return outcome(check(f.subject, Witness{})); }
std::string proved(Fixture& f) { return outcome(prove(f.subject, f.position, f.session)); }

/// Refuted as `kind` by a counterexample that replays.
void refutes(const Draft& draft, const std::string& kind) {
  CAPTURE(draft.name());
  Fixture f(draft);
  const auto search = prove(f.subject, f.position, f.session);
  REQUIRE(outcome(search) == "refuted: " + kind);
  CHECK(tests::replayed(f.program, tests::counterexample(search)) == "reproduced");
}

TEST_CASE("bounds: what stays in its bounds is proved and accepted") {
  for (const Draft& draft : tests::all_samples()) {
    CAPTURE(draft.name());
    Fixture f(draft);
    CHECK(proved(f) == "proved");
    CHECK(checked(f) == "accepted");
  }
}

TEST_CASE("bounds: nothing is accepted while a test is inexact") {
  Draft d("competing");
  d.semaphore("s").engine("load", {"post s", "post s"});
  d.engine("compute", {"wait s"}).engine("store", {"wait s"});
  Fixture f(d);
  CHECK(checked(f) == rejected(Reason::inexact_test));
  CHECK(proved(f).starts_with("unknown: "));
}

TEST_CASE("bounds: accesses beyond the limit of the analysis leave the obligation open") {
  Draft d("far pages");
  d.fifo("q", 2, R"("page_bytes": 2305843009213693952, "address": 0)");
  d.engine("load", {"repeat 8", "reserve q", "run load > q", "push q", "end"});
  d.engine("store", {"repeat 8", "front q", "pop q", "end"});
  Fixture f(d);
  REQUIRE(f.subject.accesses.limit);
  CHECK(checked(f) == rejected(Reason::missing_obligation));
  CHECK(proved(f).starts_with("unknown: "));
}

TEST_CASE("bounds: a region that leaves its object") {
  Draft d("past the end");
  d.tensor("x", "external", 8).buffer("b");
  d.engine("load", {"repeat 3", "run load x[4i:4i+4] > b", "end"});
  Fixture f(d);
  CHECK(checked(f) == rejected(Reason::misuse));
  refutes(d, "misuse");
}

TEST_CASE("bounds: ops outside their window") {
  const auto pipeline = [](std::vector<std::string> load, std::vector<std::string> store) {
    Draft d("windows");
    d.tensor("x", "external")
        .fifo("q", 2)
        .engine("load", std::move(load))
        .engine("store", std::move(store));
    return d;
  };
  const std::vector<std::string> load{"reserve q", "run load x > q", "push q"},
      store{"front q", "pop q"};
  for (const Draft& draft :
       {pipeline({"push q"}, store), pipeline({"run load x > q", "reserve q", "push q"}, store),
        pipeline({"reserve q", "run load x > q@1", "push q"}, store),
        pipeline({"reserve q", "push q", "push q"}, store),
        pipeline(load, {"front q", "pop q", "run store q"}),
        pipeline({"reserve q 2", "push q 2"}, {"front q", "pop q 2"})}) {
    Fixture f(draft);
    CHECK(checked(f) == rejected(Reason::misuse));
    refutes(draft, "misuse");
  }
}

TEST_CASE("bounds: windows slide") {
  Draft d("sliding");
  d.tensor("x", "external", 8).fifo("q", 3);
  d.engine("load", {"reserve q 2", "run load x[0:4] > q", "push q", "run load x[4:8] > q", "push q",
                    "reserve q", "run load x[0:4] > q", "push q"});
  d.engine("store",
           {"front q 2", "run store q@1", "pop q", "front q 2", "run store q@1", "pop q 2"});
  Fixture f(d);
  CHECK(proved(f) == "proved");
  CHECK(checked(f) == "accepted");
}

TEST_CASE("bounds: the misuse that is found is the one that happens") {
  for (const Ops& ops : tests::sequences(
           {"reserve q 2", "push q", "run load x > q@1", "front q", "run store q > y", "pop q"},
           3)) {
    if (ops.empty()) continue;
    Draft d("alone");
    d.tensor("x", "external").tensor("y").fifo("q", 2).engine("load", ops);
    CAPTURE(d.json());
    const Fixture f(d);
    const ir::TokenGame game(f.program, f.subject.stretch);
    const auto fault = ir::play_freely(game).result.fault;
    const auto misuse = window_misuse(f.subject);
    if (!fault) continue;
    REQUIRE(misuse);
    CHECK(misuse->transition == fault->transition);
    CHECK(misuse->counter == fault->counter);
    CHECK(misuse->asked == fault->value);
    CHECK(misuse->open == fault->limit);
  }
}

Draft posts(int maximum, std::vector<std::string> waits) {
  Draft d("posts");
  d.semaphore("s", 0, maximum).semaphore("t", 0, 1);
  d.engine("load", {"post s 2", "wait t", "post s 2"}).engine("store", std::move(waits));
  return d;
}

TEST_CASE("bounds: a maximum that order alone keeps") {
  Fixture f(posts(2, {"wait s 2", "post t", "wait s 2"}));
  CHECK(proved(f) == "proved");
  CHECK(f.session.queries == 2);  // one about s, and one about t, whose single post always fits
  CHECK(checked(f) == "accepted");
}

TEST_CASE("bounds: a post that passes the maximum in some schedule") {
  const Draft d = posts(3, {"post t", "wait s 2", "wait s 2"});
  Fixture f(d);
  CHECK(checked(f) == rejected(Reason::out_of_range));
  refutes(d, "overflow");
}

TEST_CASE("bounds: a persistent program that gains in every iteration") {
  Draft d("gains");
  d.persistent().semaphore("s", 0, 31).engine("load", {"post s"});
  Fixture f(d);
  CHECK(checked(f) == rejected(Reason::inexact_test));
  refutes(d, "overflow");
}

TEST_CASE("bounds: a poster that nothing holds back has no bound") {
  Draft d("runs ahead");
  d.persistent().semaphore("s", 0, 31).engine("load", {"post s"}).engine("store", {"wait s"});
  Fixture f(d);
  REQUIRE(f.subject.net.exact());
  CHECK(checked(f) == rejected(Reason::out_of_range));
  refutes(d, "overflow");
}

TEST_CASE("bounds: every semaphore is looked at") {
  for (const char* high : {"s", "t", "u"}) {
    Draft d("three");
    for (const char* name : {"s", "t", "u"}) d.semaphore(name, 0, 1);
    const std::string post = std::string("post ") + high;
    Fixture f(
        d.engine("load", {"post s", "wait s", "post t", "wait t", "post u", "wait u", post, post}));
    CHECK(checked(f) == rejected(Reason::out_of_range));
  }
}

/// What blocks of so many ops say of semaphore `name`.
bool fits(Fixture& f, const std::string& name, std::size_t ops_of_block) {
  std::vector<std::uint32_t> events;
  std::uint32_t number = 0;
  while (f.program.semaphores[number].name != name) ++number;
  for (std::uint32_t t = 0; t < f.subject.stretch.transitions(); ++t) {
    const ir::Op& op = f.subject.stretch.op_of(f.program, ir::TransitionId(t));
    const bool counts = op.code == ir::OpCode::post || op.code == ir::OpCode::wait;
    if (counts && op.object == number) events.push_back(t);
  }
  const ir::Semaphore& s = f.program.semaphores[number];
  return events.empty() || fits_in_blocks(f.subject, f.position, s.initial, s.maximum, events,
                                          f.session, ops_of_block);
}

TEST_CASE("bounds: what blocks of any size show holds in the whole program") {
  std::uint64_t fitting = 0, passing = 0, missed = 0;
  for (const int initial : {0, 1}) {
    for (const Ops& load : tests::sequences({"post s", "wait t"}, 4)) {
      for (const Ops& store : tests::sequences({"wait s", "post t", "post s"}, 4)) {
        if (load.empty() || store.empty()) continue;
        Draft d("two engines");
        d.semaphore("s", initial, 2).semaphore("t", 0, 15);
        d.engine("load", load).engine("store", store);
        Fixture f(d);
        if (!f.subject.net.exact() || f.position.empty()) continue;
        const bool proof = proved(f) == "proved";
        ++(proof ? fitting : passing);
        for (const std::size_t ops_of_block : {1, 2, 3, 32}) {
          CAPTURE(d.json());
          const bool shown = fits(f, "s", ops_of_block);
          if (shown) CHECK(proof);
          missed += !shown && proof ? 1 : 0;
        }
      }
    }
  }
  CHECK(fitting > 100);
  CHECK(passing > 100);
  // Orders that ops beyond the last post or wait make are not looked at.
  CHECK(missed < fitting / 20);
}

/// Three workers in a chain, `turns` turns each. `hasty`: in this turn the first does not wait for
/// the second to have taken what it left.
Draft chain(int turns, int hasty) {
  Draft d("chain");
  d.semaphore("full1", 0, 1).semaphore("full2", 0, 1);
  d.semaphore("empty1", 1, 2).semaphore("empty2", 1, 1);
  Ops first, second, third;
  for (int turn = 0; turn < turns; ++turn) {
    if (turn != hasty) first.emplace_back("wait empty1");
    first.emplace_back("post full1");
    for (const char* op : {"wait full1", "wait empty2", "post full2", "post empty1"})
      second.emplace_back(op);
    for (const char* op : {"wait full2", "post empty2"}) third.emplace_back(op);
  }
  d.engine("load", first).engine("compute", second).engine("store", third);
  return d;
}

TEST_CASE("bounds: what repeats itself is asked once") {
  Fixture f(chain(700, -1));
  CHECK(proved(f) == "proved");
  CHECK(f.session.queries < 20);
  CHECK(checked(f) == "accepted");
}

TEST_CASE("bounds: more neighbours that do the same are not asked about again") {
  const Ops engines{"load", "compute", "store", "move"};
  std::vector<std::uint64_t> queries;
  for (const std::size_t workers : {std::size_t{3}, std::size_t{4}}) {
    Draft d("equal neighbours");
    for (std::size_t w = 0; w < workers; ++w) {
      const auto name = [&](const char* what, std::size_t of) { return what + std::to_string(of); };
      const bool takes = w > 0, leaves = w + 1 < workers;
      if (takes) d.semaphore(name("full", w), 0, 1).semaphore(name("empty", w), 1, 1);
      Ops ops{"repeat 300"};
      if (takes) ops.push_back(name("wait full", w));
      if (leaves) ops.push_back(name("wait empty", w + 1));
      if (leaves) ops.push_back(name("post full", w + 1));
      if (takes) ops.push_back(name("post empty", w));
      ops.emplace_back("end");
      d.engine(engines[w], ops);
    }
    Fixture f(d);
    CHECK(proved(f) == "proved");
    CHECK(checked(f) == "accepted");
    queries.push_back(f.session.queries);
  }
  CHECK(queries[0] == queries[1]);
}

TEST_CASE("bounds: one post too early in a long chain") {
  const Draft d = chain(400, 300);
  Fixture f(d);
  CHECK(checked(f) == rejected(Reason::out_of_range));
  refutes(d, "overflow");
}

TEST_CASE("bounds: a persistent maximum") {
  for (const int maximum : {2, 1}) {
    CAPTURE(maximum);
    Draft d("credits");
    d.persistent().semaphore("full", 0, maximum).semaphore("free", 2, 2);
    d.engine("load", {"wait free", "post full"}).engine("store", {"wait full", "post free"});
    Fixture f(d);
    CHECK(proved(f) == (maximum == 2 ? "proved" : "refuted: overflow"));
    CHECK(checked(f) == (maximum == 2 ? "accepted" : rejected(Reason::out_of_range)));
  }
}

}  // namespace
}  // namespace spatialcert::proofs::bounds
