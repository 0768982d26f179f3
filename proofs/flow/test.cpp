#include <doctest/doctest.h>

#include "proofs/flow/rule.hpp"
#include "tests/proofs/fixture.hpp"
#include "tests/proofs/samples.hpp"

namespace spatialcert::proofs::flow {
namespace {

using tests::Draft;
using tests::Fixture;
using tests::outcome;
using tests::rejected;
using Reason = Rejected::Reason;

std::string checked(const Fixture& f) { return outcome(check(f.subject, Witness{})); }

Found found(Fixture& f) {
  const auto ordering = ordering::prove(f.subject, f.position, f.session);
  return prove(f.subject, f.position, ordering.ordered, f.session);
}

/// Refuted as `kind` by a counterexample that replays, and rejected by the check for `reason`.
void refutes(const Draft& draft, const std::string& kind, Reason reason) {
  CAPTURE(draft.name());
  Fixture f(draft);
  const Found answer = found(f);
  REQUIRE(outcome(answer.search) == "refuted: " + kind);
  CHECK(tests::replayed(f.program, tests::counterexample(answer.search)) == "reproduced");
  CHECK(checked(f) == rejected(reason));
}

TEST_CASE("flow: what reads its producers is proved and accepted") {
  for (const Draft& draft : tests::all_samples()) {
    CAPTURE(draft.name());
    Fixture f(draft);
    CHECK(outcome(found(f).search) == "proved");
    CHECK(checked(f) == "accepted");
  }
}

TEST_CASE("flow: what cannot be put in order is no witness of anything") {
  Draft cycle("cycle"), faulty("faulty"), far("far");
  cycle.semaphore("s").semaphore("t");
  cycle.engine("load", {"wait s", "post t"}).engine("store", {"wait t", "post s"});
  faulty.tensor("x", "external", 8).engine("load", {"repeat 3", "run load x[4i:4i+4]", "end"});
  far.fifo("q", 2, R"("page_bytes": 2305843009213693952, "address": 0)");
  far.engine("load", {"repeat 8", "reserve q", "run load > q", "push q", "end"});
  far.engine("store", {"repeat 8", "front q", "pop q", "end"});
  for (const Draft& draft : {cycle, faulty, far}) {
    CAPTURE(draft.name());
    Fixture f(draft);
    CHECK(checked(f) == rejected(Reason::missing_obligation));
  }
}

TEST_CASE("flow: nothing is accepted while a test is inexact") {
  Draft d("competing");
  d.tensor("x", "external").semaphore("s").engine("load", {"run load x", "post s", "post s"});
  d.engine("compute", {"wait s"}).engine("store", {"wait s"});
  Fixture f(d);
  CHECK(checked(f) == rejected(Reason::inexact_test));
  CHECK(outcome(found(f).search).starts_with("unknown: "));
}

TEST_CASE("flow: contents that nothing wrote") {
  Draft never("never"), part("part"), page("page"), late("late");
  never.tensor("y").buffer("b").engine("store", {"run store b > y"});
  part.tensor("x", "external").tensor("y").buffer("b");
  part.engine("load", {"run load x > b[0:60]", "run store b > y"});
  page.tensor("y").fifo("q", 1).engine("load", {"reserve q", "push q"});
  page.engine("store", {"front q", "run store q > y", "pop q"});
  late.tensor("x", "external").tensor("y").buffer("b").semaphore("s");
  late.engine("load", {"wait s", "run load x > b"}).engine("store", {"run store b > y", "post s"});
  for (const Draft& draft : {never, part, page, late})
    refutes(draft, "undefined-read", Reason::undefined_read);
}

TEST_CASE("flow: a page that was reserved again holds nothing") {
  Draft d("reused slot");
  d.tensor("x", "external").tensor("y").fifo("q", 1);
  d.engine("load", {"reserve q", "run load x > q", "push q", "reserve q", "push q"});
  d.engine("store", {"front q", "run store q > y", "pop q", "front q", "run store q > y", "pop q"});
  refutes(d, "undefined-read", Reason::undefined_read);
}

TEST_CASE("flow: declared contents count, and initial contents are nobody's product") {
  Draft d("initial");
  d.tensor("y").buffer("b", R"("init": "zero")").engine("store", {"run store b > y"});
  Fixture f(d);
  CHECK(outcome(found(f).search) == "proved");
  CHECK(checked(f) == "accepted");
  d.stage("load", "copy").edge("load", "b", "store");
  refutes(d, "wrong-producer", Reason::wrong_producer);
}

TEST_CASE("flow: contents of another buffer in the same bytes are nobody else's") {
  Draft d("shared bytes");
  d.tensor("y").buffer("a", R"("address": 0, "init": "zero")").buffer("b", R"("address": 0)");
  refutes(d.engine("store", {"run store b > y"}), "undefined-read", Reason::undefined_read);
  // Those of a base are its views', and the reverse.
  for (const bool base : {false, true}) {
    Draft view("view");
    view.tensor("y").buffer("b", base ? R"("init": "zero")" : "");
    view.buffer("v", base ? R"("view": {"of": "b"})" : R"("view": {"of": "b"}, "init": "zero")");
    view.engine("store", {"run store b > y", "run store v > y"});
    Fixture f(view);
    CHECK(outcome(found(f).search) == "proved");
    CHECK(checked(f) == "accepted");
  }
}

TEST_CASE("flow: the first iteration of a persistent program may read initial contents") {
  Draft d("carried");
  d.persistent()
      .tensor("x", "external")
      .tensor("y")
      .buffer("b", R"("init": "zero", "lifetime": "resident")")
      .edge("load", "b", "store");
  d.engine("load", {"run store b > y", "run load x > b"});
  Fixture f(d);
  CHECK(outcome(found(f).search) == "proved");
  CHECK(checked(f) == "accepted");
}

TEST_CASE("flow: a buffer of a section is undefined when the section starts again") {
  Draft d("kept across the wrap-around");
  d.persistent().tensor("x", "external").tensor("y").buffer("b", R"("init": "zero")");
  d.engine("load", {"run store b > y", "run load x > b"});
  refutes(d, "undefined-read", Reason::undefined_read);
}

TEST_CASE("flow: a read that sees another stage's value") {
  Draft other("other stage");
  other.tensor("x", "external").tensor("y").buffer("b").edge("load", "b", "store");
  other.engine("load", {"run load x > b", "run bias x > b", "run store b > y"});
  refutes(other, "wrong-producer", Reason::wrong_producer);
  // The load waits for its consumer: ordered, deterministic and wrong.
  Draft waits("waits for its consumer");
  waits.tensor("x", "external").tensor("y").buffer("b").semaphore("cleared").semaphore("used");
  waits.edge("load", "b", "store");
  waits.engine("load", {"run clear x > b", "post cleared", "wait used", "run load x > b"});
  waits.engine("store", {"wait cleared", "run store b > y", "post used"});
  refutes(waits, "wrong-producer", Reason::wrong_producer);
}

TEST_CASE("flow: initial contents of a section's buffer are gone when the section starts again") {
  Draft d("never written");
  d.persistent().tensor("y").buffer("b", R"("init": "zero")");
  refutes(d.engine("store", {"run store b > y"}), "undefined-read", Reason::undefined_read);
  const Fixture f(d);
  const auto bad = sources(f.subject, f.position).bad;
  REQUIRE(bad);
  CHECK(f.subject.accesses.accesses[bad->read].transition == f.at(0, 0, 1));
}

TEST_CASE("flow: initial contents are nobody's product after the first iteration") {
  Draft d("never written");
  d.persistent().tensor("y").buffer("b", R"("init": "zero", "lifetime": "resident")");
  d.stage("load", "copy").edge("load", "b", "store").engine("store", {"run store b > y"});
  refutes(d, "wrong-producer", Reason::wrong_producer);
}

TEST_CASE("flow: edges speak of one buffer or FIFO and one consumer") {
  Draft page("page of another stage"), other("edge of another consumer"), free("without an edge");
  page.tensor("x", "external").tensor("y").fifo("q", 1).stage("load", "copy");
  page.edge("load", "q", "store").engine("load", {"reserve q", "run bias x > q", "push q"});
  page.engine("store", {"front q", "run store q > y", "pop q"});
  refutes(page, "wrong-producer", Reason::wrong_producer);
  for (Draft* d : {&other, &free}) d->tensor("x", "external").tensor("y").buffer("b");
  other.stage("load", "copy").stage("last", "copy");
  other.edge("load", "b", "store").edge("bias", "b", "last");
  other.engine("load", {"run bias x > b", "run store b > y"});
  refutes(other, "wrong-producer", Reason::wrong_producer);
  free.edge("load", "b", "store").stage("store", "copy");
  free.engine("load", {"run load x > b", "run bias x > b", "run last b > y"});
  Fixture f(free);
  CHECK(checked(f) == "accepted");
}

TEST_CASE("flow: one of several declared producers is enough") {
  for (const char* producer : {"load", "bias"}) {
    Draft d("two producers");
    d.tensor("x", "external").tensor("y").buffer("b").stage("load", "copy").stage("bias", "copy");
    d.edge("load", "b", "store").edge("bias", "b", "store");
    Fixture f(d.engine("load", {"run " + std::string(producer) + " x > b", "run store b > y"}));
    CHECK(checked(f) == "accepted");
  }
}

TEST_CASE("flow: what another section wrote needs no declared producer") {
  Draft d("two sections");
  d.tensor("x", "external").tensor("y").buffer("b").edge("load", "b", "store");
  d.stage("load", "copy", R"("section": "second")")
      .stage("store", "copy", R"("section": "second")");
  d.stage("bias", "copy", R"("section": "first")");
  d.engine("load", {"run bias x > b", "run store b > y"});
  d.member("sections",
           R"([{"name": "first", "ops": [{"site": [0, 0, 0], "engine": "load", "range": [0, 1]}]},
               {"name": "second", "ops": [{"site": [0, 0, 0], "engine": "load", "range": [1, 2]}]}])");
  Fixture f(d);
  // What a section leaves in its own buffer is gone when the next one starts.
  CHECK(checked(f) == rejected(Reason::undefined_read));
  f.program.buffers[0].lifetime = ir::Lifetime::resident;
  CHECK(checked(f) == "accepted");
  f.program.buffers[0].resident_from = f.program.buffers[0].resident_to = ir::SectionId(1U);
  CHECK(checked(f) == rejected(Reason::undefined_read));
  f.program.buffers[0].resident_from = ir::SectionId(0U);
  CHECK(checked(f) == "accepted");
  f.program.buffers[0].resident_to = ir::SectionId(0U);
  CHECK(checked(f) == rejected(Reason::undefined_read));
  f.program.buffers[0].lifetime = ir::Lifetime::section;
  for (ir::Stage& stage : f.program.stages) stage.section = ir::SectionId(0U);
  CHECK(checked(f) == rejected(Reason::wrong_producer));
}

TEST_CASE("flow: the first bad read is the one reported, and own writes need no query") {
  Draft d("two bad reads");
  d.tensor("y").buffer("b").engine("store", {"run store b > y", "run store b > y"});
  Fixture f(d);
  const Sources bad = sources(f.subject, f.position);
  REQUIRE(bad.bad);
  CHECK(f.subject.accesses.accesses[bad.bad->read].transition == f.at(0, 0));
  Draft own("own write");
  own.tensor("x", "external").buffer("b").engine("load", {"run load x > b", "run store b"});
  Fixture g(own);
  CHECK(sources(g.subject, g.position).needed.empty());
  Fixture handed(tests::semaphore_handoff());
  CHECK(sources(handed.subject, handed.position).needed.size() == 2);
}

TEST_CASE("flow: reads without a declared producer are counted") {
  Fixture f(tests::double_buffer());
  CHECK(found(f).undeclared == 8);
}

}  // namespace
}  // namespace spatialcert::proofs::flow
